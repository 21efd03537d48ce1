// A small Jinja: parser and evaluator of the subset chat templates use. Source: the Jinja 3
// documentation; transformers' chat_template_utils.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace triescope::tokenizer::jinja {

struct Value;
using List = std::vector<Value>;
// Insertion order is kept, as Python's dict does.
using Dict = std::vector<std::pair<std::string, Value>>;
struct Arguments;
using Function = std::function<Value(const Arguments&)>;

struct Undefined {};
struct None {};
// What namespace() makes: the one thing a template can change. It never holds another, so that no
// value reaches itself.
struct Namespace;

// How a list came to be: Python prints tuples otherwise, and views (ranges, iterators) not at all.
enum class Shape : std::uint8_t { kList, kTuple, kView };

struct Value {
  std::variant<Undefined, None, bool, std::int64_t, double, std::string, std::shared_ptr<List>,
               std::shared_ptr<Dict>, std::shared_ptr<Function>, std::shared_ptr<Namespace>>
      data;
  Shape shape = Shape::kList;
  bool changeable = false;   // is or holds a namespace or a function
  std::uint16_t depth = 0;   // nesting
  std::uint32_t weight = 1;  // how long walking it takes: what is shared counts each time

  Value() = default;
  Value(None) : data(None{}) {}
  Value(bool b) : data(b) {}
  Value(std::int64_t i) : data(i) {}
  Value(double d) : data(d) {}
  Value(std::string s) : data(std::move(s)) {}
  Value(const char* s) : data(std::string(s)) {}
  Value(List list, Shape how = Shape::kList);
  Value(Dict dict);
  Value(Function function)
      : data(std::make_shared<Function>(std::move(function))), changeable(true), depth(1) {}
  Value(std::shared_ptr<Namespace> space) : data(std::move(space)), changeable(true), depth(1) {}

  template <class T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
  const List* list() const { return pointee<List>(); }
  const Dict* dict() const { return pointee<Dict>(); }
  const Function* function() const { return pointee<Function>(); }
  Namespace* name_space() const {
    const auto* held = get<std::shared_ptr<Namespace>>();
    return held ? held->get() : nullptr;
  }
  bool is_undefined() const { return std::holds_alternative<Undefined>(data); }
  bool is_none() const { return std::holds_alternative<None>(data); }

 private:
  void contains(const Value& inner);
  template <class T>
  const T* pointee() const {
    const auto* held = get<std::shared_ptr<T>>();
    return held ? held->get() : nullptr;
  }
};

struct Namespace {
  Dict values;
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
  // The i-th positional one, else the named one, else undefined.
  Value get(std::size_t index, const std::string& name) const;
};

struct Node;
struct Template {
  std::shared_ptr<const Node> root;
};

struct Limits {
  std::int64_t steps = 5'000'000;
  std::size_t output_bytes = 16u << 20;
  int macro_depth = 100;
  int depth = 1000;       // of the walk over the syntax tree
  int value_depth = 100;  // lists in lists
  std::uint32_t value_weight = 1'000'000;
  std::int64_t range = 100'000;  // as Jinja's sandbox
};

// Errors: kNotSupported ("line 12: …").
Template parse(const std::string& text);
// Errors: kNotSupported, kInvalidArgument (raise_exception).
std::string render(const Template& parsed, const Dict& globals, const Limits& limits = {});

}  // namespace triescope::tokenizer::jinja

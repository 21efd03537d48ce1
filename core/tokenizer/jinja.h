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

struct Value {
  std::variant<Undefined, None, bool, std::int64_t, double, std::string, std::shared_ptr<List>,
               std::shared_ptr<Dict>, std::shared_ptr<Function>>
      data;

  Value() = default;
  Value(None) : data(None{}) {}
  Value(bool b) : data(b) {}
  Value(std::int64_t i) : data(i) {}
  Value(double d) : data(d) {}
  Value(std::string s) : data(std::move(s)) {}
  Value(const char* s) : data(std::string(s)) {}
  Value(List list) : data(std::make_shared<List>(std::move(list))) {}
  Value(Dict dict) : data(std::make_shared<Dict>(std::move(dict))) {}
  Value(Function function) : data(std::make_shared<Function>(std::move(function))) {}

  template <class T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
  const List* list() const {
    return get<std::shared_ptr<List>>() ? std::get<std::shared_ptr<List>>(data).get() : nullptr;
  }
  Dict* dict() const {
    return get<std::shared_ptr<Dict>>() ? std::get<std::shared_ptr<Dict>>(data).get() : nullptr;
  }
  bool is_undefined() const { return std::holds_alternative<Undefined>(data); }
  bool is_none() const { return std::holds_alternative<None>(data); }
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
  std::size_t output_bytes = 64u << 20;
  int depth = 100;
};

// Errors: kNotSupported ("line 12: …").
Template parse(const std::string& text);
// Errors: kNotSupported, kInvalidArgument (raise_exception).
std::string render(const Template& parsed, const Dict& globals, const Limits& limits = {});

}  // namespace triescope::tokenizer::jinja

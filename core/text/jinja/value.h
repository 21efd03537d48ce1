// A template's value, and what Python does with it: truth, equality, order, text, JSON. Texts are
// held by value; lists and dicts are shared and never change. Source: Python's data model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace triescope::jinja {

struct Value;
using List = std::vector<Value>;
// Keeps the order of insertion, like Python's dict.
using Dict = std::vector<std::pair<std::string, Value>>;
struct Arguments;
using Function = std::function<Value(const Arguments&)>;

struct Undefined {};
struct None {};
// The result of namespace(): the only thing that a template can change. It never holds another
// namespace, so no value can reach itself.
struct Namespace;

// How a list was made: Python prints tuples differently, and never prints views (ranges,
// iterators).
enum class Shape : std::uint8_t { kList, kTuple, kView };

struct Value {
  std::variant<Undefined, None, bool, std::int64_t, double, std::string, std::shared_ptr<List>,
               std::shared_ptr<Dict>, std::shared_ptr<Function>, std::shared_ptr<Namespace>>
      data;
  Shape shape = Shape::kList;
  bool changeable = false;   // it is or contains a namespace or a function
  std::uint16_t depth = 0;   // nesting depth
  std::uint32_t weight = 1;  // how long walking it takes; shared parts count each time

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
  // The i-th positional argument, else the named one, else undefined.
  Value get(std::size_t index, const std::string& name) const;
};

bool truthy(const Value& value);
std::optional<double> number(const Value& value);         // booleans too
std::optional<std::int64_t> integer(const Value& value);  // booleans too
const char* kind_of(const Value& value);                  // for messages: "a string"
bool equal(const Value& a, const Value& b);
// -1, 0 or 1; nullopt if Python cannot order the two.
std::optional<int> order(const Value& a, const Value& b);
std::string float_text(double value);                          // Python's repr
std::string text_of(const Value& value, bool nested = false);  // str(), nested: repr()
const Value* lookup(const Dict& dict, const std::string& key);
void put(Dict& dict, const std::string& key, Value value);
struct JsonStyle {
  std::optional<std::int64_t> indent;
  bool sort_keys = false, ascii = false;
  std::string between = ", ", colon = ": ";
};
// json_text throws this if the text would be longer than `limit`.
struct TooLong {};
// json.dumps; nullopt: the value contains what JSON cannot hold. Throws TooLong.
std::optional<std::string> json_text(const Value& value, const JsonStyle& style, std::size_t limit);
// The cost in steps of making or copying a text of this many bytes.
inline std::size_t text_cost(std::size_t bytes) { return bytes / 64; }
// The cost of copying in steps: texts are held by value, lists and dicts are shared.
std::size_t copy_cost(const Value& value);
std::size_t copy_cost(const List& list);
std::size_t copy_cost(const Dict& dict);

}  // namespace triescope::jinja

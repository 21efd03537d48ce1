// What Python does with values: truth, equality, text, JSON. Internal to jinja_*.cpp.
#pragma once

#include <optional>
#include <string>

#include "core/jinja/jinja.h"

namespace triescope::tokenizer::jinja {

bool truthy(const Value& value);
std::optional<double> number(const Value& value);         // booleans too
std::optional<std::int64_t> integer(const Value& value);  // booleans too
const char* kind_of(const Value& value);                  // for messages: "a string"
bool equal(const Value& a, const Value& b);
// -1, 0, 1; nothing where Python cannot order the two.
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
// Thrown away by json_text where the text would be longer than `limit`.
struct TooLong {};
// json.dumps; nothing: the value holds what JSON cannot. Throws TooLong.
std::optional<std::string> json_text(const Value& value, const JsonStyle& style, std::size_t limit);
// What a text of so many bytes costs in steps to make or to copy.
inline std::size_t text_cost(std::size_t bytes) { return bytes / 64; }
// What copying costs in steps: texts are held by value, lists and dicts are shared.
std::size_t copy_cost(const Value& value);
std::size_t copy_cost(const List& list);
std::size_t copy_cost(const Dict& dict);

}  // namespace triescope::tokenizer::jinja

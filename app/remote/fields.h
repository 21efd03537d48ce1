// How values become the fields of a message and come back. Each type lists its fields once, in
// visit_fields() (field_lists.h); FieldWriter and FieldReader walk the same list. A field that is
// missing leaves the member as it is, so that either end may know more than the other. Reading
// trusts nothing: Error{kCorruption} names the field, what was expected and what was found.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace triescope::app {

// The last value of each enumeration that travels; the first is 0.
template <class Code>
inline constexpr Code kLastCode{};

class FieldWriter;
class FieldReader;

template <class Value>
concept HasFields = requires(Value& value, FieldWriter& visit) {
  visit_fields(visit, value);
};

[[noreturn]] void refuse_field(const std::string& name, const std::string& expected);

template <class Value>
void write_value(nlohmann::json& to, Value& value);
template <class Value>
void read_value(const nlohmann::json& from, const std::string& name, Value& value);

class FieldWriter {
 public:
  nlohmann::json fields = nlohmann::json::object();
  template <class Value>
  void operator()(const char* name, Value& value) {
    write_value(fields[name], value);
  }
};

class FieldReader {
 public:
  // REQUIRES: `fields` is an object; borrowed.
  explicit FieldReader(const nlohmann::json& fields) : fields_(fields) {}
  template <class Value>
  void operator()(const char* name, Value& value) {
    if (const auto found = fields_.find(name); found != fields_.end())
      read_value(*found, name, value);
  }

 private:
  const nlohmann::json& fields_;
};

template <class Value>
struct IsVector : std::false_type {};
template <class Item>
struct IsVector<std::vector<Item>> : std::true_type {};
template <class Value>
struct IsOptional : std::false_type {};
template <class Item>
struct IsOptional<std::optional<Item>> : std::true_type {};
template <class Value>
struct IsMap : std::false_type {};
template <class Item>
struct IsMap<std::map<std::string, Item>> : std::true_type {};
template <class Value>
struct IsPair : std::false_type {};
template <class A, class B>
struct IsPair<std::pair<A, B>> : std::true_type {};

template <class Value>
void write_value(nlohmann::json& to, Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    to = static_cast<int>(value);
  } else if constexpr (IsVector<Value>::value) {
    to = nlohmann::json::array();
    for (auto& item : value) write_value(to.emplace_back(), item);
  } else if constexpr (IsOptional<Value>::value) {
    to = nullptr;
    if (value) write_value(to, *value);
  } else if constexpr (IsMap<Value>::value) {
    to = nlohmann::json::object();
    for (auto& [name, item] : value) write_value(to[name], item);
  } else if constexpr (IsPair<Value>::value) {
    to = nlohmann::json::array({value.first, value.second});
  } else if constexpr (HasFields<Value>) {
    FieldWriter writer;
    visit_fields(writer, value);
    to = std::move(writer.fields);
  } else {
    to = value;
  }
}

template <class Value>
void read_integer(const nlohmann::json& from, const std::string& name, Value& value) {
  using Limits = std::numeric_limits<Value>;
  bool fits = from.is_number_integer();
  if (fits && from.is_number_unsigned()) {
    fits = std::in_range<Value>(from.get<std::uint64_t>());
  } else if (fits) {
    fits = std::in_range<Value>(from.get<std::int64_t>());
  }
  if (!fits)
    refuse_field(name, "a whole number from " + std::to_string(Limits::min()) + " to " +
                           std::to_string(Limits::max()));
  value = from.get<Value>();
}

template <class Value>
void read_value(const nlohmann::json& from, const std::string& name, Value& value) {
  if constexpr (std::is_same_v<Value, nlohmann::json>) {
    value = from;
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (!from.is_boolean()) refuse_field(name, "true or false");
    value = from.get<bool>();
  } else if constexpr (std::is_enum_v<Value>) {
    int code = 0;
    read_integer(from, name, code);
    if (code < 0 || code > static_cast<int>(kLastCode<Value>))
      refuse_field(name, "a code from 0 to " + std::to_string(static_cast<int>(kLastCode<Value>)));
    value = static_cast<Value>(code);
  } else if constexpr (std::is_integral_v<Value>) {
    read_integer(from, name, value);
  } else if constexpr (std::is_floating_point_v<Value>) {
    if (!from.is_number()) refuse_field(name, "a number");
    value = from.get<Value>();
  } else if constexpr (std::is_same_v<Value, std::string>) {
    if (!from.is_string()) refuse_field(name, "a text");
    value = from.get<std::string>();
  } else if constexpr (IsVector<Value>::value) {
    if (!from.is_array()) refuse_field(name, "a list");
    value.clear();
    for (const nlohmann::json& item : from) read_value(item, name, value.emplace_back());
  } else if constexpr (IsOptional<Value>::value) {
    value.reset();
    if (!from.is_null()) read_value(from, name, value.emplace());
  } else if constexpr (IsMap<Value>::value) {
    if (!from.is_object()) refuse_field(name, "named values");
    value.clear();
    for (const auto& [key, item] : from.items()) read_value(item, name, value[key]);
  } else if constexpr (IsPair<Value>::value) {
    if (!from.is_array() || from.size() != 2) refuse_field(name, "two values");
    read_value(from[0], name, value.first);
    read_value(from[1], name, value.second);
  } else {
    if (!from.is_object()) refuse_field(name, "named values");
    FieldReader reader(from);
    visit_fields(reader, value);
  }
}

template <class Value>
nlohmann::json json_of(Value value) {
  nlohmann::json json;
  write_value(json, value);
  return json;
}
template <class Value>
Value value_of(const nlohmann::json& json, const std::string& name) {
  Value value{};
  read_value(json, name, value);
  return value;
}

}  // namespace triescope::app

// Settings: the value of every parameter that a method has. validate_settings() makes them; they
// are read by name with the parameter's type. Plain values, safe from any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/method/parameter.h"

namespace triescope {

struct MethodInfo;

class Settings {
 public:
  Settings() = default;
  // `values`: an object {name: value}.
  explicit Settings(nlohmann::json values) : values_(std::move(values)) {}

  bool has(std::string_view name) const {
    const auto found = values_.find(name);
    return found != values_.end() && !found->is_null();
  }
  // The value of a parameter that the method has. Error{kInvalidArgument}: it has none of that name
  // (the method reads what it does not declare), or one of another type.
  int integer(std::string_view name) const;
  double number(std::string_view name) const;
  bool boolean(std::string_view name) const;
  std::string text(std::string_view name) const;  // choices too
  std::vector<std::int32_t> integers(std::string_view name) const;
  // the value of a text whose reader takes other types too
  const nlohmann::json& value(std::string_view name) const;

  // For parts that serve methods with and without the parameter: returns `off` where it is not
  // declared.
  int integer_or(std::string_view name, int off) const { return has(name) ? integer(name) : off; }
  double number_or(std::string_view name, double off) const {
    return has(name) ? number(name) : off;
  }

  void set(std::string_view name, nlohmann::json value) {
    values_[std::string(name)] = std::move(value);
  }
  const nlohmann::json& json() const { return values_; }

 private:
  template <class T>
  T read(std::string_view name) const;

  nlohmann::json values_ = nlohmann::json::object();
};

// The parameters that every method has beside its own: kv, gc_every, eos_token_id, candidates.
std::span<const Parameter> common_parameters();
// Converts a value as it was given (a text, or already typed) to the parameter's type.
// Error{kInvalidArgument} says which parameter, the value found and what is allowed.
nlohmann::json read_setting(const Parameter& parameter, const nlohmann::json& given);
// Returns every parameter of the method: fills in defaults, parses texts ("3", "true", "1,2") and
// checks ranges. Errors: those of read_setting(), and {kInvalidArgument} for a name that the method
// does not have.
nlohmann::json validate_settings(const MethodInfo& method, const nlohmann::json& given);

}  // namespace triescope

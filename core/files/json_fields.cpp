#include <cmath>

#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/files/family.h"

namespace triescope::formats {
namespace {

bool is_finite(const nlohmann::json& value) {
  return value.is_number() && std::isfinite(value.get<double>());
}

std::string shown(const nlohmann::json& value) {
  if (value.is_number() && !is_finite(value)) {
    const double number = value.get<double>();
    return std::isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity";
  }
  std::string text = dump_json(value, -1, /*ascii=*/true);
  return text.size() > 80 ? text.substr(0, 80) + "..." : text;
}

constexpr std::size_t kMaxList = 1u << 16;

}  // namespace

const nlohmann::json* JsonFields::find(const char* key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void JsonFields::corrupt(const std::string& key, const std::string& expected) const {
  const auto found = object_.find(key);
  throw Error(ErrorCode::kCorruption, path_ + ": " + key + ": expected " + expected + ", found " +
                                          (found == object_.end() ? "nothing" : shown(*found)));
}

void JsonFields::not_supported(const std::string& what) const {
  throw Error(ErrorCode::kNotSupported, path_ + ": " + what + " is not supported");
}

int JsonFields::integer(const char* key, std::optional<int> fallback) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr && fallback) return *fallback;
  if (value == nullptr || !value->is_number()) corrupt(key, "an integer");
  const double number = value->get<double>();
  if (!(number >= 0 && number <= 1 << 30) || number != std::floor(number)) {
    corrupt(key, "an integer from 0 to 2^30");
  }
  return static_cast<int>(number);
}

double JsonFields::number(const char* key, std::optional<double> fallback) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr && fallback) return *fallback;
  if (value == nullptr || !value->is_number()) corrupt(key, "a number");
  if (!is_finite(*value)) corrupt(key, "a finite number");
  return value->get<double>();
}

bool JsonFields::boolean(const char* key, bool fallback) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) corrupt(key, "true or false");
  return value->get<bool>();
}

std::string JsonFields::text(const char* key, std::optional<std::string> fallback) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr && fallback) return *fallback;
  if (value == nullptr || !value->is_string()) corrupt(key, "a text");
  return value->get<std::string>();
}

std::vector<double> JsonFields::numbers(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr || !value->is_array() || value->size() > kMaxList)
    corrupt(key, "a list of numbers");
  std::vector<double> result;
  for (const nlohmann::json& entry : *value) {
    if (!entry.is_number()) corrupt(key, "a list of numbers");
    if (!is_finite(entry)) corrupt(key, "a list of finite numbers");
    result.push_back(entry.get<double>());
  }
  return result;
}

std::vector<std::string> JsonFields::texts(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr || !value->is_array() || value->size() > kMaxList)
    corrupt(key, "a list of texts");
  std::vector<std::string> result;
  for (const nlohmann::json& entry : *value) {
    if (!entry.is_string()) corrupt(key, "a list of texts");
    result.push_back(entry.get<std::string>());
  }
  return result;
}

std::vector<std::int64_t> JsonFields::integers(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return {};
  std::vector<std::int64_t> result;
  const auto add = [&](const nlohmann::json& entry) {
    const bool fits = entry.is_number_unsigned() ? entry.get<std::uint64_t>() <= INT64_MAX
                                                 : entry.is_number_integer();
    if (!fits) corrupt(key, "an integer, or a list of them");
    result.push_back(entry.get<std::int64_t>());
  };
  if (!value->is_array()) {
    add(*value);
  } else {
    if (value->size() > kMaxList) corrupt(key, "at most 65536 integers");
    for (const nlohmann::json& entry : *value) add(entry);
  }
  return result;
}

JsonFields JsonFields::object(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr || !value->is_object()) corrupt(key, "an object");
  return JsonFields(*value, path_ + ": " + key);
}

}  // namespace triescope::formats

#include "core/capture/run_fields.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/json_io.h"

namespace triescope::capture {

using nlohmann::json;

namespace {

// nullopt: no integer, or one that Integer does not hold.
template <class Integer>
std::optional<Integer> integer_of(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return std::in_range<Integer>(number) ? std::optional(static_cast<Integer>(number))
                                          : std::nullopt;
  }
  if (!value.is_number_integer()) return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return std::in_range<Integer>(number) ? std::optional(static_cast<Integer>(number))
                                        : std::nullopt;
}

}  // namespace

struct RunFields::Object {
  json fields;  // an object

  explicit Object(json value) : fields(value.is_object() ? std::move(value) : json::object()) {}
  const json& at(std::string_view name) const {
    static const json kNone;
    const auto found = fields.find(name);
    return found == fields.end() ? kNone : *found;
  }
};

RunFields::RunFields(const std::string& text)
    : object_(std::make_shared<Object>(json_or_discarded(text))) {}

bool RunFields::empty() const { return object_->fields.empty(); }

bool RunFields::has(std::string_view name) const { return object_->fields.contains(name); }

bool RunFields::is_blank(std::string_view name) const {
  const json& value = object_->at(name);
  return value.empty() || (value.is_string() && value.get_ref<const std::string&>().empty());
}

double RunFields::number(std::string_view name, double otherwise) const {
  const json& value = object_->at(name);
  return value.is_number() ? value.get<double>() : otherwise;
}

std::int64_t RunFields::integer(std::string_view name, std::int64_t otherwise) const {
  return integer_of<std::int64_t>(object_->at(name)).value_or(otherwise);
}

std::optional<bool> RunFields::boolean(std::string_view name) const {
  const json& value = object_->at(name);
  return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
}

std::string RunFields::text(std::string_view name, std::string otherwise) const {
  const json& value = object_->at(name);
  return value.is_string() ? value.get<std::string>() : otherwise;
}

std::vector<std::int32_t> RunFields::integers(std::string_view name) const {
  const json& value = object_->at(name);
  std::vector<std::int32_t> numbers;
  for (const json& one : value.is_array() ? value : json::array({value}))
    if (const auto number = integer_of<std::int32_t>(one)) numbers.push_back(*number);
  return numbers;
}

std::string RunFields::shown(std::string_view name) const {
  if (!has(name)) return "?";
  return json_text(object_->at(name));
}

RunFields RunFields::part(std::string_view name) const {
  return RunFields(std::make_shared<const Object>(object_->at(name)));
}

}  // namespace triescope::capture

// RunFields: one of the JSON objects in a run's row (settings_json, model_json, versions_json, …), read without
// trust. A field that is absent, or of another kind than is asked for, reads as the default.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace triescope::capture {

class RunFields {
 public:
  explicit RunFields(const std::string& json);  // no fields, where the text is no JSON object

  bool empty() const;
  bool has(std::string_view name) const;
  // Whether nothing is there: no field, null, "", [] or {}.
  bool is_blank(std::string_view name) const;
  double number(std::string_view name, double otherwise) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;  // whole numbers alone
  std::optional<bool> boolean(std::string_view name) const;
  std::string text(std::string_view name, std::string otherwise = "") const;
  // The whole numbers of a list, or the one that stands in its place.
  std::vector<std::int32_t> integers(std::string_view name) const;
  // For people: a text as it is, another value as JSON; "?" = no such field.
  std::string shown(std::string_view name) const;
  RunFields part(
      std::string_view name) const;  // an object within; without fields, where there is none

 private:
  struct Object;
  explicit RunFields(std::shared_ptr<const Object> object) : object_(std::move(object)) {}

  std::shared_ptr<const Object> object_;
};

}  // namespace triescope::capture

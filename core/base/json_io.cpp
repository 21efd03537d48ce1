#include "core/base/json_io.h"

#include <nlohmann/json.hpp>

namespace triescope {
namespace {

template <class Json>
Json parsed(std::string_view text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

template <class Json>
Json parsed_or_null(std::string_view text) {
  Json value = parsed<Json>(text);
  if (value.is_discarded()) value = nullptr;
  return value;
}

template <class Json>
std::string dumped(const Json& value, int indent, bool ascii) {
  return value.dump(indent, ' ', ascii, Json::error_handler_t::replace);
}

template <class Json>
std::string text_of(const Json& value) {
  return value.is_string() ? value.template get<std::string>() : dumped(value, -1, false);
}

}  // namespace

nlohmann::json json_or_discarded(std::string_view text) { return parsed<nlohmann::json>(text); }

nlohmann::json json_or_null(std::string_view text) { return parsed_or_null<nlohmann::json>(text); }

nlohmann::ordered_json ordered_json_or_null(std::string_view text) {
  return parsed_or_null<nlohmann::ordered_json>(text);
}

std::string dump_json(const nlohmann::json& value, int indent, bool ascii) {
  return dumped(value, indent, ascii);
}
std::string dump_json(const nlohmann::ordered_json& value, int indent, bool ascii) {
  return dumped(value, indent, ascii);
}

std::string json_text(const nlohmann::json& value) { return text_of(value); }
std::string json_text(const nlohmann::ordered_json& value) { return text_of(value); }

}  // namespace triescope

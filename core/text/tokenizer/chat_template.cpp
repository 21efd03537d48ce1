#include "core/text/tokenizer/chat_template.h"

#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>

#include "core/base/error.h"
#include "core/files/json.h"
#include "core/text/jinja/jinja.h"

namespace triescope::tokenizer {

namespace {

using nlohmann::ordered_json;

jinja::Value value_of(const ordered_json& given) {
  if (given.is_boolean()) return given.get<bool>();
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool too_large = given.is_number_unsigned() && given.get<std::uint64_t>() > kMost;
  if (given.is_number_integer() && !too_large) return given.get<std::int64_t>();
  if (given.is_number()) return given.get<double>();
  if (given.is_string()) return given.get<std::string>();
  if (given.is_array()) {
    jinja::List list;
    for (const ordered_json& entry : given) list.push_back(value_of(entry));
    return list;
  }
  if (!given.is_object()) return jinja::None{};
  jinja::Dict dict;
  for (const auto& [key, value] : given.items()) dict.emplace_back(key, value_of(value));
  return dict;
}

jinja::Value value_of(const ChatMessage& message) {
  jinja::Dict dict = {{"role", jinja::Value(message.role)},
                      {"content", jinja::Value(message.content)}};
  if (message.more.empty()) return dict;
  const ordered_json more = formats::parse_ordered_json(message.more, "a message");
  for (const auto& [key, value] : more.items()) jinja::put(dict, key, value_of(value));
  return dict;
}

}  // namespace

ChatTemplate::ChatTemplate(std::string text, std::string source)
    : text_(std::move(text)), source_(std::move(source)) {}

std::string ChatTemplate::render(
    const Conversation& conversation, bool add_generation_prompt,
    const std::vector<std::pair<std::string, std::string>>& texts) const {
  using jinja::Dict;
  using jinja::List;
  using jinja::Value;
  List list;
  for (const ChatMessage& message : conversation.messages) list.push_back(value_of(message));
  Dict globals = {{"messages", Value(std::move(list))},
                  {"add_generation_prompt", Value(add_generation_prompt)},
                  {"tools", conversation.tools.empty() ? Value(jinja::None{})
                                                       : value_of(formats::parse_ordered_json(
                                                             conversation.tools, "tools"))},
                  {"documents", Value(jinja::None{})}};
  for (const auto& [name, text] : texts) globals.emplace_back(name, Value(text));
  globals.emplace_back("strftime_now", Value(jinja::Function([](const jinja::Arguments& arguments) {
                         const std::time_t now =
                             std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
                         std::tm local{};
                         localtime_r(&now, &local);
                         const jinja::Value format = arguments.get(0, "format");
                         const auto* pattern = format.get<std::string>();
                         char text[256];
                         const std::size_t size = std::strftime(
                             text, sizeof text, pattern ? pattern->c_str() : "%Y-%m-%d", &local);
                         return Value(std::string(text, size));
                       })));
  try {
    return jinja::render(jinja::parse(text_), globals);
  } catch (const Error& error) {
    throw Error(error.code(), source_ + ": " + error.what());
  }
}

}  // namespace triescope::tokenizer

#include "core/text/tokenizer/chat_template.h"

#include <chrono>
#include <ctime>

#include "core/base/error.h"
#include "core/text/jinja/jinja.h"

namespace triescope::tokenizer {

ChatTemplate::ChatTemplate(std::string text, std::string source)
    : text_(std::move(text)), source_(std::move(source)) {}

std::string ChatTemplate::render(
    std::span<const ChatMessage> messages, bool add_generation_prompt,
    const std::vector<std::pair<std::string, std::string>>& texts) const {
  using jinja::Dict;
  using jinja::List;
  using jinja::Value;
  List list;
  for (const ChatMessage& message : messages)
    list.push_back(Dict{{"role", Value(message.role)}, {"content", Value(message.content)}});
  Dict globals = {{"messages", Value(std::move(list))},
                  {"add_generation_prompt", Value(add_generation_prompt)},
                  {"tools", Value(jinja::None{})},
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

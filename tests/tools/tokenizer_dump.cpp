// tokenizer_dump encode|plain|decode|skip|stream|chat <tokenizer>: a line in, a line out, so that a
// script can compare thousands of cases with another implementation in one process.
//   encode, plain  a JSON string         -> ids, or !code: message  (plain: without special tokens)
//   decode, skip   ids                   -> a JSON string           (skip: without special tokens)
//   stream         ids                   -> a JSON string, fed one id at a time
//   chat           {"messages", "add_generation_prompt"} -> a JSON string
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/text/tokenizer/tokenizer.h"

namespace {

using nlohmann::json;
using namespace triescope;

std::vector<std::int32_t> ids_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 0; in >> id;) ids.push_back(id);
  return ids;
}

std::string answer(const std::string& mode, const Tokenizer& tokenizer, const std::string& line) {
  if (mode == "encode" || mode == "plain") {
    std::string out;
    for (const auto id : tokenizer.encode(json::parse(line).get<std::string>(), mode == "encode")) {
      if (!out.empty()) out += ' ';
      out += std::to_string(id);
    }
    return out;
  }
  if (mode == "decode" || mode == "skip")
    return json(tokenizer.decode(ids_of(line), mode == "skip")).dump();
  if (mode == "stream") {
    StreamDecoder stream(tokenizer);
    std::string text;
    for (const auto id : ids_of(line)) text += stream.push(id);
    return json(text + stream.finish()).dump();
  }
  const json request = json::parse(line);
  Conversation conversation;
  for (const json& message : request.at("messages"))
    conversation.messages.push_back(
        {message.at("role").get<std::string>(), message.at("content").get<std::string>()});
  return json(tokenizer.apply_chat_template(conversation,
                                            request.at("add_generation_prompt").get<bool>()))
      .dump();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: tokenizer_dump encode|plain|decode|skip|stream|chat <tokenizer>\n";
    return 2;
  }
  const auto tokenizer = load_tokenizer(argv[2]);
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    try {
      std::cout << answer(argv[1], *tokenizer, line) << '\n';
    } catch (const Error& error) {
      std::cout << '!' << to_string(error.code()) << ": " << error.what() << '\n';
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

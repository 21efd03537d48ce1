#include <doctest/doctest.h>

#include <fstream>

#include "app/session/catalog.h"
#include "app/session/request.h"
#include "core/base/error.h"
#include "core/text/tokenizer/conversation.h"
#include "core/text/tokenizer/id_tokenizer.h"
#include "tests/support/environment.h"
#include "tests/support/fake_model.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"

namespace triescope::app::test_request {
namespace {

ModelInfo model_that_asks(GenerationSettings generation) {
  ModelInfo model;
  model.path = "/models/some";
  model.generation = std::move(generation);
  return model;
}

RunRequest request_of(const std::string& method, const nlohmann::json& settings) {
  RunRequest request;
  request.method = method;
  request.settings = settings;
  return request;
}

TEST_CASE("request: it takes of a model's settings what its method has and it leaves open") {
  const ModelInfo model = model_that_asks(
      {{{"temperature", "0.6"}, {"top_p", "0.9"}, {"repetition_penalty", "1.05"}}, {}});
  RunRequest sample = request_of("sample", {{"top_p", "0.5"}});
  const std::string note = model_settings_note(sample, model, "do so");
  CHECK(note ==
        "the model's generation_config.json asks for repetition_penalty = 1.05, temperature = 0.6; "
        "do so");
  take_model_settings(sample, model);
  CHECK(sample.settings ==
        nlohmann::json{{"temperature", 0.6}, {"top_p", "0.5"}, {"repetition_penalty", 1.05}});
  CHECK(model_settings_note(sample, model, "do so").empty());

  // Greedy decoding takes no temperature: generate() ignores it too where it does not sample.
  RunRequest greedy = request_of("greedy", nlohmann::json::object());
  take_model_settings(greedy, model);
  CHECK(greedy.settings == nlohmann::json{{"repetition_penalty", 1.05}});
}

TEST_CASE(
    "request: a model's settings that cannot be followed are refused, and the request stays") {
  const auto refusal = [](GenerationSettings generation, ErrorCode code) {
    RunRequest request = request_of("sample", {{"top_k", 5}});
    std::string message;
    try {
      take_model_settings(request, model_that_asks(std::move(generation)));
    } catch (const Error& error) {
      CHECK(error.code() == code);
      message = error.what();
    }
    CHECK(request.settings == nlohmann::json{{"top_k", 5}});
    return message;
  };
  CHECK(refusal({{}, {"guidance_scale", "suppress_tokens"}}, ErrorCode::kNotSupported)
            .find("generation_config.json asks for guidance_scale, suppress_tokens, which "
                  "triescope does not support") != std::string::npos);
  const std::string range = refusal({{{"temperature", "0"}}, {}}, ErrorCode::kInvalidArgument);
  CHECK(range.find("/models/some: generation_config.json asks for temperature = 0") == 0);
  CHECK(range.find("0.01") != std::string::npos);
  CHECK(model_settings_note(request_of("greedy", nlohmann::json::object()),
                            model_that_asks({{{"min_length", "3"}}, {"guidance_scale"}}),
                            "do so") ==
        "the model's generation_config.json asks for min_length = 3; do so; it also asks for "
        "guidance_scale, which triescope does not support");
}

std::string refusal(const RunRequest& request, const Tokenizer& tokenizer) {
  try {
    make_run_config(request, tokenizer);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "not refused";
}

TEST_CASE(
    "request: a number of new tokens out of range is refused with what is allowed, as a setting is") {
  const auto refusal = [](int max_new_tokens, const nlohmann::json& settings) -> std::string {
    RunRequest request = request_of("sample", settings);
    request.max_new_tokens = max_new_tokens;
    try {
      check_request(request);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kInvalidArgument);
      return error.what();
    }
    return "";
  };
  const nlohmann::json none = nlohmann::json::object();
  CHECK(refusal(999999999, none) ==
        "max_new_tokens: expected an integer from 1 to 1048576; found 999999999");
  CHECK(refusal(0, none) == "max_new_tokens: expected an integer from 1 to 1048576; found 0");
  CHECK(refusal(1, none).empty());
  CHECK(refusal(1 << 20, none).empty());
  CHECK(refusal(1, {{"temperature", 0}}).find("0 is greedy decoding") != std::string::npos);
  CHECK(refusal(1, {{"temperature", 200}}).find("0 is greedy decoding") == std::string::npos);
}

TEST_CASE("request: ids are read with spaces around them, and what is not a number is named") {
  using Ids = std::vector<std::int32_t>;
  CHECK(parse_ids("1,2, 3") == Ids{1, 2, 3});
  CHECK(parse_ids(" 7\n") == Ids{7});
  CHECK(parse_ids("").empty());
  CHECK(text_of_ids({1, 20, 3}) == "1, 20, 3");
  CHECK(parse_ids(text_of_ids({1, 20, 3})) == Ids{1, 20, 3});
  for (const char* wrong : {"1,x,3", "1,,3", "1,2x,3", "1,99999999999,3"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH_AS(parse_ids(wrong), doctest::Contains("as entry 2"), Error);
  }
}

TEST_CASE(
    "request: a prompt of ids is taken as it is, within the vocabulary, and not with a template") {
  const auto ids = make_id_tokenizer("/models/some", 10, -1, {});
  RunRequest request;
  request.prompt = "1, 9";
  request.prompt_is_ids = true;
  const RunConfig config = make_run_config(request, *ids);
  CHECK(config.prompt_tokens == std::vector<std::int32_t>{1, 9});
  CHECK(config.prompt_text == "<1><9>");
  request.prompt_ids = {3};  // the command line's ids come first
  CHECK(make_run_config(request, *ids).prompt_tokens == std::vector<std::int32_t>{3});
  request.prompt_ids = {10};
  CHECK(refusal(request, *ids) == "prompt id 10 is outside the vocabulary: expected 0 to 9");
  request.prompt_ids = {-1};
  CHECK(refusal(request, *ids) == "prompt id -1 is outside the vocabulary: expected 0 to 9");
  request.prompt_ids.clear();
  request.chat = true;
  CHECK(refusal(request, *ids).find("a chat template works on text") != std::string::npos);
  request.chat = false;
  request.prompt.clear();
  CHECK(refusal(request, *ids).find("at least one token id") != std::string::npos);
}

// Every text has the tokens 4 and 5.
struct TwoTokens : test::FakeTokenizer {
  std::vector<std::int32_t> encode(std::string_view, bool) const override { return {4, 5}; }
};

TEST_CASE("request: a capture's run becomes the request that it was started with") {
  capture::RunInfo run;
  run.model_json = R"({"path": "/m/x.gguf", "device": "cuda:0", "dtype": "bf16",
                       "draft": {"path": "/m/head"}})";
  run.method = "beam";
  run.settings_json = R"({"num_beams": 5, "length_penalty": 1.0, "kv": "keep", "candidates": 16})";
  run.seed = 11;
  run.max_new_tokens = 40;
  run.prompt_text = "some text";
  run.prompt_tokens = {4, 5};
  const RunRequest trusted = request_of_run(run, nullptr);
  CHECK(trusted.model == "/m/x.gguf");
  CHECK(trusted.device == "cuda:0");
  CHECK(trusted.dtype == DType::kBF16);
  CHECK(trusted.draft_model == "/m/head");
  CHECK(trusted.method == "beam");
  CHECK(trusted.settings == nlohmann::json{{"num_beams", 5}, {"kv", "keep"}});
  CHECK(trusted.seed == 11);
  CHECK(trusted.max_new_tokens == 40);
  CHECK(trusted.prompt == "some text");
  CHECK_FALSE(trusted.prompt_is_ids);
  // A text that does not split into the same tokens is not used; the ids are kept.
  const TwoTokens words;
  CHECK(request_of_run(run, &words).prompt == "some text");
  CHECK_FALSE(request_of_run(run, &words).prompt_is_ids);
  run.prompt_tokens = {4, 6};
  CHECK(request_of_run(run, &words).prompt == "4, 6");
  CHECK(request_of_run(run, &words).prompt_is_ids);
  run.method = "no such method";
  CHECK_THROWS_AS(request_of_run(run, nullptr), Error);
}

// A token a letter. The template writes "role: content", one message a line. It can also refuse a
// system role, or leave it out.
struct Letters : test::FakeTokenizer {
  enum class System : std::uint8_t { kWritten, kRefused, kDropped };
  System system = System::kWritten;
  std::vector<std::int32_t> encode(std::string_view text, bool) const override {
    return {text.begin(), text.end()};
  }
  int vocab_size() const override { return 256; }
  std::string apply_chat_template(const Conversation& conversation, bool) const override {
    std::string text;
    for (const ChatMessage& message : conversation.messages) {
      if (message.role == "system" && system == System::kRefused)
        throw Error(ErrorCode::kInvalidArgument, "chat_template.jinja: System role not supported");
      if (message.role == "system" && system == System::kDropped) continue;
      text += message.role + ": " + message.content + "\n";
    }
    return text;
  }
};

TEST_CASE(
    "request: a chat has a system prompt, turns and the prompt, in this order, and the run keeps them") {
  Letters letters;
  RunRequest request;
  request.prompt = "Why?";
  request.system = "Be brief.";
  request.turns = {{"user", "Hello"}, {"assistant", "Hi"}};
  CHECK(make_run_config(request, letters).prompt_text == "Why?");  // no chat, so neither counts
  CHECK(make_run_config(request, letters).conversation.messages.empty());
  request.chat = true;
  const RunConfig config = make_run_config(request, letters);
  CHECK(config.prompt_text == "system: Be brief.\nuser: Hello\nassistant: Hi\nuser: Why?\n");
  CHECK(config.conversation.messages ==
        std::vector<ChatMessage>{
            {"system", "Be brief."}, {"user", "Hello"}, {"assistant", "Hi"}, {"user", "Why?"}});
  request.turns.clear();
  request.system.clear();
  CHECK(make_run_config(request, letters).prompt_text == "user: Why?\n");
}

TEST_CASE("request: a template without a system role says so, and one that drops it is found out") {
  Letters letters;
  RunRequest request;
  request.prompt = "Why?";
  request.system = "Be brief.";
  request.chat = true;
  letters.system = Letters::System::kRefused;
  CHECK_THROWS_WITH_AS(make_run_config(request, letters),
                       "chat_template.jinja: System role not supported", Error);
  letters.system = Letters::System::kDropped;
  CHECK_THROWS_WITH_AS(make_run_config(request, letters),
                       doctest::Contains("leaves the system prompt out"), Error);
  request.system.clear();
  CHECK(make_run_config(request, letters).prompt_text == "user: Why?\n");
}

TEST_CASE(
    "request: a conversation is taken apart and put together again; the user has the last word") {
  RunRequest request;
  request.system = "old";
  request.prompt_is_ids = true;
  const std::vector<ChatMessage> whole = {
      {"system", "s"}, {"user", "a"}, {"assistant", "b"}, {"user", "c"}};
  take_conversation(request, {whole}, "talk.json");
  CHECK(request.chat);
  CHECK_FALSE(request.prompt_is_ids);
  CHECK(request.system == "s");
  CHECK(request.turns == std::vector<ChatMessage>{{"user", "a"}, {"assistant", "b"}});
  CHECK(request.prompt == "c");
  CHECK(conversation_of(request).messages == whole);
  // An empty system prompt is not the same as none for a template.
  const std::vector<ChatMessage> empty = {{"system", ""}, {"user", "c"}};
  take_conversation(request, {empty}, "talk.json");
  CHECK(conversation_of(request).messages == empty);
  CHECK_THROWS_WITH_AS(
      take_conversation(request, {{{"user", "a"}, {"assistant", "b"}}}, "talk.json"),
      "talk.json: expected the last message to be the user's or a tool's, which the "
      "model answers; found role assistant",
      Error);
  CHECK(conversation_of(request).messages == empty);  // refused: nothing changed
}

TEST_CASE(
    "request: a capture's chat is run again as the chat it was, by its ids where the template has moved on") {
  Letters letters;
  RunRequest request;
  request.prompt = "Why?";
  request.system = "Be brief.";
  request.turns = {{"user", "Hello"}, {"assistant", "Hi"}};
  request.chat = true;
  const RunConfig config = make_run_config(request, letters);
  capture::RunInfo run;
  run.method = "greedy";
  run.prompt_text = config.prompt_text;
  run.prompt_tokens = config.prompt_tokens;
  run.conversation_json = conversation_json(config.conversation).dump();
  for (const Tokenizer* tokenizer :
       {static_cast<const Tokenizer*>(nullptr), static_cast<const Tokenizer*>(&letters)}) {
    const RunRequest again = request_of_run(run, tokenizer);
    CHECK(again.chat);
    CHECK(conversation_of(again).messages == conversation_of(request).messages);
    CHECK(again.system == "Be brief.");
    CHECK(make_run_config(again, letters).prompt_tokens == run.prompt_tokens);
  }
  letters.system = Letters::System::kDropped;
  const RunRequest ids = request_of_run(run, &letters);
  CHECK(ids.prompt_is_ids);
  CHECK_FALSE(ids.chat);
  CHECK(ids.system.empty());
  CHECK(ids.turns.empty());
  CHECK(parse_ids(ids.prompt) == run.prompt_tokens);
  for (const char* broken : {"{", "[]", R"([{"role": "user"}])", "[1]"}) {
    CAPTURE(broken);
    run.conversation_json = broken;
    CHECK(parse_ids(request_of_run(run, &letters).prompt) == run.prompt_tokens);
  }
}

TEST_CASE("chat request: a tool's answer may be the last, and tools and template are kept") {
  Letters letters;
  RunRequest request;
  const std::string call = R"({"tool_calls":[{"function":{"name":"add"}}],"content":null})";
  take_conversation(request,
                    {.messages = {{"user", "1 + 1?"}, {"assistant", "", call}, {"tool", "2"}},
                     .tools = R"([{"name":"add"}])",
                     .chat_template = "t",
                     .template_source = "t.jinja"},
                    "talk.json");
  CHECK(request.prompt.empty());
  CHECK(has_prompt(request));
  const Conversation whole = conversation_of(request);
  REQUIRE(whole.messages.size() == 3);
  CHECK(whole.messages[1].more == call);
  CHECK(whole.tools == R"([{"name":"add"}])");
  CHECK(whole.chat_template == "t");
  CHECK(whole.template_source == "t.jinja");
  // A capture has all of it, and a person's answer goes behind the tool's.
  capture::RunInfo run;
  run.method = request.method;
  run.max_new_tokens = request.max_new_tokens;
  run.conversation_json = conversation_json(whole).dump();
  const RunRequest again = request_of_run(run, nullptr);
  CHECK(conversation_of(again).messages == whole.messages);
  CHECK(again.tools == request.tools);
  CHECK(again.chat_template == "t");
  CHECK(same_decoding(request, again));
  request.prompt = "Thanks";
  CHECK(conversation_of(request).messages.size() == 4);
  request.turns.clear();
  request.prompt.clear();
  CHECK_FALSE(has_prompt(request));
}

TEST_CASE("chat request: tools that a template leaves out are found out") {
  Letters letters;
  RunRequest request;
  request.prompt = "1 + 1?";
  request.chat = true;
  request.tools = R"([{"name":"add"}])";
  CHECK_THROWS_WITH_AS(make_run_config(request, letters), doctest::Contains("leaves the tools out"),
                       Error);
}

TEST_CASE("chat request: calls of tools that a template leaves out are found out") {
  struct Calls : Letters {
    bool asks = false;  // refuses an answer of a tool that nothing called
    std::string apply_chat_template(const Conversation& conversation, bool) const override {
      if (asks && conversation.messages[1].more.empty())
        throw Error(ErrorCode::kInvalidArgument, "no call");
      return "always";
    }
  } template_of_calls;
  RunRequest request;
  request.chat = true;
  request.prompt = "Thanks";
  request.turns = {{"user", "1 + 1?"},
                   {"assistant", "I add.", R"({"tool_calls":[{"function":{"name":"add"}}]})"},
                   {"tool", "2"}};
  CHECK_THROWS_WITH_AS(make_run_config(request, template_of_calls),
                       doctest::Contains("leaves the calls of tools out"), Error);
  template_of_calls.asks = true;
  CHECK(make_run_config(request, template_of_calls).prompt_text == "always");
  template_of_calls.asks = false;
  request.turns[1].more.clear();
  CHECK(make_run_config(request, template_of_calls).prompt_text == "always");
}

TEST_CASE("chat request: files of a template and tools are read, and wrong ones are refused") {
  const test::TempDir folder;
  const std::string path = folder.path() / "file";
  RunRequest request;
  std::ofstream(path) << "{{ messages[0].content }}";
  take_chat_template(request, path);
  CHECK(request.chat_template == "{{ messages[0].content }}");
  CHECK(request.chat_template_file == path);
  std::ofstream(path) << " \n";
  CHECK_THROWS_WITH_AS(take_chat_template(request, path), doctest::Contains("an empty file"),
                       Error);
  std::ofstream(path) << R"({"tools": [{"b": 1, "a": 2}]})";
  CHECK(holds_tools_alone(path));
  CHECK(read_tools_file(path) == R"([{"b":1,"a":2}])");
  std::ofstream(path) << "[3]";
  CHECK_THROWS_WITH_AS(read_tools_file(path), doctest::Contains("found 3"), Error);
  std::ofstream(path) << "{";
  CHECK_THROWS_WITH_AS(read_tools_file(path), doctest::Contains("expected JSON"), Error);
}

TEST_CASE("request: two chats decode the same if what is said is the same") {
  RunRequest a, b;
  a.system = "one";
  CHECK(same_decoding(a, b));  // no chat, so the system prompt does not count
  a.chat = b.chat = true;
  CHECK_FALSE(same_decoding(a, b));
  b.system = "one";
  CHECK(same_decoding(a, b));
  b.turns = {{"user", "x"}};
  CHECK_FALSE(same_decoding(a, b));
}

TEST_CASE(
    "request: a run of another machine is taken over with this machine's model of the same file name") {
  const auto model = test::model_path();
  if (!model) TRIESCOPE_SKIP("SmolLM2-135M-Instruct is not installed");
  capture::RunInfo run;
  run.method = "greedy";
  const auto taken = [&](const std::string& path) {
    run.model_json = R"({"path": ")" + path + "\"}";
    return request_of_run(run, nullptr).model;
  };
  const test::EnvironmentVariable models("TRIESCOPE_MODELS", model->parent_path());
  const std::string name = model->filename().string();
  CHECK(taken("/not/here/" + name) == name);
  CHECK(taken(name) == name);  // as a lesson's capture names it
  CHECK(resolve_model(taken("/not/here/" + name)) == model->string());
  CHECK(taken(model->string()) == model->string());
  CHECK(taken("/not/here/unknown.gguf") == "/not/here/unknown.gguf");
}

TEST_CASE(
    "request: a window reads its prompt as ids where the tokenizer takes no text, and there alone") {
  const auto ids = make_id_tokenizer("/models/some", 10, -1, {});
  RunRequest request;
  request.prompt = "4";
  CHECK(as_read_by(*ids, request).prompt_is_ids);
  CHECK_THROWS_AS(make_run_config(request, *ids), Error);  // without a window a text stays a text
  const test::FakeTokenizer words;
  CHECK_FALSE(as_read_by(words, request).prompt_is_ids);
  request.prompt_is_ids = true;
  CHECK(as_read_by(words, request).prompt_is_ids);
}

}  // namespace
}  // namespace triescope::app::test_request

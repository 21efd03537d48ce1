#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "app/session/prompt_counter.h"
#include "core/base/error.h"
#include "tests/unit/app/noting_host.h"

namespace triescope::app::test_prompt_counter {
namespace {

// Splits a text into words, a token each, and adds one where special tokens are asked for.
class Words final : public Tokenizer {
 public:
  std::vector<std::int32_t> encode(std::string_view text, bool special) const override {
    if (text.find('\xff') != std::string_view::npos)
      throw Error(ErrorCode::kInvalidArgument, "invalid UTF-8 at byte 0");
    std::vector<std::int32_t> ids(special ? 1 : 0, 0);
    bool within = false;
    for (const char c : text) {
      if (c != ' ' && !within) ids.push_back(1);
      within = c != ' ';
    }
    return ids;
  }
  std::string decode(std::span<const std::int32_t>, bool) const override { return ""; }
  std::string_view piece(std::int32_t) const override { return ""; }
  int vocab_size() const override { return 2; }
  bool is_special(std::int32_t id) const override { return id == 0; }
  std::int32_t bos_token_id() const override { return 0; }
  const std::vector<std::int32_t>& eos_token_ids() const override { return none_; }
  std::string description() const override { return "words"; }
  bool has_chat_template() const override { return true; }
  std::string apply_chat_template(const Conversation& conversation, bool) const override {
    std::string text;
    for (const ChatMessage& message : conversation.messages)
      text += message.role + " says " + message.content;
    return text + " end";
  }

 private:
  std::vector<std::int32_t> none_;
};

PromptSource no_model(const std::string& model) {
  throw Error(ErrorCode::kNotFound, model + ": no such model");
}

// A counter, and a machine that has a tokenizer loaded, or reads one.
struct Asker {
  std::mutex mutex;
  std::condition_variable changed;
  PromptReader reader;
  PromptSource loaded;
  std::shared_ptr<NotingHost> host = std::make_shared<NotingHost>();
  PromptCounter counter;
  explicit Asker(PromptReader::Open open = no_model)
      : reader(std::move(open)), counter([this] {
          std::lock_guard lock(mutex);
          changed.notify_all();
        }) {
    host->counts = [this](const RunRequest& request) { return reader.count(loaded, request); };
  }
  void ask(PromptSource source, const RunRequest& request) {
    settled();
    loaded = std::move(source);
    counter.ask(host, loaded.tokenizer.get(), request);
  }
  void ask(std::shared_ptr<const Tokenizer> tokenizer, const std::string& prompt, bool chat) {
    RunRequest request;
    request.prompt = prompt;
    request.chat = chat;
    ask({std::move(tokenizer), "", 0}, request);
  }
  // Waits until there is nothing left to count, and returns the answer.
  PromptCount settled() {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, std::chrono::minutes(2), [&] { return !counter.busy(); }));
    return counter.count();
  }
};

TEST_CASE(
    "prompt counter: a prompt is counted as a run would tokenize it, and counted again when it changes") {
  const auto words = std::make_shared<const Words>();
  Asker asker;
  CHECK(asker.counter.count().tokens == -1);
  asker.ask(nullptr, "one two", false);
  CHECK(asker.settled().tokens == -1);
  asker.ask(words, "one two", false);
  CHECK(asker.settled().tokens == 3);  // BOS
  asker.ask(words, "one two", true);
  CHECK(asker.settled().tokens == 5);  // the template's words; it writes its special tokens itself
  asker.ask(words, "", false);
  CHECK(asker.settled().tokens == -1);
  // Of requests in quick succession, the newest is answered.
  RunRequest typed;
  for (int i = 0; i < 200; ++i) {
    typed.prompt += " word";
    asker.counter.ask(asker.host, words.get(), typed);
  }
  CHECK(asker.settled().tokens == 201);
  asker.ask(words, "\xff", false);
  const auto broken = asker.settled();
  CHECK(broken.tokens == -1);
  CHECK(broken.problem.find("UTF-8") != std::string::npos);
}

TEST_CASE(
    "prompt counter: a prompt is counted before its model is loaded, with the tokenizer alone, read once") {
  int read = 0;
  const auto words = std::make_shared<const Words>();
  Asker asker([&](const std::string& model) -> PromptSource {
    ++read;
    if (model == "unreadable") throw Error(ErrorCode::kCorruption, "damaged");
    return {words, "Words of " + model, 77};
  });
  RunRequest request;
  request.model = "small";
  request.prompt = "one two";
  asker.ask({}, request);
  CHECK(asker.settled().tokens == 3);
  CHECK(asker.settled().model == "Words of small");
  CHECK(asker.settled().context == 77);
  CHECK_FALSE(asker.settled().unread);
  request.prompt = "one two three";
  asker.ask({}, request);
  CHECK(asker.settled().tokens == 4);
  CHECK(read == 1);
  // Turns and system prompt count as tokens of the prompt.
  request.chat = true;
  asker.ask({}, request);
  const std::int64_t alone = asker.settled().tokens;
  request.system = "be brief";
  asker.ask({}, request);
  CHECK(asker.settled().tokens > alone);
  const std::int64_t with_system = asker.settled().tokens;
  request.turns = {{"user", "hello"}, {"assistant", "yes"}};
  asker.ask({}, request);
  CHECK(asker.settled().tokens > with_system);
  // A file that cannot be read is counted once it is loaded; a loaded model's file is not read.
  request.model = "unreadable";
  asker.ask({}, request);
  CHECK(asker.settled().unread);
  CHECK(asker.settled().tokens == -1);
  CHECK(asker.settled().problem.empty());
  CHECK(read == 2);
  asker.ask({words, "loaded", 9}, request);
  CHECK_FALSE(asker.settled().unread);
  CHECK(asker.settled().model == "loaded");
  CHECK(asker.settled().context == 9);
  CHECK(read == 2);
}

TEST_CASE(
    "prompt counter: another machine counts its own prompts, and is asked again once its line stands") {
  struct Far final : NotingHost {
    HostLine line() const override { return {"box", lost, false}; }
    std::string lost;
  };
  Asker asker;
  const auto far = std::make_shared<Far>();
  far->counts = [&](const RunRequest& request) -> PromptCount {
    if (!far->lost.empty()) throw Error(ErrorCode::kIoError, far->lost);
    return {.tokens = 41, .model = "the far " + request.model};
  };
  RunRequest request;
  request.model = "small";
  request.prompt = "one two";
  far->lost = "it broke";
  asker.counter.ask(far, nullptr, request);
  CHECK(asker.settled().unread);
  far->lost = "";
  asker.counter.ask(far, nullptr, request);
  CHECK(asker.settled().tokens == 41);
  CHECK(asker.settled().model == "the far small");
  // Another one decodes from now on: the same prompt is counted by it.
  const auto next = std::make_shared<NotingHost>();
  next->counts = [](const RunRequest&) -> PromptCount { return {.tokens = 7}; };
  asker.counter.ask(next, nullptr, request);
  CHECK(asker.settled().tokens == 7);
}

TEST_CASE("prompt counter: a prompt that does not fit says what to do") {
  CHECK(over_context(37, 128, 8192).empty());
  CHECK(over_context(8064, 128, 8192).empty());
  CHECK(over_context(9000, 128, 0).empty());  // unknown context
  CHECK(over_context(8100, 128, 8192).find("at most 92 new tokens") != std::string::npos);
  CHECK(over_context(8192, 1, 8192).find("at least 1 token,") != std::string::npos);
  CHECK(over_context(9000, 1, 8192).find("at least 809 tokens") != std::string::npos);
}

}  // namespace
}  // namespace triescope::app::test_prompt_counter

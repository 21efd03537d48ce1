// PromptCounter: how many tokens a prompt has, counted by a thread of its own, so that neither a
// frame nor the decoder waits for it. Only the newest question is answered. Thread-safety: one
// thread asks and reads; `wake` is called from the counting thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/tokenizer/tokenizer.h"

namespace triescope::app {

class PromptCounter {
 public:
  struct Count {
    std::int64_t tokens = -1;  // as a run would have them; -1 = none counted, or it cannot be
    std::string problem;       // why it cannot be: invalid UTF-8, no chat template, not an id
  };

  // `wake` is called after every answer.
  explicit PromptCounter(std::function<void()> wake);
  ~PromptCounter();  // waits for the count under way
  PromptCounter(const PromptCounter&) = delete;
  PromptCounter& operator=(const PromptCounter&) = delete;

  // Asked in every frame; the same question again costs a comparison. Null tokenizer, or an empty
  // prompt: nothing to count. The prompt is read as RunHost::start does.
  void ask(std::shared_ptr<const Tokenizer> tokenizer, const std::string& prompt, bool chat,
           bool prompt_is_ids = false);
  // The newest answer: while a prompt is being typed, that of a moment ago.
  Count count() const;
  bool busy() const;

 private:
  struct Question {
    std::shared_ptr<const Tokenizer> tokenizer;
    std::string prompt;
    bool chat = false, prompt_is_ids = false;
    bool operator==(const Question&) const = default;
  };
  void loop();

  const std::function<void()> wake_;
  Question asked_;  // the asking thread's own

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Question next_;
  bool waiting_ = false, counting_ = false, quit_ = false;
  bool wanted_ = false;  // the newest question has an answer
  Count count_;
  std::thread thread_;  // declared last: it uses the members above
};

// What is wrong with a prompt of this many tokens, and what to do about it; "" = it fits.
std::string over_context(std::int64_t tokens, int max_new_tokens, int context);

}  // namespace triescope::app

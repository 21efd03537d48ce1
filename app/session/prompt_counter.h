// PromptCounter: counts a prompt's tokens on a thread of its own, so that neither a frame nor the
// decoder waits for it. If the model is not loaded, only its tokenizer is read. Only the newest
// question is answered. Thread-safety: one thread asks and reads; `wake` is called from the
// counting thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/session/request.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::app {

class PromptCounter {
 public:
  struct Count {
    std::int64_t tokens = -1;  // as a run would have them; -1 = not counted, or it cannot be
    // why it cannot be counted: invalid UTF-8, no chat template, not an id
    std::string problem = {};
    // The model whose tokenizer counted: its name, and its context in tokens (0 = unknown).
    std::string model = {};
    int context = 0;
    bool unread = false;  // the model's tokenizer could not be read; loading the model tells why
  };
  // A model's tokenizer, without its weights.
  struct Source {
    std::shared_ptr<const Tokenizer> tokenizer;
    std::string model;
    int context = 0;
  };
  // Takes a path or a short name. Whatever error it throws, the answer is then `unread`.
  using Reader = std::function<Source(const std::string& model)>;

  // `wake` is called after every answer.
  explicit PromptCounter(std::function<void()> wake, Reader reader = read_source);
  ~PromptCounter();  // waits for the current count
  PromptCounter(const PromptCounter&) = delete;
  PromptCounter& operator=(const PromptCounter&) = delete;

  // May be called in every frame; the same question again costs a comparison. `loaded` is the
  // request's model; without a tokenizer, the tokenizer is read by the request's name. An empty
  // prompt has nothing to count. The prompt is read as RunHost::start reads it.
  void ask(const Source& loaded, const RunRequest& request);
  // The newest answer; while a prompt is being typed, that of a moment ago.
  Count count() const;
  bool busy() const;

 private:
  struct Question {
    Source loaded;
    RunRequest request;
  };
  static Source read_source(const std::string& model);
  static bool same(const Question& asked, const Source& loaded, const RunRequest& request);
  Count answer(const Question& question);
  void loop();

  const std::function<void()> wake_;
  const Reader reader_;
  // Used by the counting thread only: the last name that was read, and what was read. No tokenizer:
  // it could not be read.
  std::optional<std::string> read_for_;
  Source read_;

  Question asked_;  // used by the asking thread only

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Question next_;
  bool waiting_ = false, counting_ = false, quit_ = false;
  bool wanted_ = false;  // the newest question needs an answer
  Count count_;
  std::thread thread_;  // declared last, because it uses the members above
};

// The problem with a prompt of this many tokens, and what to do about it; "" = it fits.
std::string over_context(std::int64_t tokens, int max_new_tokens, int context);

}  // namespace triescope::app

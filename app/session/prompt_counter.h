// PromptCounter: asks the machine that decodes how many tokens a prompt has, on a thread of its own,
// so that neither a frame nor the decoder waits for it. Only the newest question is answered.
// Thread-safety: one thread asks and reads; `wake` is called from the counting thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "app/session/prompt_count.h"
#include "app/session/run_host.h"

namespace triescope::app {

class PromptCounter {
 public:
  // `wake` is called after every answer.
  explicit PromptCounter(std::function<void()> wake);
  ~PromptCounter();  // waits for the current count
  PromptCounter(const PromptCounter&) = delete;
  PromptCounter& operator=(const PromptCounter&) = delete;

  // May be called in every frame; the same question again costs a comparison, and is asked again
  // once a lost line stands. `loaded`: the request's model, if that is loaded. An empty prompt has
  // nothing to count.
  void ask(const std::shared_ptr<RunHost>& host, const Tokenizer* loaded,
           const RunRequest& request);
  // The newest answer; while a prompt is being typed, that of a moment ago.
  PromptCount count() const;
  bool busy() const;

 private:
  struct Question {
    std::weak_ptr<RunHost> host = {};
    const Tokenizer* loaded = nullptr;  // compared alone
    RunRequest request = {};
  };
  bool asked_about(const std::shared_ptr<RunHost>& host, const Tokenizer* loaded,
                   const RunRequest& request) const;
  static PromptCount answer(const Question& question);
  void loop();

  const std::function<void()> wake_;
  // The asking thread's.
  Question asked_;
  bool lost_ = false;  // the line was, when seen last

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Question next_;
  bool waiting_ = false, counting_ = false, quit_ = false;
  bool wanted_ = false;  // the newest question needs an answer
  PromptCount count_;
  std::thread thread_;  // declared last, because it uses the members above
};

}  // namespace triescope::app

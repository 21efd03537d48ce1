#include "app/session/prompt_counter.h"

#include <exception>
#include <utility>

namespace triescope::app {

PromptCounter::PromptCounter(std::function<void()> wake)
    : wake_(std::move(wake)), thread_([this] { loop(); }) {}

PromptCounter::~PromptCounter() {
  {
    std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// Compares what a count depends on; the rest of a request does not matter.
bool PromptCounter::asked_about(const std::shared_ptr<RunHost>& host, const Tokenizer* loaded,
                                const RunRequest& request) const {
  const RunRequest& before = asked_.request;
  return !asked_.host.owner_before(host) && !host.owner_before(asked_.host) &&
         asked_.loaded == loaded && (loaded || before.model == request.model) &&
         before.chat == request.chat && before.prompt_is_ids == request.prompt_is_ids &&
         before.prompt == request.prompt && before.system == request.system &&
         before.turns == request.turns && before.tools == request.tools &&
         before.chat_template == request.chat_template;
}

void PromptCounter::ask(const std::shared_ptr<RunHost>& host, const Tokenizer* loaded,
                        const RunRequest& request) {
  const bool lost = !host->line().lost.empty();
  const bool stands_again = std::exchange(lost_, lost) && !lost;
  if (!stands_again && asked_about(host, loaded, request)) return;
  asked_ = {host, loaded, request};
  {
    std::lock_guard lock(mutex_);
    next_ = asked_;
    waiting_ = wanted_ = has_prompt(request);
    if (!wanted_) count_ = {};
  }
  changed_.notify_all();
}

PromptCount PromptCounter::count() const {
  std::lock_guard lock(mutex_);
  return count_;
}

bool PromptCounter::busy() const {
  std::lock_guard lock(mutex_);
  return waiting_ || counting_;
}

PromptCount PromptCounter::answer(const Question& question) {
  const std::shared_ptr<RunHost> host = question.host.lock();
  if (!host) return {};  // another one decodes
  try {
    return host->count_prompt(question.request);
  } catch (const std::exception&) {
    return {.unread = true};  // loading or starting says what is wrong
  }
}

void PromptCounter::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return quit_ || waiting_; });
    if (quit_) return;
    const Question question = std::exchange(next_, {});
    waiting_ = false;
    counting_ = true;
    lock.unlock();
    PromptCount count = answer(question);
    lock.lock();
    counting_ = false;
    // If the prompt was emptied in the meantime, there is no count.
    if (wanted_) count_ = std::move(count);
    lock.unlock();
    wake_();
    lock.lock();
  }
}

}  // namespace triescope::app

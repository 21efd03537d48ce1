#include "app/run/prompt_counter.h"

#include <exception>
#include <utility>

#include "app/run/request.h"
#include "core/base/counted.h"

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

void PromptCounter::ask(std::shared_ptr<const Tokenizer> tokenizer, const std::string& prompt,
                        bool chat, bool prompt_is_ids) {
  if (tokenizer == asked_.tokenizer && chat == asked_.chat &&
      prompt_is_ids == asked_.prompt_is_ids && prompt == asked_.prompt)
    return;
  asked_ = {std::move(tokenizer), prompt, chat, prompt_is_ids};
  {
    std::lock_guard lock(mutex_);
    next_ = asked_;
    waiting_ = wanted_ = next_.tokenizer && !prompt.empty();
    if (!wanted_) count_ = {};
  }
  changed_.notify_all();
}

PromptCounter::Count PromptCounter::count() const {
  std::lock_guard lock(mutex_);
  return count_;
}

bool PromptCounter::busy() const {
  std::lock_guard lock(mutex_);
  return waiting_ || counting_;
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
    Count count;
    try {
      RunRequest request;
      request.prompt = question.prompt;
      request.chat = question.chat;
      request.prompt_is_ids = question.prompt_is_ids;
      const RunRequest read = as_read_by(*question.tokenizer, std::move(request));
      count.tokens = static_cast<std::int64_t>(
          make_run_config(read, *question.tokenizer).prompt_tokens.size());
    } catch (const std::exception& error) {
      count.problem = error.what();
    }
    lock.lock();
    counting_ = false;
    // The prompt may have been emptied in the meantime: then there is no count.
    if (wanted_) count_ = std::move(count);
    lock.unlock();
    wake_();
    lock.lock();
  }
}

std::string over_context(std::int64_t tokens, int max_new_tokens, int context) {
  if (context <= 0 || tokens + max_new_tokens <= context) return "";
  if (tokens >= context)
    return "the prompt alone fills the context: shorten it by at least " +
           counted(tokens - context + 1, "token") + ", or choose a model with a longer context";
  return "with max_new_tokens the run is " + std::to_string(tokens + max_new_tokens - context) +
         " over the context: take at most " + counted(context - tokens, "new token") +
         ", or shorten the prompt";
}

}  // namespace triescope::app

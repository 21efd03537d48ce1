#include "app/session/prompt_counter.h"

#include <exception>
#include <utility>

#include "app/session/catalog.h"
#include "app/session/loaded_model.h"
#include "core/base/counted.h"

namespace triescope::app {

PromptCounter::PromptCounter(std::function<void()> wake, Reader reader)
    : wake_(std::move(wake)), reader_(std::move(reader)), thread_([this] { loop(); }) {}

PromptCounter::~PromptCounter() {
  {
    std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

PromptCounter::Source PromptCounter::read_source(const std::string& model) {
  const std::string path = resolve_model(model);
  const ModelInfo info = inspect_model(path);
  return {open_tokenizer(path), info.name, info.context};
}

// Compares what a count depends on; the rest of a request does not matter.
bool PromptCounter::same(const Question& asked, const Source& loaded, const RunRequest& request) {
  const RunRequest& before = asked.request;
  return asked.loaded.tokenizer == loaded.tokenizer &&
         (loaded.tokenizer || before.model == request.model) && before.chat == request.chat &&
         before.prompt_is_ids == request.prompt_is_ids && before.prompt == request.prompt &&
         before.system == request.system && before.turns == request.turns &&
         before.tools == request.tools && before.chat_template == request.chat_template;
}

void PromptCounter::ask(const Source& loaded, const RunRequest& request) {
  if (same(asked_, loaded, request)) return;
  asked_ = {loaded, request};
  {
    std::lock_guard lock(mutex_);
    next_ = asked_;
    waiting_ = wanted_ = has_prompt(request);
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

PromptCounter::Count PromptCounter::answer(const Question& question) {
  if (!question.loaded.tokenizer && read_for_ != question.request.model) {
    read_for_ = question.request.model;
    read_ = {};
    try {
      read_ = reader_(question.request.model);
    } catch (const std::exception&) {
      // Loading the model tells what is wrong with it.
    }
  }
  const Source& source = question.loaded.tokenizer ? question.loaded : read_;
  Count count{.model = source.model, .context = source.context, .unread = !source.tokenizer};
  if (count.unread) return count;
  try {
    const RunRequest read = as_read_by(*source.tokenizer, question.request);
    count.tokens =
        static_cast<std::int64_t>(make_run_config(read, *source.tokenizer).prompt_tokens.size());
  } catch (const std::exception& error) {
    count.problem = error.what();
  }
  return count;
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
    Count count = answer(question);
    lock.lock();
    counting_ = false;
    // If the prompt was emptied in the meantime, there is no count.
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

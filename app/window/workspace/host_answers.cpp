#include "app/window/workspace/host_answers.h"

#include <exception>

#include "app/session/following_tokens.h"
#include "core/base/json_io.h"

namespace triescope::app {
namespace {

// The parts of a request that a question needs; its texts may be long and are not copied.
RunRequest without_texts(const RunRequest& request) {
  RunRequest asked;
  asked.model = request.model, asked.draft_model = request.draft_model;
  asked.device = request.device, asked.draft_device = request.draft_device;
  asked.dtype = request.dtype, asked.kv_dtype = request.kv_dtype;
  asked.method = request.method, asked.settings = request.settings;
  asked.prompt_is_ids = request.prompt_is_ids, asked.chat = request.chat;
  asked.chat_template_file = request.chat_template_file;
  asked.max_new_tokens = request.max_new_tokens, asked.seed = request.seed;
  return asked;
}

// Where and in which dtypes a request is decoded.
std::string place_text(const RunRequest& request) {
  return request.device + to_string(request.dtype) +
         to_string(request.kv_dtype.value_or(request.dtype));
}

}  // namespace

HostAnswers::HostAnswers(std::shared_ptr<RunHost> host, std::function<void()> wake)
    : wake_(std::move(wake)), host_(std::move(host)), thread_([this] { loop(); }) {}

HostAnswers::~HostAnswers() {
  host_->hang_up();
  {
    std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HostAnswers::use(std::shared_ptr<RunHost> host) {
  std::shared_ptr<RunHost> old = std::exchange(host_, std::move(host));
  old->hang_up();
  lost_ = false;
  devices_ = {}, models_ = heads_ = drafts_ = {}, fits_ = {};
  path_ = default_draft_ = {}, memory_ = {}, tokens_ = {};
  run_later([old = std::move(old)]() mutable { old.reset(); });
}

void HostAnswers::see_line() {
  const bool lost = !host_->line().lost.empty();
  if (!std::exchange(lost_, lost) || lost) return;
  const auto ask_again = [](auto&... answers) { (answers.about.reset(), ...); };
  ask_again(devices_, models_, heads_, drafts_, fits_, path_, default_draft_, memory_, tokens_);
}

void HostAnswers::run_later(std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

bool HostAnswers::waiting() const {
  std::lock_guard lock(mutex_);
  return busy_ || !tasks_.empty();
}

void HostAnswers::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return quit_ || !tasks_.empty(); });
    if (quit_) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    busy_ = true;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    busy_ = false;  // before it wakes: the frame then finds nothing under way
    lock.unlock();
    wake_();
    lock.lock();
  }
}

template <class Value, class Question>
const Value& HostAnswers::look(Answer<Value>& answer, const std::string& about, bool again,
                               Keep keep, bool at_once, Question question) {
  const bool other = answer.about != about;
  if (other && keep == Keep::kNo) answer.value = {};
  if (other) answer.coming.reset();  // it tells of something else
  if (answer.coming && answer.coming->done) {
    answer.value = std::move(answer.coming->value);
    answer.coming.reset();
  }
  if (answer.coming || (!other && !again)) return answer.value;
  answer.about = about;
  // An answer that cannot be given is empty; loading or starting says what is wrong.
  const auto answer_now = [question = std::move(question)](const RunHost& host) {
    try {
      return Value(question(host));
    } catch (const std::exception&) {
      return Value{};
    }
  };
  if (at_once) {
    answer.value = answer_now(*host_);
    return answer.value;
  }
  auto coming = std::make_shared<Reply<Value>>();
  answer.coming = coming;
  run_later([coming, answer_now, host = host_] {
    coming->value = answer_now(*host);
    coming->done = true;
  });
  return answer.value;
}

const std::vector<DeviceInfo>& HostAnswers::devices() {
  return look(devices_, "", false, Keep::kYes, is_here(),
              [](const RunHost& host) { return host.devices(); });
}
const std::vector<CatalogEntry>& HostAnswers::models(bool again) {
  return look(models_, "", again, Keep::kYes, is_here(),
              [](const RunHost& host) { return host.models(); });
}
const std::vector<CatalogEntry>& HostAnswers::draft_heads(bool again) {
  return look(heads_, "", again, Keep::kYes, is_here(),
              [](const RunHost& host) { return host.draft_heads(); });
}
const std::vector<CatalogEntry>& HostAnswers::draft_models(bool again) {
  return look(drafts_, "", again, Keep::kYes, is_here(),
              [](const RunHost& host) { return host.draft_models(); });
}

const WhatFits& HostAnswers::what_fits(const RunRequest& request, bool again) {
  return look(
      fits_, place_text(request), again, Keep::kYes, /*at_once=*/false,
      [asked = without_texts(request)](const RunHost& host) { return host.what_fits(asked); });
}

const std::string& HostAnswers::model_path(const std::string& model) {
  return look(path_, model, false, Keep::kNo, is_here(),
              [model](const RunHost& host) { return host.model_path(model); });
}

const std::string& HostAnswers::drafts_by_default(const RunRequest& request) {
  return look(default_draft_, request.method + "\n" + request.model, false, Keep::kNo, is_here(),
              [asked = without_texts(request)](const RunHost& host) {
                return host.drafts_by_default(asked);
              });
}

const std::optional<RunMemory>& HostAnswers::memory_of(const RunRequest& request,
                                                       std::int64_t prompt_tokens, bool again) {
  const std::string about =
      request.model + "\n" + place_text(request) + request.method + dump_json(request.settings) +
      "\n" + std::to_string(request.max_new_tokens) + " " + std::to_string(prompt_tokens) +
      (host_->status()->model ? "loaded" : "");
  return look(memory_, about, again, Keep::kYes, is_here(),
              [asked = without_texts(request), prompt_tokens](const RunHost& host) {
                return std::optional(host.memory_of(asked, prompt_tokens));
              });
}

const std::optional<std::vector<std::int32_t>>& HostAnswers::tokens_of(const std::string& text) {
  const std::shared_ptr<const Tokenizer> tokenizer = host_->status()->tokenizer;
  const std::string about =
      std::to_string(reinterpret_cast<std::uintptr_t>(tokenizer.get())) + "\n" + text;
  return look(tokens_, about, false, Keep::kNo, is_here(),
              [text, tokenizer](const RunHost&) -> std::optional<std::vector<std::int32_t>> {
                return following_tokens(tokenizer.get(), text);
              });
}

}  // namespace triescope::app

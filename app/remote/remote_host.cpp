#include "app/remote/remote_host.h"

#include <utility>

#include "app/remote/remote_link.h"
#include "app/remote/served_answers.h"
#include "core/base/error.h"

namespace triescope::app {

RemoteHost::RemoteHost(RemoteSetup setup) : impl_(std::make_shared<Impl>(std::move(setup))) {
  impl_->publish();
  impl_->thread = std::thread([impl = impl_.get()] { impl->loop(); });
}

RemoteHost::~RemoteHost() {
  bool ends = false;
  {
    std::lock_guard lock(impl_->mutex);
    ends = impl_->connected && !impl_->watch && !impl_->keeps;
  }
  if (ends) impl_->send({.kind = AskKind::kEnd});
  {
    std::unique_lock lock(impl_->mutex);
    // The other end closes the line once it has read that.
    if (ends)
      impl_->changed.wait_for(lock, std::chrono::seconds(2), [&] { return !impl_->connected; });
    impl_->quit = true;
    if (impl_->line) impl_->line->shut();
    impl_->changed.notify_all();
  }
  impl_->thread.join();
}

void RemoteHost::wait_connected() {
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait(lock, [&] { return impl_->connected || impl_->attempts > 0; });
  if (!impl_->connected) throw Error(ErrorCode::kIoError, impl_->lost);
}

void RemoteHost::keep() {
  std::lock_guard lock(impl_->mutex);
  impl_->keeps = true;
}

bool RemoteHost::connected() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->connected;
}

std::string RemoteHost::session() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->session;
}

nlohmann::json RemoteHost::report(const std::string& name, const nlohmann::json& about,
                                  std::chrono::milliseconds patience) {
  return impl_->ask("report " + name, about, patience);
}

std::shared_ptr<const LiveStatus> RemoteHost::status() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->published;
}

// Those that the other machine counts, and those that have not arrived there.
std::uint64_t RemoteHost::commands_sent() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->server_sent + impl_->unseen.size();
}

namespace {

// The list that the other machine answers with; empty where it does not answer.
template <class Item, class Question>
std::vector<Item> list_of(Question question) {
  try {
    return value_of<std::vector<Item>>(question(), "list");
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::vector<DeviceInfo> RemoteHost::devices() const {
  return list_of<DeviceInfo>([&] { return impl_->ask(kAskDevices, {}, impl_->setup.patience); });
}
std::vector<CatalogEntry> RemoteHost::models() const {
  return list_of<CatalogEntry>([&] { return impl_->ask(kAskModels, {}, impl_->setup.patience); });
}
std::vector<CatalogEntry> RemoteHost::draft_heads() const {
  return list_of<CatalogEntry>([&] { return impl_->ask(kAskHeads, {}, impl_->setup.patience); });
}
std::vector<CatalogEntry> RemoteHost::draft_models() const {
  return list_of<CatalogEntry>([&] { return impl_->ask(kAskDrafts, {}, impl_->setup.patience); });
}

std::string RemoteHost::model_path(const std::string& model) const {
  return value_of<std::string>(impl_->ask(kAskModelPath, {{"model", model}}, impl_->setup.patience),
                               kAskModelPath);
}

std::string RemoteHost::drafts_by_default(const RunRequest& request) const {
  return value_of<std::string>(
      impl_->ask(kAskDefaultDraft, {{"request", json_of(request)}}, impl_->setup.patience),
      kAskDefaultDraft);
}

RunMemory RemoteHost::memory_of(const RunRequest& request, std::int64_t prompt_tokens) const {
  return value_of<RunMemory>(
      impl_->ask(kAskMemory, {{"request", json_of(request)}, {"prompt_tokens", prompt_tokens}},
                 impl_->setup.patience),
      kAskMemory);
}

WhatFits RemoteHost::what_fits(const RunRequest& request) const {
  return value_of<WhatFits>(
      impl_->ask(kAskFits, {{"request", json_of(request)}}, impl_->setup.patience), kAskFits);
}

PromptCount RemoteHost::count_prompt(const RunRequest& request) const {
  return value_of<PromptCount>(
      impl_->ask(kAskCount, {{"request", json_of(request)}}, impl_->setup.patience), kAskCount);
}

void RemoteHost::load(const std::string& model, const std::string& device, DType dtype,
                      std::optional<DType> kv_dtype) {
  impl_->send({.kind = AskKind::kLoad,
               .model = model,
               .device = device,
               .dtype = dtype,
               .kv_dtype = kv_dtype});
}
void RemoteHost::start(const RunRequest& request, const std::string& capture_path,
                       bool run_at_once) {
  impl_->send({.kind = AskKind::kStart, .request = request, .run_at_once = run_at_once},
              capture_path);
}
void RemoteHost::measure(const RunRequest& request, const std::string& capture_path,
                         const MeasureOptions& options) {
  impl_->send({.kind = AskKind::kMeasure,
               .request = request,
               .level = options.level,
               .threads = options.threads},
              capture_path);
}
void RemoteHost::step() { impl_->send({.kind = AskKind::kStep}); }
void RemoteHost::step_phase() { impl_->send({.kind = AskKind::kPhase}); }
void RemoteHost::run() { impl_->send({.kind = AskKind::kRun}); }
void RemoteHost::run_to(capture::Tick tick) {
  impl_->send({.kind = AskKind::kRunTo, .tick = tick});
}
void RemoteHost::try_again() { impl_->send({.kind = AskKind::kTryAgain}); }
void RemoteHost::branch(std::int32_t node, std::int32_t token, const std::string& capture_path) {
  impl_->send({.kind = AskKind::kBranch, .node = node, .token = token}, capture_path);
}
void RemoteHost::set_breakpoints(std::vector<Breakpoint> breakpoints) {
  impl_->send({.kind = AskKind::kBreakpoints, .breakpoints = std::move(breakpoints)});
}
void RemoteHost::pause() { impl_->send({.kind = AskKind::kPause}); }
void RemoteHost::stop() { impl_->send({.kind = AskKind::kStop}); }
void RemoteHost::cancel() { impl_->send({.kind = AskKind::kCancel}); }

HostLine RemoteHost::line() const {
  std::lock_guard lock(impl_->mutex);
  return {impl_->setup.where, impl_->lost, impl_->watch};
}

void RemoteHost::hang_up() {
  std::lock_guard lock(impl_->mutex);
  impl_->hung_up = true;
  impl_->changed.notify_all();
}

void RemoteHost::reconnect() {
  std::lock_guard lock(impl_->mutex);
  if (impl_->connected) return;
  impl_->wanted = true;
  impl_->changed.notify_all();
}

}  // namespace triescope::app

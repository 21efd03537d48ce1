#include "app/session/loaded_model.h"

#include "app/session/catalog.h"
#include "app/session/device_choice.h"
#include "app/session/memory_check.h"
#include "core/base/error.h"
#include "core/files/draft_head/head_file.h"
#include "core/methods/registry.h"
#include "core/model/device_memory.h"
#include "core/model/memory_need.h"
#include "core/text/tokenizer/id_tokenizer.h"

namespace triescope::app {

bool LoadedModel::is(const std::string& wanted_path, const LoadOptions& wanted) const {
  return model && path == wanted_path && options.device == wanted.device &&
         options.dtype == wanted.dtype && options.kv_dtype == wanted.kv_dtype &&
         options.threads == wanted.threads;
}

void LoadedModel::load(const std::string& new_path, const LoadOptions& new_options,
                       const ProgressSink& progress, std::stop_token stop,
                       const std::function<void()>& before_free) {
  auto new_tokenizer = open_tokenizer(new_path);
  const auto free_old = [&] {
    if (before_free) before_free();
    model.reset();
    tokenizer.reset();
  };
  const ModelInfo info = inspect_model(new_path);
  const bool same_device = model && options.device == new_options.device;
  std::int64_t free = free_memory(new_options.device);
  if (free >= 0 && same_device) free += kept_in_reserve(model->device_memory());
  const bool room_for_both = why_it_does_not_fit(info, new_options, free).empty();
  if (!room_for_both) {
    const std::int64_t held = same_device ? memory_need(model->info(), options).weights : 0;
    const std::string why = why_it_does_not_fit(info, new_options, free + held);
    if (!why.empty()) throw Error(ErrorCode::kOutOfMemory, why);
    free_old();
  }
  auto new_model = loader(new_path, new_options, progress, stop);
  if (room_for_both) free_old();
  model = std::move(new_model);
  tokenizer = std::move(new_tokenizer);
  path = new_path;
  options = new_options;
}

std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& path) {
  try {
    return load_tokenizer(path);
  } catch (const Error&) {
    if (has_tokenizer(path)) throw;  // there is a tokenizer, and it is refused
  }
  const ModelInfo info = inspect_model(path);
  return make_id_tokenizer(path, info.vocab_size, info.bos_token_id, info.eos_token_ids);
}

namespace {

// Whether the method takes a head out of this path: a head's own file, or a model that brings one.
bool holds_head_for(const MethodInfo& method, const std::string& path) {
  return formats::is_draft_head(path) ||
         (!method.takes_draft_model() && formats::brings_draft_head(path));
}

// The companion's path, after checking that its kind is the one that the method needs.
std::string checked_path(const MethodInfo& method, const std::string& name) {
  std::string path = resolve_draft(name);
  const bool is_head = holds_head_for(method, path);
  if (is_head ? method.takes_draft_head() : method.takes_draft_model()) return path;
  std::string takers;
  for (const MethodInfo& other : methods())
    if (is_head ? other.needs_draft_head() : other.needs_draft_model())
      takers += (takers.empty() ? "" : is_head ? ", " : " or ") + other.name;
  throw Error(ErrorCode::kInvalidArgument,
              path + ": method " + method.name + " expects a " + to_string(method.needs) +
                  ", found a draft " + (is_head ? "head" : "model") + ", which --method " + takers +
                  (is_head ? " take, by its kind" : " takes"));
}

// The loaded head stays until the new one is in; it is freed first only if there is room for just
// one.
void load_head(const MethodInfo& method, const std::string& path, const LoadedModel& target,
               LoadedDraft& draft, const std::function<void()>& before_free) {
  const auto free_old = [&] {
    if (before_free) before_free();
    draft.head.reset();
  };
  bool room_for_both = true;
  const auto check = [&](const formats::HeadFile& file) {
    check_head_kind(method, file.kind());
    const std::string& device = target.options.device;
    const std::int64_t need = head_need(file.parameters(), file.file_bytes(), target.options);
    std::int64_t free = free_memory(device);
    if (free >= 0) free += kept_in_reserve(target.model->device_memory());
    room_for_both = why_head_does_not_fit(path, need, device, free).empty();
    if (room_for_both) return;
    const bool beside = draft.head && draft.head_of == target.model.get();
    const std::int64_t held =
        beside ? head_need(draft.head->parameters, draft.head->file_bytes, target.options) : 0;
    const std::string why = why_head_does_not_fit(path, need, device, free + held);
    if (!why.empty()) throw Error(ErrorCode::kOutOfMemory, why);
    free_old();
  };
  auto head = load_draft_head(path, *target.model, target.options.threads, check);
  if (room_for_both) free_old();
  draft.head = std::move(head);
  draft.head_of = target.model.get();
}

}  // namespace

DraftWith draft_for(const RunRequest& request, const LoadedModel& target, LoadedDraft& draft,
                    const ProgressSink& progress, std::stop_token stop,
                    const std::function<void()>& before_free) {
  const MethodInfo& method = find_method(request.method);
  if (!method.takes_draft_model() && !method.takes_draft_head()) return {};
  const std::string named =
      request.draft_model.empty() ? default_draft(method, target.path) : request.draft_model;
  if (named.empty()) return {};
  const std::string path = checked_path(method, named);
  if (holds_head_for(method, path)) {
    if (!draft.head || draft.head->path != path || draft.head_of != target.model.get())
      load_head(method, path, target, draft, before_free);
    check_head_kind(method, draft.head->config.kind);
    return {.head = draft.head.get()};
  }
  const LoadOptions options = draft_options(request, target.options);
  if (target.is(path, options)) return {target.model.get(), target.tokenizer.get()};
  if (!draft.is(path, options)) draft.load(path, options, progress, stop, before_free);
  if (method.any_vocabulary ||
      (target.tokenizer->encodes_text() && draft.tokenizer->encodes_text()))
    return {draft.model.get(), draft.tokenizer.get()};
  const ModelInfo &drafts = draft.model->info(), &verifies = target.model->info();
  if (drafts.vocab_size != verifies.vocab_size)
    throw Error(ErrorCode::kNotSupported,
                "draft model " + drafts.name + ": expected the vocabulary of " + verifies.name +
                    ", " + std::to_string(verifies.vocab_size) + " tokens (" +
                    (draft.tokenizer->encodes_text() ? verifies.name : drafts.name) +
                    " has no tokenizer to compare them by); found " +
                    std::to_string(drafts.vocab_size));
  return {draft.model.get(), target.tokenizer.get()};  // same ids, so the same pieces
}

}  // namespace triescope::app

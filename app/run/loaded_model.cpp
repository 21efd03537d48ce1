#include "app/run/loaded_model.h"

#include "app/run/catalog.h"
#include "core/base/error.h"
#include "core/methods/registry.h"
#include "core/tokenizer/id_tokenizer.h"

namespace triescope::app {

bool LoadedModel::is(const std::string& wanted_path, const LoadOptions& wanted) const {
  return model && path == wanted_path && options.device == wanted.device &&
         options.dtype == wanted.dtype && options.threads == wanted.threads;
}

void LoadedModel::load(const std::string& new_path, const LoadOptions& new_options,
                       const ProgressSink& progress, std::stop_token stop,
                       const std::function<void()>& before_free) {
  auto new_tokenizer = open_tokenizer(new_path);
  if (before_free) before_free();
  model.reset();
  tokenizer.reset();
  model = load_model(new_path, new_options, progress, stop);
  tokenizer = std::move(new_tokenizer);
  path = new_path;
  options = new_options;
}

std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& path) {
  try {
    return load_tokenizer(path);
  } catch (const Error&) {
    if (has_tokenizer(path)) throw;  // there is one, and it is refused
  }
  const ModelInfo info = inspect_model(path);
  return make_id_tokenizer(path, info.vocab_size, info.bos_token_id, info.eos_token_ids);
}

DraftWith draft_for(const RunRequest& request, const LoadedModel& target, LoadedModel& draft,
                    const ProgressSink& progress, std::stop_token stop,
                    const std::function<void()>& before_free) {
  if (request.draft_model.empty() || !find_method(request.method).needs_draft_model()) return {};
  const std::string path = resolve_model(request.draft_model);
  if (path == target.path) return {target.model.get(), target.tokenizer.get()};
  if (!draft.is(path, target.options))
    draft.load(path, target.options, progress, stop, before_free);
  if (target.tokenizer->encodes_text() && draft.tokenizer->encodes_text())
    return {draft.model.get(), draft.tokenizer.get()};
  const ModelInfo &drafts = draft.model->info(), &verifies = target.model->info();
  if (drafts.vocab_size != verifies.vocab_size)
    throw Error(ErrorCode::kNotSupported,
                "draft model " + drafts.name + ": expected the vocabulary of " + verifies.name +
                    ", " + std::to_string(verifies.vocab_size) + " tokens (" +
                    (draft.tokenizer->encodes_text() ? verifies.name : drafts.name) +
                    " has no tokenizer to compare them by); found " +
                    std::to_string(drafts.vocab_size));
  return {draft.model.get(), target.tokenizer.get()};  // the same ids, so the same pieces
}

}  // namespace triescope::app

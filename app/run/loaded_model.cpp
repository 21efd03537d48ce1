#include "app/run/loaded_model.h"

#include "app/run/catalog.h"
#include "core/methods/registry.h"

namespace triescope::app {

bool LoadedModel::is(const std::string& wanted_path, const LoadOptions& wanted) const {
  return model && path == wanted_path && options.device == wanted.device &&
         options.dtype == wanted.dtype && options.threads == wanted.threads;
}

void LoadedModel::load(const std::string& new_path, const LoadOptions& new_options,
                       const ProgressSink& progress, std::stop_token stop,
                       const std::function<void()>& before_free) {
  auto new_tokenizer = load_tokenizer(new_path);
  if (before_free) before_free();
  model.reset();
  tokenizer.reset();
  model = load_model(new_path, new_options, progress, stop);
  tokenizer = std::move(new_tokenizer);
  path = new_path;
  options = new_options;
}

DraftWith draft_for(const RunRequest& request, const LoadedModel& target, LoadedModel& draft,
                    const ProgressSink& progress, std::stop_token stop,
                    const std::function<void()>& before_free) {
  if (request.draft_model.empty() || !find_method(request.method).needs_draft_model()) return {};
  const std::string path = resolve_model(request.draft_model);
  if (path == target.path) return {target.model.get(), target.tokenizer.get()};
  if (!draft.is(path, target.options))
    draft.load(path, target.options, progress, stop, before_free);
  return {draft.model.get(), draft.tokenizer.get()};
}

}  // namespace triescope::app

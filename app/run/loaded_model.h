// LoadedModel: a model with its tokenizer, as a run needs them together, and where they came from.
// A model that comes without a tokenizer gets one that shows ids (core/tokenizer/id_tokenizer.h).
// Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "app/run/request.h"
#include "core/base/log.h"
#include "core/heads/draft_head.h"
#include "core/model/model.h"
#include "core/tokenizer/tokenizer.h"

namespace triescope::app {

// How a file becomes a model: load_model(), or what a test puts in front of it.
using ModelLoader =
    std::function<std::unique_ptr<Model>(const std::string& path, const LoadOptions& options,
                                         const ProgressSink& progress, std::stop_token stop)>;

struct LoadedModel {
  ModelLoader loader = load_model;
  std::string path;
  LoadOptions options;
  std::unique_ptr<Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;  // shared: another thread may count with it

  // Whether a file is loaded, for that device, dtypes and number of threads.
  bool is(const std::string& wanted_path, const LoadOptions& wanted) const;
  // What was loaded before stays until the new model is in, or for good where that fails; only where
  // there is room for one of them it is freed first. `before_free`: the last moment at which the old
  // one is there. Errors: those of open_tokenizer, inspect_model and load_model; kOutOfMemory: there
  // is no room even without the old one, nothing was read or freed.
  void load(const std::string& new_path, const LoadOptions& new_options,
            const ProgressSink& progress, std::stop_token stop,
            const std::function<void()>& before_free = {});
};

// The tokenizer of a model; one that shows ids where the model has none. Errors: those of
// load_tokenizer, and of inspect_model where there is no tokenizer.
std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& path);

// What drafts beside a target: a draft model or a draft head. A head borrows the target it was
// loaded for: reset it before that one goes.
struct LoadedDraft : LoadedModel {
  std::unique_ptr<DraftHead> head;
  const Model* head_of = nullptr;  // the target
};

// The companion of a request whose target is loaded, by what its method needs: nothing if it needs
// none, or if none is named and default_draft() finds none; a draft head; a draft model, which is
// the target itself if the two are the same file on one device. Else
// `draft`, loaded with draft_options() (device_choice.h) if it is not loaded yet. `before_free` as in
// LoadedModel::load. Where one of the two has no tokenizer, nothing says that an id means the same
// to both; they are taken to agree if their vocabularies have equally many tokens. Errors: those of
// resolve_draft, LoadedModel::load and load_draft_head; kNotSupported: vocabularies of different
// sizes, without a tokenizer; kInvalidArgument: the other kind of companion, or a head of another
// kind: names the method that takes it.
DraftWith draft_for(const RunRequest& request, const LoadedModel& target, LoadedDraft& draft,
                    const ProgressSink& progress, std::stop_token stop,
                    const std::function<void()>& before_free = {});

}  // namespace triescope::app

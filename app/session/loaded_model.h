// LoadedModel: a model with its tokenizer, as a run needs them, and where they came from. A model
// that comes without a tokenizer gets one that shows ids (core/text/tokenizer/id_tokenizer.h). Not
// thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "app/session/request.h"
#include "core/base/log.h"
#include "core/model/heads/draft_head.h"
#include "core/model/model.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::app {

// Turns a file into a model: load_model(), or what a test uses in its place.
using ModelLoader =
    std::function<std::unique_ptr<Model>(const std::string& path, const LoadOptions& options,
                                         const ProgressSink& progress, std::stop_token stop)>;

struct LoadedModel {
  ModelLoader loader = load_model;
  std::string path;
  LoadOptions options;
  std::unique_ptr<Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;  // shared: another thread may count with it

  // Whether this file is loaded, for that device, dtypes and number of threads.
  bool is(const std::string& wanted_path, const LoadOptions& wanted) const;
  // The previous model stays until the new one is in, and for good if loading fails; it is freed
  // first only if there is room for just one of them. `before_free` is called at the last moment at
  // which the previous one exists. Errors: those of open_tokenizer, inspect_model and load_model;
  // kOutOfMemory: there is no room even without the previous one, and nothing was read or freed.
  void load(const std::string& new_path, const LoadOptions& new_options,
            const ProgressSink& progress, std::stop_token stop,
            const std::function<void()>& before_free = {});
};

// A model's tokenizer, or one that shows ids if the model has none. Errors: those of
// load_tokenizer, and of inspect_model if there is no tokenizer.
std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& path);

// The companion beside a target: a draft model or a draft head. A head borrows the target for which
// it was loaded: reset it before that target goes.
struct LoadedDraft : LoadedModel {
  std::unique_ptr<DraftHead> head;
  const Model* head_of = nullptr;  // its target
};

// The companion of a request whose target is loaded, by what its method needs: nothing, if the
// method needs none, or if none is named and default_draft() finds none; a draft head; or a draft
// model, which is the target itself if the two are the same file on one device. Otherwise it is
// `draft`, loaded with draft_options() (device_choice.h) unless it is loaded already. `before_free`
// is as in LoadedModel::load. If one of the two has no tokenizer, nothing tells that an id means
// the same to both; they are assumed to agree if their vocabularies have equally many tokens.
// Errors: those of resolve_draft, LoadedModel::load and load_draft_head; kNotSupported:
// vocabularies of different sizes, without a tokenizer; kInvalidArgument: the other kind of
// companion, or a head of another kind: names the method that takes it.
DraftWith draft_for(const RunRequest& request, const LoadedModel& target, LoadedDraft& draft,
                    const ProgressSink& progress, std::stop_token stop,
                    const std::function<void()>& before_free = {});

}  // namespace triescope::app

#include "app/run/record_run.h"

#include "app/run/catalog.h"
#include "app/run/loaded_model.h"
#include "core/base/error.h"
#include "core/capture/writer.h"

namespace triescope::app {

void record_run(const RunRequest& request, const std::string& path, const ProgressSink& progress,
                std::stop_token stop) {
  check_request(request);
  LoadOptions load;
  load.device = request.device;
  load.dtype = request.dtype;
  load.kv_dtype = request.kv_dtype;
  LoadedModel target;
  LoadedDraft draft;
  target.load(resolve_model(request.model), load, progress, stop);
  const DraftWith draft_with = draft_for(request, target, draft, progress, stop);
  RunConfig config = make_run_config(request, *target.tokenizer);
  config.draft = draft_with;
  const auto recorder = capture::open_recorder(path, {});
  Session session(*target.model, *target.tokenizer, std::move(config), *recorder);
  while (!session.done()) {
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "interrupted");
    session.step();
  }
}

}  // namespace triescope::app

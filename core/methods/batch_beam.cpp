// Conventional batch beam search: the same search as beam.cpp's, but every beam has a whole KV
// cache of its own.
#include "core/methods/search_methods.h"
#include "core/verify/beam.h"

namespace triescope {

MethodInfo batch_beam_method() {
  MethodInfo info;
  info.name = "batch_beam";
  info.title = "Batch beam search";
  info.summary =
      "Conventional beam search: every beam holds the prompt and its own past, "
      "and all caches are copied again after each step. The baseline for memory and time.";
  info.paper = "transformers 5.17.0, generation/utils.py, _beam_search";
  info.kind = capture::RunKind::kBeams;
  info.width_setting = kNumBeams;
  info.parameters = beam_parameters();
  info.kv_policies = {KvPolicyKind::kBatch};
  info.make = [](const RunContext& run) {
    return MethodParts{nullptr, std::make_unique<BeamAcceptor>(run)};
  };
  return info;
}

}  // namespace triescope

// Trie beam search: the beams share one tree of KV, so a token that several beams have in common is
// held once.
#include "core/verify/beam.h"
#include "core/methods/search_methods.h"

namespace triescope {

MethodInfo beam_method() {
  MethodInfo info;
  info.name = "beam";
  info.title = "Trie beam search";
  info.summary =
      "Beam search whose beams share their common past in one token tree. The same texts "
      "as batch beam search and as transformers' generate(), in a fraction of its KV "
      "memory.";
  info.paper =
      "Efficient Beam Search for Large Language Models Using Trie-Based Decoding, 2025, "
      "Algorithms 1-3; pruning: Freitag and Al-Onaizan, Beam Search Strategies for "
      "Neural Machine Translation, 2017";
  info.kind = capture::RunKind::kBeams;
  info.width_setting = kNumBeams;
  info.parameters = beam_parameters();
  info.kv_policies = {KvPolicyKind::kRecycle, KvPolicyKind::kCompact, KvPolicyKind::kKeep,
                      KvPolicyKind::kBatch};
  info.make = [](const RunContext& run) {
    return MethodParts{nullptr, std::make_unique<BeamAcceptor>(run)};
  };
  return info;
}

}  // namespace triescope

// Speculative beam search: drafts below all live beams go through the target in one forward, and the search
// goes on level by level while every beam of a level has a row there. The decisions are those of plain beam
// search on the same rows, so the returned texts are the same; what drafts change is how many levels a forward
// decides. The first level that leaves the forest is still known.
//
// With do_sample it is beam sampling instead (core/verify/beam_sample.h, beam_draws.h): plain beam sampling's
// law.
//
// Drafted by a draft model, a draft head or the text (beam_guide.h), of fixed or dynamic width
// (beam_forest.h). Dynamic width: Qin et al., "Dynamic-Width Speculative Beam Decoding for Efficient LLM
// Inference", AAAI 2025.
#include <memory>
#include <utility>

#include "core/methods/beam_draws.h"
#include "core/methods/beam_forest.h"
#include "core/methods/search_methods.h"
#include "core/verify/beam.h"

namespace triescope {

MethodInfo speculative_beam_method() {
  MethodInfo info;
  info.name = "speculative_beam";
  info.title = "Speculative beam search";
  info.summary =
      "Drafts how all beams may go on, checks the whole forest in one forward, and takes as many levels of the "
      "search as lie in it. The same texts as beam search in fewer forwards.";
  info.paper =
      "Dynamic-Width Speculative Beam Decoding for Efficient LLM Inference, Qin et al., AAAI 2025 (drafts "
      "below beams)";
  info.kind = capture::RunKind::kBeams;
  info.drafter_name = "beam drafts";
  info.drafter_title = "The drafter";
  info.width_setting = kNumBeams;
  info.takes_companion = true;
  info.heads = {formats::HeadKind::kEagle, formats::HeadKind::kEagle3};
  info.parameters = beam_forest_parameters();
  for (auto& p : beam_sample_parameters()) info.parameters.push_back(std::move(p));
  for (auto& p : beam_parameters()) info.parameters.push_back(std::move(p));
  info.make = [](const RunContext& run) {
    if (run.settings.boolean("do_sample")) {
      const auto draws = std::make_shared<BeamDraws>();
      return MethodParts{make_beam_draws(run, make_beam_guide(run), draws),
                         std::make_unique<BeamSampleAcceptor>(run, draws)};
    }
    return MethodParts{make_beam_forest(run, make_beam_guide(run)),
                       std::make_unique<BeamAcceptor>(run)};
  };
  return info;
}

}  // namespace triescope

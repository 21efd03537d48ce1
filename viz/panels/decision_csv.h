// The decision panel as rows of one table: beams' candidates with the cut and the finished
// hypotheses, drafts with their verdicts, the draw of a token, and the nodes that the step decided,
// with the reason. A column without a value is empty.
#pragma once

#include <span>
#include <string>

#include "core/capture/capture.h"
#include "viz/draw/scene.h"
#include "viz/panels/verdict_list.h"
#include "viz/query/beam_decision.h"
#include "viz/query/draw_decision.h"

namespace triescope::viz {

// step,node,parent,text,source,verdict,p,q,u,rank,score,gap,replacement,reason,table,token,p_final,
// stages,from,to,final_score,depth,drafter_q,drafter_rank,drafter_score,drafter_reason.
// `rank` counts from 1; `score` is Σ log p; `gap` is below 0 below the cut;
// `p_final` is p′; `stages` reads "temperature 0.1200; top-k 0.1300"; u in [from, to) draws the token.
// `drafter_…`: the token's probability and place in its drafter's own row, Σ log q of its path, and
// why it was not sent.
std::string decision_csv_head();
std::string verdict_csv(std::span<const capture::VerdictRow> rows, const std::string& table,
                        const Scene& scene, const DrafterViews& drafters = {});
std::string beam_csv(const BeamDecision& decision, const Scene& scene);
std::string draw_csv(const DrawDecision& decision, const Scene& scene);

}  // namespace triescope::viz

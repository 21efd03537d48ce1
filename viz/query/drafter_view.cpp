#include "viz/query/drafter_view.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "core/base/base64.h"
#include "core/capture/run_fields.h"
#include "viz/query/step_drafts.h"

namespace triescope::viz {
namespace {

using capture::Verdict;
using capture::Whose;

constexpr float kRounding = 1e-4f;  // tolerance for sums of logarithms

void read_row(const capture::Capture& capture, std::int32_t step, capture::Tick cursor,
              const capture::NodeRow& node, DrafterView& view) {
  for (const Whose whose : {Whose::kDraft, Whose::kHead}) {
    const auto rows = capture.candidates(node.parent, cursor, whose);
    if (rows.empty() || capture::step_of(rows.front().tick) != step) continue;
    view.has_row = true;
    view.whose = whose;
    view.listed = static_cast<std::int32_t>(rows.size());
    for (const capture::CandidateRow& row : rows) {
      view.proposed += row.chosen;
      if (row.token == node.token) view.rank = row.rank, view.q = std::exp(row.logprob);
    }
    return;
  }
}

}  // namespace

std::map<std::int32_t, DrafterView> drafter_views(const capture::Capture& capture,
                                                  std::int32_t step, capture::Tick cursor) {
  return drafter_views(capture, step, cursor, DraftVocabulary(capture.run()));
}

std::map<std::int32_t, DrafterView> drafter_views(const capture::Capture& capture,
                                                  std::int32_t step, capture::Tick cursor,
                                                  const DraftVocabulary& vocabulary) {
  std::map<std::int32_t, DrafterView> views;
  std::set<std::int32_t> withdrawn;
  for (const capture::VerdictRow& row : capture.verdicts(step)) {
    if (row.tick >= cursor) break;
    views[row.node];
    if (row.verdict == Verdict::kWithdrawn) withdrawn.insert(row.node);
  }
  if (views.empty()) return views;
  float least_sent = std::numeric_limits<float>::infinity(), best_withdrawn = -least_sent;
  bool all_scored = true;
  for (const StepDraft& draft : step_drafts(capture, step, cursor)) {
    const bool out = withdrawn.contains(draft.node);
    all_scored = all_scored && !std::isnan(draft.score);
    if (out)
      best_withdrawn = std::max(best_withdrawn, draft.score);
    else
      least_sent = std::min(least_sent, draft.score);
    const auto view = views.find(draft.node);
    if (view == views.end()) continue;
    view->second.is_draft = true;
    view->second.is_withdrawn = out;
    view->second.score = draft.score;
  }
  const bool ranked = all_scored && !withdrawn.empty() && std::isfinite(least_sent) &&
                      best_withdrawn <= least_sent + kRounding;
  for (auto& [node, view] : views) {
    if (node <= 0) continue;
    const capture::NodeRow& row = capture.nodes()[static_cast<std::size_t>(node)];
    read_row(capture, step, cursor, row, view);
    if (!vocabulary.has(row.token)) view.unknown_of = vocabulary.size();
    if (ranked) view.least_sent = least_sent;
  }
  return views;
}

std::string drafter_name(Whose whose) {
  return whose == Whose::kDraft ? "the draft model" : "the head";
}

DraftVocabulary::DraftVocabulary(const capture::RunInfo& run) {
  const auto draft = capture::RunFields(run.model_json).part("draft");
  bits_ = from_base64(draft.text("vocabulary")).value_or("");
  for (const char byte : bits_) size_ += std::popcount(static_cast<unsigned char>(byte));
}

bool DraftVocabulary::has(std::int32_t token) const {
  if (size_ == 0) return true;
  const auto at = static_cast<std::size_t>(token);
  return token >= 0 && at / 8 < bits_.size() &&
         (static_cast<unsigned char>(bits_[at / 8]) >> (at % 8) & 1u) != 0;
}

}  // namespace triescope::viz

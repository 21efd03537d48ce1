#include "viz/query/rejudge.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "viz/query/step_so_far.h"

namespace triescope::viz {
namespace {

RejudgedStep judged_step(const JudgedText& text, const capture::StepRow& row, bool ranked,
                         const RejudgeSettings& settings, const RejudgeSettings& recorded,
                         std::int32_t& next) {
  const StepProposals step(text.capture(), row.step, ranked);
  RejudgedStep out{.step = row.step,
                   .recorded_sent = static_cast<std::int32_t>(step.sent.size()),
                   .recorded_accepted = row.accepted,
                   .recorded_tokens = row.emitted};
  next = -1;
  if (step.frontier >= 0)
    out.position = text.capture().nodes()[static_cast<std::size_t>(step.frontier)].depth;
  const auto sent = step.to_send(settings);
  if (!sent) {
    out.not_known = NotKnown::kDrafterRow;
    return out;
  }
  out.sent = static_cast<std::int32_t>(sent->size());
  const JudgedDrafts judged = judge_drafts(text, step, row.step, *sent, settings, recorded);
  out.not_known = judged.not_known;
  if (out.not_known != NotKnown::kNothing) return out;
  out.accepted = static_cast<std::int32_t>(judged.path.size());
  out.tokens = judged.tokens;
  out.same_text = judged.same_text;
  const std::int32_t last = judged.path.empty() ? step.frontier : judged.path.back();
  next = text.ends(last) ? last : text.next(last);
  return out;
}

}  // namespace

Rejudged rejudge(const capture::Capture& capture, const RejudgeSettings& settings,
                 capture::Tick cursor) {
  if (capture.run().kind == capture::RunKind::kBeams)
    throw Error(ErrorCode::kInvalidArgument,
                "expected a run with one text, whose drafts a rule judges; found beams");
  // The text as the last finished step left it.
  const bool in_step = cursor > 0 && capture::phase_of(cursor - 1) != capture::Phase::kObserve;
  const JudgedText text(
      capture,
      in_step ? capture::make_tick(capture::step_of(cursor - 1), capture::Phase::kDraft) : cursor);
  const RejudgeSettings recorded = recorded_settings(capture);
  const bool ranked = ranks_drafts(capture);
  Rejudged all;
  std::map<std::int32_t, std::size_t> step_from;  // by frontier node
  std::vector<std::int32_t> next;                 // by step: the node that it goes on from
  for (const capture::StepRow& row : capture.steps()) {
    if (row.step < 1 || !has_finished(row.step, cursor)) continue;
    std::int32_t goes_on = -1;
    all.steps.push_back(judged_step(text, row, ranked, settings, recorded, goes_on));
    const auto leaves = capture.frontier(row.step - 1);
    if (leaves.size() == 1) step_from.emplace(leaves.front().node, all.steps.size() - 1);
    next.push_back(goes_on);
  }
  for (const RejudgedStep& step : all.steps) {
    all.recorded_tokens += step.recorded_tokens;
    all.recorded_sent += step.recorded_sent;
    all.recorded_accepted += step.recorded_accepted;
    if (step.not_known != NotKnown::kNothing) continue;
    ++all.known;
    all.tokens += step.tokens;
    all.sent += step.sent;
    all.accepted += step.accepted;
  }
  if (!all.steps.empty()) all.end_position = all.steps.front().position;
  for (std::size_t at = 0; at < all.steps.size();) {
    RejudgedStep& step = all.steps[at];
    all.end_step = step.step;
    if (step.not_known != NotKnown::kNothing) {
      all.end = FollowEnd::kNotKnown;
      break;
    }
    step.followed = true;
    ++all.followed;
    all.followed_tokens += step.tokens;
    all.end_position = step.position + step.tokens;
    if (!step.same_text) {
      all.end = FollowEnd::kOtherText;
      break;
    }
    const auto found = step_from.find(next[at]);
    if (found == step_from.end() || found->second <= at) {
      // The run ends here too, or only ours goes on.
      const bool is_last = text.next(next[at]) < 0;
      all.end = is_last ? FollowEnd::kTextEnds : FollowEnd::kNotDrafted;
      break;
    }
    at = found->second;
  }
  return all;
}

std::string follow_text(const Rejudged& rejudged) {
  const std::string forwards = counted(rejudged.followed, "forward");
  const std::string step = "step " + std::to_string(rejudged.end_step);
  switch (rejudged.end) {
    case FollowEnd::kTextEnds:
      return "followed to the end, " + forwards;
    case FollowEnd::kNotDrafted:
      return "followed for " + forwards + "; after " + step +
             " it could not be known: the run never drafted from there";
    case FollowEnd::kOtherText:
      return "followed for " + forwards + "; after " + step +
             " it could not be known: the text differs from there";
    case FollowEnd::kNotKnown:
      for (const RejudgedStep& one : rejudged.steps)
        if (one.step == rejudged.end_step)
          return "followed for " + forwards + "; from " + step +
                 " on it could not be known: " + words_of(one.not_known);
  }
  return "";
}

std::string rejudged_csv(const Rejudged& rejudged) {
  std::ostringstream out;
  out << "step,position,recorded_sent,recorded_accepted,recorded_tokens,sent,accepted,tokens,"
         "same_text,followed,not_known\n";
  for (const RejudgedStep& step : rejudged.steps) {
    out << step.step << ',' << step.position << ',' << step.recorded_sent << ','
        << step.recorded_accepted << ',' << step.recorded_tokens << ',';
    if (step.not_known == NotKnown::kNothing)
      out << step.sent << ',' << step.accepted << ',' << step.tokens << ',' << step.same_text << ','
          << step.followed << ",\n";
    else
      out << ",,,,0,\"" << words_of(step.not_known) << "\"\n";
  }
  return out.str();
}

}  // namespace triescope::viz

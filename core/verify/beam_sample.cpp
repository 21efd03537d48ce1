#include "core/verify/beam_sample.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/base/count_up.h"
#include "core/base/error.h"
#include "core/kernels/row_ops.h"
#include "core/verify/beam.h"
#include "core/verify/beam_candidates.h"
#include "core/verify/beam_width.h"

namespace triescope {

using capture::Reason;
using capture::Source;
using capture::Verdict;

struct BeamSampleAcceptor::Joint {
  std::vector<NodeId> parents;
  std::vector<std::vector<float>> logprobs;  // [vocab] of live parents, else empty
  JointRows p;                               // all sum to 1; empty where the parent is not live
};

BeamSampleAcceptor::BeamSampleAcceptor(const RunContext& run,
                                       std::shared_ptr<const BeamDraws> draws)
    : processors_(run),
      beams_(run.settings.integer(kNumBeams)),
      least_beams_(run.settings.integer("least_beams")),
      returned_(static_cast<std::size_t>(run.settings.integer("num_return_sequences"))),
      candidates_(static_cast<std::size_t>(run.settings.integer("candidates"))),
      dynamic_(run.settings.boolean("dynamic_width")),
      pass_chance_(run.settings.number("pass_chance")),
      pool_(beams_, run.settings.number("length_penalty"),
            early_stopping_from_string(run.settings.text("early_stopping")), run.max_new_tokens),
      draws_(std::move(draws)) {
  for (const char* name : {"least_beams", "num_return_sequences"})
    if (run.settings.integer(name) > beams_)
      throw Error(ErrorCode::kInvalidArgument,
                  std::string(name) + ": expected at most num_beams (" + std::to_string(beams_) +
                      "); found " + std::to_string(run.settings.integer(name)));
  for (const char* name : {"prune_relative", "prune_absolute", "prune_relative_local"})
    if (run.settings.number(name) > 0)
      throw Error(ErrorCode::kInvalidArgument,
                  std::string(name) + ": pruning is for search; expected 0 with do_sample");
}

BeamSampleAcceptor::Joint BeamSampleAcceptor::joint(const StepView& view,
                                                    const BeamDraws::Level* level,
                                                    AcceptResult& result) const {
  Joint out;
  if (level != nullptr) {
    out.parents = level->parents;
  } else {
    for (const Beam& beam : live_) out.parents.push_back(beam.node);
  }
  out.logprobs.resize(out.parents.size());
  out.p.resize(out.parents.size());
  for (const Beam& beam : live_) {
    const auto i =
        static_cast<std::size_t>(std::ranges::find(out.parents, beam.node) - out.parents.begin());
    std::vector<float>& row = out.logprobs[i];
    row.resize(static_cast<std::size_t>(view.run.vocab_size));
    beam_logprobs(view, view.row_of(beam.node), processors_, /*one_beam=*/false, row);
    const double above =
        std::log(static_cast<double>(beam.times)) + static_cast<double>(view.tree[beam.node].score);
    for (const float logprob : row) out.p[i].push_back(above + static_cast<double>(logprob));
    std::int32_t rank = 0;
    for (const auto& [logprob, token] : kernels::top_k(row, candidates_))
      if (logprob > -std::numeric_limits<float>::infinity())
        result.candidates.push_back(
            {.node = beam.node.value, .rank = rank++, .token = token, .logprob = logprob});
  }
  normalise_logs(out.p);
  return out;
}

int BeamSampleAcceptor::width(const Joint& joint, const BeamDraws::Level& level) const {
  const int most = static_cast<int>(level.draws.size());
  if (!dynamic_) return most;
  return beam_width(chances_to_pass(joint.p, level.q, level.draws.size()), pass_chance_,
                    std::min(least_beams_, most));
}

// Goes through the drafts of a level until n have passed; what is missing is drawn.
std::vector<BeamSampleAcceptor::Drawn> BeamSampleAcceptor::check(const StepView& view,
                                                                 const BeamDraws::Level& level,
                                                                 const Joint& joint, int n,
                                                                 Rng& rng, AcceptResult& result) {
  const auto wanted = static_cast<std::size_t>(n);
  std::vector<Drawn> drawn;
  JointRows cur = joint.p;
  std::unordered_map<NodeId, capture::VerdictRow> refused;
  const auto refuse = [&](NodeId draft, float u, double ratio) {
    refused[draft] = {.node = draft.value,
                      .verdict = Verdict::kRejected,
                      .u = u,
                      .reason = u < 0 ? Reason::kNotReached : Reason::kNotBelowRatio,
                      .threshold = static_cast<float>(ratio)};
  };
  for (const NodeId draft : level.draws) {
    if (drawn.size() == wanted) {
      if (!refused.contains(draft)) refuse(draft, -1, 0);
      continue;
    }
    const auto parent = static_cast<std::size_t>(
        std::ranges::find(level.parents, view.tree[draft].parent) - level.parents.begin());
    const auto token = static_cast<std::size_t>(view.tree[draft].token.value);
    const double q = level.q[parent][token];
    const double ratio = cur[parent].empty() ? 0 : std::min(1.0, cur[parent][token] / q);
    const double u = rng.uniform();
    if (u < ratio) {
      drawn.push_back({level.parents[parent],
                       static_cast<std::int32_t>(token),
                       {.p = static_cast<float>(joint.p[parent][token]),
                        .q = static_cast<float>(q),
                        .u = static_cast<float>(u),
                        .reason = Reason::kBelowRatio,
                        .threshold = static_cast<float>(ratio)}});
      cur = joint.p;
      continue;
    }
    refuse(draft, static_cast<float>(u), ratio);
    const double left = take_away(cur, level.q);
    if (left > 0) scale(cur, 1 / left);
  }
  const bool all_passed = drawn.size() == wanted;
  if (!all_passed) draw(joint, cur, Reason::kDrawnFromResidual, rng, drawn);
  while (drawn.size() < wanted) draw(joint, joint.p, Reason::kDrawn, rng, drawn);
  for (const auto& [draft, verdict] : refused) {
    const auto& node = view.tree[draft];
    if (std::ranges::none_of(drawn, [&](const Drawn& one) {
          return one.parent == node.parent && one.token == node.token.value;
        }))
      result.verdicts.push_back(verdict);
  }
  whole_level_ = all_passed;
  return drawn;
}

void BeamSampleAcceptor::draw(const Joint& joint, const JointRows& from, Reason reason, Rng& rng,
                              std::vector<Drawn>& drawn) {
  const double u = rng.uniform();
  const auto [parent, token] = draw_joint(from, u);
  drawn.push_back({joint.parents[parent],
                   token,
                   {.p = static_cast<float>(joint.p[parent][static_cast<std::size_t>(token)]),
                    .u = reason == Reason::kDrawn ? static_cast<float>(u) : -1,
                    .reason = reason}});
}

// Hangs what was drawn; ends texts; the rest are the live beams, best first.
void BeamSampleAcceptor::settle(const StepView& view, const Joint& joint,
                                std::span<const Drawn> drawn, AcceptResult& result) {
  TokenTree& tree = view.tree;
  const int length = tree[live_.front().node].depth + 1;
  const bool at_cap = length >= view.run.max_new_tokens;
  std::vector<Beam> beams;
  std::vector<capture::VerdictRow> verdicts;
  for (const Drawn& one : drawn) {
    const auto parent = static_cast<std::size_t>(std::ranges::find(joint.parents, one.parent) -
                                                 joint.parents.begin());
    const float logprob = joint.logprobs[parent][static_cast<std::size_t>(one.token)];
    const NodeId node = tree.hang(one.parent, TokenId(one.token), Source::kBeam, logprob).node;
    if (const auto twice = std::ranges::find(beams, node, &Beam::node); twice != beams.end()) {
      ++twice->times;
      continue;
    }
    tree.set_logprob(node, logprob);
    beams.push_back({node, 1});
    verdicts.push_back(one.verdict);
    verdicts.back().node = node.value;
    for (capture::CandidateRow& row : result.candidates)
      if (row.node == one.parent.value && row.token == one.token) row.chosen = true;
  }
  auto order = count_up<std::size_t>(beams.size());
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return tree[beams[i].node].score; });
  result.emitted.push_back(tree[beams[order.front()].node].token.value);
  live_.clear();
  std::vector<FinishedSequence> finished;
  for (const std::size_t i : order) {
    const NodeId node = beams[i].node;
    const bool eos = view.run.is_eos(tree[node].token.value);
    capture::VerdictRow& verdict = verdicts[i];
    verdict.score = tree[node].score;
    if (eos || at_cap) {
      const float score = pool_.normalised(tree[node].score, length);
      finished.push_back({node, score, eos ? "eos" : "length"});
      verdict = {.node = node.value,
                 .verdict = Verdict::kFinished,
                 .p = verdict.p,
                 .score = score,
                 .reason = eos ? Reason::kBeamEos : Reason::kBeamMaxTokens,
                 .value = tree[node].score,
                 .count = length};
    } else {
      verdict.verdict = Verdict::kKept;
      verdict.rank = static_cast<std::int32_t>(live_.size());
      live_.push_back(beams[i]);
    }
    result.verdicts.push_back(verdict);
  }
  pool_.add(std::move(finished), result);
  over_ = live_.empty() || !pool_.may_improve(tree[live_.front().node].score, length);
}

AcceptResult BeamSampleAcceptor::accept(const StepView& view, Rng& rng) {
  AcceptResult result;
  std::vector<NodeId> used;
  for (std::size_t depth = 0;; ++depth) {
    const BeamDraws::Level* level =
        view.step > 0 && depth < draws_->levels.size() ? &draws_->levels[depth] : nullptr;
    const Joint p = joint(view, level, result);
    std::vector<Drawn> drawn;
    whole_level_ = false;
    if (level != nullptr) {
      drawn = check(view, *level, p, width(p, *level), rng, result);
    } else {
      for (int i = 0; i < beams_; ++i) draw(p, p.p, Reason::kDrawn, rng, drawn);
    }
    settle(view, p, drawn, result);
    for (const Beam& beam : live_)
      if (view.row_of(beam.node) >= 0) used.push_back(beam.node);
    if (over_ || !whole_level_) break;
    result.accepted += static_cast<int>(live_.size());
  }
  if (!over_)
    for (const Beam& beam : live_) result.frontier.push_back(beam.node);
  for (const NodeId row : view.rows) {
    if (std::ranges::find(view.frontier, row) != view.frontier.end()) continue;
    ++result.drafted;
    if (std::ranges::find(used, row) != used.end() ||
        std::ranges::find(result.verdicts, row.value, &capture::VerdictRow::node) !=
            result.verdicts.end())
      continue;
    result.verdicts.push_back(
        {.node = row.value, .verdict = Verdict::kRejected, .reason = Reason::kNotReached});
  }
  return result;
}

std::vector<FinishedSequence> BeamSampleAcceptor::results(const TokenTree& tree) const {
  std::vector<FinishedSequence> all = pool_.sequences();
  if (!over_)
    for (const Beam& beam : live_)
      all.push_back(
          {beam.node, pool_.normalised(tree[beam.node].score, tree[beam.node].depth), "stopped"});
  std::ranges::stable_sort(all, std::ranges::greater{}, &FinishedSequence::score);
  if (all.size() > returned_) all.resize(returned_);
  return all;
}

std::vector<Parameter> beam_sample_parameters() {
  return {
      boolean(
          "do_sample", "Beam Sampling", false,
          "Draws the beams of a level from the joint distribution of all continuations, with replacement, "
          "in place of taking the best: plain beam sampling's law, whatever drafts."),
      number(
          "pass_chance", "Chance to Pass", 0.7, 0, 1,
          "With do_sample and dynamic_width: the number of beams that go on is the greatest of which all "
          "pass with this chance."),
      integer(
          "least_beams", "Least Beams", 1, 1, 256,
          "With do_sample and dynamic_width: at least this many beams go on, at most num_beams."),
  };
}

}  // namespace triescope

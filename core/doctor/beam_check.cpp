// Beam search, level by level: all continuations of a level's beams, as far as their rows were
// recorded, against those that went on. A row's list may be short, so only what is listed counts: a
// continuation that should have gone on is one that was seen.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/doctor/checks.h"

namespace triescope::doctor {
namespace {

using namespace capture;

// Sums of log p in float, or as a tensor library rounds them.
bool about(double a, double b) { return std::abs(a - b) <= 1e-3 + 1e-4 * std::abs(a); }
bool is_score(double score) { return std::isfinite(score) && std::abs(score) < 1e8; }

struct Continuation {
  std::int32_t parent, token;
  double score;
};

class BeamCheck {
 public:
  BeamCheck(const RunView& run, std::vector<Finding>& out) : run_(run), out_(out) {
    const bool prunes = run.number("prune_relative", 0) > 0 ||
                        run.number("prune_absolute", 0) > 0 ||
                        run.number("prune_relative_local", 0) > 0;
    // Drawn or grouped beams are not the best of all.
    draws_ = run.settings.boolean("do_sample") == true;
    takes_best_ = !draws_ && run.number("num_beam_groups", 1) <= 1 && !prunes;
  }

  void step(std::int32_t step) {
    step_ = step;
    order();
    std::map<std::int32_t, std::vector<const VerdictRow*>> kept, finished;  // by depth
    std::set<std::int32_t> pruned;
    for (const VerdictRow& row : run_.capture.verdicts(step)) {
      if (row.node <= 0) continue;
      if (row.verdict == Verdict::kKept) kept[run_.at(row.node).depth].push_back(&row);
      if (row.verdict == Verdict::kFinished) finished[run_.at(row.node).depth].push_back(&row);
      if (row.verdict == Verdict::kPruned) pruned.insert(row.node);
    }
    for (const auto& [depth, rows] : kept)
      for (const VerdictRow* row : rows) {
        score(*row, row->score);
        if (run_.ends(run_.parent(row->node)))
          found(Code::kBeamEos, row->node, "a beam goes on after its end",
                run_.name(row->node) + " goes on after the end-of-sequence token of " +
                    run_.name(run_.parent(row->node)));
      }
    for (const auto& [depth, rows] : kept) cut(depth, rows, pruned);
    for (const auto& [depth, rows] : finished)
      for (const VerdictRow* row : rows) end(depth, *row);
  }

  void sequences() {
    const double penalty = run_.number("length_penalty", std::nan(""));
    if (std::isnan(penalty)) return;
    for (const SequenceRow& row : run_.capture.sequences()) {
      if (row.node <= 0 || !is_score(row.score)) continue;
      const NodeRow& node = run_.at(row.node);
      if (!is_score(node.score) || node.depth < 1) continue;
      const double sum = run_.capture.node_at(row.node, run_.capture.end_tick()).row.score;
      const double wanted = sum / std::pow(static_cast<double>(node.depth), penalty);
      if (about(wanted, row.score)) continue;
      step_ = step_of(row.tick);
      found(Code::kBeamScore, row.node, "a finished text's score is not its normalised sum",
            run_.name(row.node) + " ends a text with the score " + number_of(row.score) +
                "; its sum of log p, " + number_of(sum) + ", divided by " +
                std::to_string(node.depth) + " tokens to the power " + number_of(penalty) + " is " +
                number_of(wanted));
    }
  }

 private:
  void found(Code code, std::int32_t node, const char* kind, std::string text,
             Sure sure = Sure::kCertain) {
    out_.push_back({.code = code,
                    .step = step_,
                    .node = node,
                    .kind = kind,
                    .text = std::move(text),
                    .sure = sure});
  }

  void order() {
    const auto frontier = run_.capture.frontier(step_);
    for (std::size_t i = 1; i < frontier.size(); ++i) {
      const FrontierRow &better = frontier[i - 1], &worse = frontier[i];
      if (!is_score(better.score) || !is_score(worse.score) || about(better.score, worse.score) ||
          better.score > worse.score)
        continue;
      found(Code::kBeamOrder, worse.node, "a beam is ranked below one with a lower score",
            run_.name(worse.node) + " has the score " + number_of(worse.score) + " and rank " +
                std::to_string(worse.rank) + "; " + run_.name(better.node) + " with " +
                number_of(better.score) + " has rank " + std::to_string(better.rank));
    }
  }

  // log p of a continuation, from the row of its parent; NaN = not listed.
  double listed(std::int32_t parent, std::int32_t token) const {
    for (const CandidateRow& row :
         run_.capture.candidates(parent, make_tick(step_, Phase::kCommit)))
      if (row.token == token) return row.logprob;
    return std::nan("");
  }
  double score_at(std::int32_t node) const {
    return run_.capture.node_at(node, make_tick(step_, Phase::kCommit)).row.score;
  }

  void score(const VerdictRow& row, double said) {
    if (said == 0) said = score_at(row.node);
    const double before = run_.parent(row.node) == 0 ? 0 : score_at(run_.parent(row.node));
    const double logprob = listed(run_.parent(row.node), run_.at(row.node).token);
    if (!is_score(before) || !is_score(said) || !is_score(logprob)) return;
    if (about(before + logprob, said)) return;
    found(Code::kBeamScore, row.node, "a beam's score is not the sum of its log-probabilities",
          run_.name(row.node) + " has the score " + number_of(said) + "; its parent's " +
              number_of(before) + " and log p " + number_of(logprob) + " make " +
              number_of(before + logprob));
  }

  // The continuations of the beams on the level above, as far as they are listed.
  std::vector<Continuation> continuations(std::int32_t depth) const {
    std::set<std::int32_t> parents;
    for (const FrontierRow& row : run_.capture.frontier(step_ - 1))
      if (run_.at(row.node).depth == depth - 1) parents.insert(row.node);
    if (step_ == 0 && depth == 1) parents.insert(0);
    for (const VerdictRow& row : run_.capture.verdicts(step_))
      if (row.verdict == Verdict::kKept && row.node > 0 && run_.at(row.node).depth == depth - 1)
        parents.insert(row.node);
    std::vector<Continuation> all;
    for (const std::int32_t parent : parents) {
      const double before = parent == 0 ? 0 : score_at(parent);
      for (const CandidateRow& row :
           run_.capture.candidates(parent, make_tick(step_, Phase::kCommit)))
        if (is_score(before + row.logprob))
          all.push_back({parent, row.token, before + row.logprob});
    }
    return all;
  }

  void cut(std::int32_t depth, const std::vector<const VerdictRow*>& kept,
           const std::set<std::int32_t>& pruned) {
    if (!takes_best_) return;
    double worst = 0;
    const VerdictRow* last = nullptr;
    for (const VerdictRow* row : kept) {
      const double score = score_at(row->node);
      if (!is_score(score)) return;
      if (last == nullptr || score < worst) worst = score, last = row;
    }
    std::set<std::pair<std::int32_t, std::int32_t>> decided;
    for (const VerdictRow& row : run_.capture.verdicts(step_))
      if (row.node > 0 && run_.at(row.node).depth == depth &&
          (row.verdict == Verdict::kKept || row.verdict == Verdict::kFinished ||
           pruned.contains(row.node)))
        decided.emplace(run_.parent(row.node), run_.at(row.node).token);
    for (const Continuation& one : continuations(depth)) {
      if (one.score <= worst || about(one.score, worst)) continue;
      if (run_.end_tokens.contains(one.token) || decided.contains({one.parent, one.token}))
        continue;
      found(Code::kBeamCut, last->node, "a better continuation was left out",
            run_.token_text(one.token) + " after " + run_.name(one.parent) + " scores " +
                number_of(one.score) + " and was left out; " + run_.name(last->node) + " with " +
                number_of(worst) + " went on");
    }
  }

  void end(std::int32_t depth, const VerdictRow& row) {
    const std::int32_t cap = run_.capture.run().max_new_tokens;
    // A drawn end may have any rank.
    if (draws_ || !run_.ends(row.node) || (cap > 0 && depth >= cap)) return;
    const double before = run_.parent(row.node) == 0 ? 0 : score_at(run_.parent(row.node));
    const double logprob = listed(run_.parent(row.node), run_.at(row.node).token);
    const std::int32_t width = run_.capture.run().width;
    std::int64_t better = 0;
    if (is_score(before) && is_score(logprob))
      for (const Continuation& one : continuations(depth))
        better += one.score > before + logprob && !about(one.score, before + logprob);
    const std::int64_t rank = std::max<std::int64_t>(better, row.rank);
    if (rank < width) return;
    found(Code::kBeamEos, row.node, "an end-of-sequence token beyond the best b finishes a beam",
          run_.name(row.node) + " finished as number " + std::to_string(rank + 1) +
              " of all continuations; only the best " + std::to_string(width) + " may finish");
  }

  const RunView& run_;
  std::vector<Finding>& out_;
  bool takes_best_ = true, draws_ = false;
  std::int32_t step_ = 0;
};

}  // namespace

void check_beams(const RunView& run, std::vector<Finding>& out) {
  if (run.capture.run().kind != RunKind::kBeams) return;
  BeamCheck check(run, out);
  for (std::int32_t step = 0; step <= run.capture.last_step(); ++step) check.step(step);
  check.sequences();
}

}  // namespace triescope::doctor

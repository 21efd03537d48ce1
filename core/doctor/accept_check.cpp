// Acceptance: what was decided about the drafts of each step against the row above them and the rule
// that the run says it follows. A verdict with a reason code follows that code's rule; without one
// the numbers that stand beside it (u, p, q) or the settings say which.
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "core/doctor/checks.h"

namespace triescope::doctor {
namespace {

using namespace capture;

constexpr double kNearlyEqual =
    1e-4;  // of probabilities that were written as text or in half precision

bool is_own_token(Verdict verdict) {
  return verdict == Verdict::kBonus || verdict == Verdict::kCorrected ||
         verdict == Verdict::kEmitted;
}
bool is_greedy_reason(Reason reason) { return rule_of(reason) == ReasonRule::kGreedy; }
bool is_ratio(Reason reason) {
  return rule_of(reason) == ReasonRule::kChain && carries(reason, "ratio");
}
bool is_rest(Reason reason) {
  return rule_of(reason) == ReasonRule::kMultiRound && carries(reason, "ratio");
}

// The row above a node, as it stood when the decision of a step fell.
std::span<const CandidateRow> row_above(const RunView& run, std::int32_t node, std::int32_t step) {
  return run.capture.candidates(run.parent(node), make_tick(step, Phase::kCommit));
}

struct Ranked {
  bool is_known = false, is_best = false;
  float best_logprob = 0, logprob = 0;
  std::int32_t best_token = -1;
  bool is_listed = false;
};
Ranked ranked(std::span<const CandidateRow> row, std::int32_t token) {
  Ranked at;
  if (row.empty() || row.front().rank != 0 || std::isnan(row.front().logprob)) return at;
  at.is_known = true;
  at.best_token = row.front().token;
  at.best_logprob = row.front().logprob;
  for (const CandidateRow& candidate : row)
    if (candidate.token == token) {
      at.is_listed = true;
      at.logprob = candidate.logprob;
    }
  at.is_best = at.is_listed && at.logprob >= at.best_logprob;  // ties are all best
  return at;
}

class AcceptCheck {
 public:
  AcceptCheck(const RunView& run, std::vector<Finding>& out) : run_(run), out_(out) {
    is_greedy_ = run.says_greedy() || looks_greedy();
    sure_ = run.says_greedy() ? Sure::kCertain : Sure::kLikely;
  }

  void step(std::int32_t step) {
    step_ = step;
    // The verdicts on drafts, by parent, in the order in which they were made.
    std::map<std::int32_t, std::vector<const VerdictRow*>> below;
    std::unordered_map<std::int32_t, Verdict> decided;
    std::unordered_map<std::int32_t, const VerdictRow*> own;  // by parent
    for (const VerdictRow& row : run_.capture.verdicts(step)) {
      if (row.node <= 0) continue;
      if (is_own_token(row.verdict)) own[run_.parent(row.node)] = &row;
      if (row.verdict != Verdict::kAccepted && row.verdict != Verdict::kRejected) continue;
      below[run_.parent(row.node)].push_back(&row);
      decided[row.node] = row.verdict;
    }
    for (const auto& [parent, rows] : below) {
      const auto above = decided.find(parent);
      const bool is_reached = above == decided.end() || above->second == Verdict::kAccepted;
      path(parent, rows, is_reached);
      if (!is_reached || run_.ends(parent)) continue;
      const auto after = own.find(parent);
      const VerdictRow* next = after == own.end() ? nullptr : after->second;
      for (const VerdictRow* row : rows) {
        greedy(*row);
        ratio(*row, rows, next);
      }
      order(rows);
    }
    for (const auto& [parent, row] : own) greedy_own(*row);
  }

 private:
  void found(Code code, const VerdictRow& row, const char* kind, std::string text, Sure sure) {
    const InputRow* input = nullptr;
    for (const InputRow& one : run_.capture.inputs(step_))
      if (one.node == run_.parent(row.node)) input = &one;
    out_.push_back({.code = code,
                    .step = step_,
                    .node = row.node,
                    .row = input ? input->row : -1,
                    .kind = kind,
                    .text = run_.name(row.node) + " " + std::move(text),
                    .sure = sure});
  }

  // No settings say so: nothing was drawn, and nearly all tokens of the target's own are the best of
  // their rows.
  bool looks_greedy() const {
    if (run_.is_lossy_or_drawn() || run_.capture.run().kind == RunKind::kBeams ||
        run_.has_processors())
      return false;
    std::int64_t known = 0, best = 0;
    for (std::int32_t step = 0; step <= run_.capture.last_step(); ++step)
      for (const VerdictRow& row : run_.capture.verdicts(step)) {
        if (row.u >= 0 || (row.q > 0 && row.q < 1)) return false;
        if (row.reason != Reason::kNone && !is_greedy_reason(row.reason) &&
            (row.verdict == Verdict::kAccepted || is_own_token(row.verdict)))
          return false;
        if (row.node <= 0 || !is_own_token(row.verdict)) continue;
        const Ranked at = ranked(row_above(run_, row.node, step), run_.at(row.node).token);
        known += at.is_known;
        best += at.is_best;
      }
    return known >= 3 && best * 10 >= known * 8;
  }

  // Checks that the accepted nodes form one path.
  void path(std::int32_t parent, const std::vector<const VerdictRow*>& rows, bool is_reached) {
    const VerdictRow* accepted = nullptr;
    for (const VerdictRow* row : rows) {
      if (row->verdict != Verdict::kAccepted) continue;
      if (!is_reached)
        found(Code::kAcceptTree, *row, "a draft is accepted below a refused one",
              "was accepted, but " + run_.name(parent) + " above it was refused", Sure::kCertain);
      if (accepted != nullptr && accepted->node != row->node)
        found(Code::kAcceptTree, *row, "two siblings are accepted",
              "was accepted, and so was its sibling " + run_.name(accepted->node), Sure::kCertain);
      accepted = row;
    }
  }

  bool judges_greedy(const VerdictRow& row) const {
    if (run_.has_processors()) return false;
    return is_greedy_reason(row.reason) || (row.reason == Reason::kNone && is_greedy_);
  }
  Sure sure_of(const VerdictRow& row) const {
    return is_greedy_reason(row.reason) ? Sure::kCertain : sure_;
  }

  void greedy(const VerdictRow& row) {
    if (!judges_greedy(row)) return;
    const std::int32_t token = run_.at(row.node).token;
    const Ranked at = ranked(row_above(run_, row.node, step_), token);
    if (!at.is_known) return;
    const std::string best =
        run_.token_text(at.best_token) + " (log p " + number_of(at.best_logprob) + ")";
    if (row.verdict == Verdict::kAccepted && !at.is_best) {
      found(Code::kAcceptGreedy, row, "a draft that is not the argmax is accepted",
            "was accepted, but the argmax of the row of " + run_.name(run_.parent(row.node)) +
                " is " + best,
            sure_of(row));
    } else if (row.verdict == Verdict::kRejected && at.is_best && !is_tied(row, at)) {
      found(Code::kAcceptGreedy, row, "a draft that is the argmax is refused",
            "was refused, but it is the argmax of the row of " + run_.name(run_.parent(row.node)) +
                ": " + best,
            sure_of(row));
    }
  }
  // Another token is as good: which of them counts is the decoder's to say.
  bool is_tied(const VerdictRow& row, const Ranked& at) const {
    std::int64_t as_good = 0;
    for (const CandidateRow& candidate : row_above(run_, row.node, step_))
      as_good += candidate.logprob >= at.best_logprob;
    return as_good > 1;
  }
  void greedy_own(const VerdictRow& row) {
    if (!judges_greedy(row)) return;
    const Ranked at = ranked(row_above(run_, row.node, step_), run_.at(row.node).token);
    if (!at.is_known || at.is_best) return;
    found(Code::kAcceptGreedy, row, "the target's own token is not the argmax",
          "is the target's own token, but the argmax of the row of " +
              run_.name(run_.parent(row.node)) + " is " + run_.token_text(at.best_token) +
              " (log p " + number_of(at.best_logprob) + ")",
          sure_of(row));
  }

  void ratio(const VerdictRow& row, const std::vector<const VerdictRow*>& rows,
             const VerdictRow* next) {
    const bool is_code = is_ratio(row.reason) || is_rest(row.reason);
    // verify=sample draws one y a node, and its u is that draw's.
    const bool is_numbers =
        row.reason == Reason::kNone && row.u >= 0 && row.p >= 0 && row.q > 0 && draws_by_ratio();
    if (!is_code && !is_numbers) return;
    if (row.u < 0 || row.p < 0 || row.q <= 0) return;
    const bool is_chain = is_ratio(row.reason) || (!is_rest(row.reason) && rows.size() == 1);
    const Code code = is_chain ? Code::kAcceptChain : Code::kAcceptTree;
    const double chance = std::min(1.0, static_cast<double>(row.p) / row.q);
    const std::string numbers = "u = " + number_of(row.u) + ", min(1, p/q) = min(1, " +
                                number_of(row.p) + " / " + number_of(row.q) +
                                ") = " + number_of(chance);
    if (std::abs(row.u - chance) > kNearlyEqual &&
        (row.verdict == Verdict::kAccepted) != (row.u < chance)) {
      // A node that is tried twice has a verdict a try; the one that accepted it stands.
      found(code, row,
            row.verdict == Verdict::kAccepted ? "a draft is accepted although u is not below p/q"
                                              : "a draft is refused although u is below p/q",
            std::string(row.verdict == Verdict::kAccepted ? "was accepted: " : "was refused: ") +
                numbers,
            Sure::kCertain);
      return;
    }
    if (row.verdict == Verdict::kRejected && next != nullptr &&
        row.p < row.q * (1 - kNearlyEqual) && run_.at(next->node).token == run_.at(row.node).token)
      found(
          code, row, "the refused token is drawn again",
          "was refused and then drawn as the token in its place, but max(0, p − q) leaves nothing "
          "of it (" +
              numbers + ")",
          Sure::kCertain);
    if (row.q < 1 && run_.at(row.node).q == 1 && run_.at(row.node).source == Source::kDraft)
      found(Code::kAcceptQ, row, "a draft that was not drawn is verified with q below 1",
            "was chosen, not drawn (its node has q = 1), but verified with q = " +
                number_of(row.q) + ": the text favours what the drafter likes",
            Sure::kCertain);
  }
  bool draws_by_ratio() const {
    const std::string verify = run_.text("verify");
    return verify.empty() || verify == "chain" || verify == "multi_round";
  }

  // Siblings in the order in which they were drawn: that of their nodes.
  void order(const std::vector<const VerdictRow*>& rows) {
    std::int32_t latest = -1;
    const VerdictRow* accepted = nullptr;
    for (const VerdictRow* row : rows) {
      const bool is_tried =
          row->u >= 0 &&
          (is_rest(row->reason) ||
           (row->reason == Reason::kNone && draws_by_ratio() && row->q > 0 && rows.size() > 1));
      if (!is_tried || run_.at(row->node).tick != make_tick(step_, Phase::kDraft)) continue;
      if (accepted != nullptr)
        found(Code::kAcceptTree, *row, "a sibling is tried after one was accepted",
              "was tried although its sibling " + run_.name(accepted->node) +
                  " was accepted before it",
              Sure::kCertain);
      if (row->node < latest && !was_tried(rows, row))
        found(Code::kAcceptTree, *row, "siblings are tried in another order than drawn",
              "was tried after node " + std::to_string(latest) +
                  ", which was drawn after it: the order of the trials may not depend on their "
                  "probabilities",
              Sure::kCertain);
      latest = std::max(latest, row->node);
      if (row->verdict == Verdict::kAccepted) accepted = row;
    }
  }
  static bool was_tried(const std::vector<const VerdictRow*>& rows, const VerdictRow* at) {
    for (const VerdictRow* row : rows) {
      if (row == at) return false;
      if (row->node == at->node) return true;
    }
    return false;
  }

  const RunView& run_;
  std::vector<Finding>& out_;
  bool is_greedy_ = false;
  Sure sure_ = Sure::kCertain;
  std::int32_t step_ = 0;
};

// The drafter's own rows say what it would have drawn: if its drafts are always its best tokens, in
// order, though it was nearly never sure of them, they were chosen.
void check_drawn(const RunView& run, std::vector<Finding>& out) {
  constexpr double kTooUnlikely = -14;  // one in a million, as a natural logarithm
  const VerdictRow* first = nullptr;
  double log_chance = 0;
  std::int64_t tries = 0;
  for (std::int32_t step = 0; step <= run.capture.last_step(); ++step)
    for (const VerdictRow& row : run.capture.verdicts(step)) {
      if (row.node <= 0 || row.u < 0 || row.q <= 0 || row.q >= 1) continue;
      if (row.verdict != Verdict::kAccepted && row.verdict != Verdict::kRejected) continue;
      const NodeRow& node = run.at(row.node);
      if (!is_draft(node) || is_greedy_reason(row.reason)) continue;
      bool is_first = true;
      for (const std::int32_t sibling : run.capture.children(node.parent))
        is_first &= sibling >= row.node || run.at(sibling).tick != node.tick;
      if (!is_first) continue;
      for (const Whose whose : {Whose::kDraft, Whose::kHead}) {
        const auto best =
            run.capture.candidates(node.parent, make_tick(step, Phase::kForward), whose);
        if (best.empty()) continue;
        if (best.front().token != node.token) return;  // it was drawn
        log_chance += std::log(static_cast<double>(row.q));
        ++tries;
        if (first == nullptr) first = &row;
      }
    }
  if (first == nullptr || log_chance > kTooUnlikely) return;
  out.push_back(
      {.code = Code::kAcceptQ,
       .step = step_of(first->tick),
       .node = first->node,
       .kind = "drafts are always the drafter's best, but verified as if drawn",
       .text =
           "all " + std::to_string(tries) +
           " first drafts are the best token of their drafter's row; if they were drawn from q, "
           "that would have the probability e^" +
           number_of(log_chance) + ". Verify chosen drafts with q = 1, or the text favours them",
       .sure = Sure::kLikely});
}

}  // namespace

void check_acceptance(const RunView& run, std::vector<Finding>& out) {
  AcceptCheck check(run, out);
  for (std::int32_t step = 0; step <= run.capture.last_step(); ++step) check.step(step);
  check_drawn(run, out);
}

}  // namespace triescope::doctor

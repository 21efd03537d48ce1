// The text: each step's accepted drafts and one token of the target, all of them and once, nothing
// after the end, not longer than asked for. Runs with one text; beams have checks of their own.
#include <algorithm>
#include <unordered_set>

#include "core/doctor/checks.h"

namespace triescope::doctor {
namespace {

using namespace capture;

class TextCheck {
 public:
  TextCheck(const RunView& run, std::vector<Finding>& out) : run_(run), out_(out) {}

  void steps() {
    const Capture& capture = run_.capture;
    std::int32_t before = 0;  // the text's last node
    for (std::int32_t step = 0; step <= capture.last_step(); ++step) {
      const auto frontier = capture.frontier(step);
      if (frontier.size() > 1) return;  // several texts
      std::int32_t now = frontier.empty() ? -1 : frontier.front().node;
      std::vector<std::int32_t> decided;  // what the step wrote
      for (const VerdictRow& row : capture.verdicts(step)) {
        if (row.verdict == Verdict::kFinished && now < 0) now = row.node;
        if (row.verdict == Verdict::kAccepted || row.verdict == Verdict::kBonus ||
            row.verdict == Verdict::kCorrected || row.verdict == Verdict::kEmitted)
          decided.push_back(row.node);
      }
      if (now < 0)  // the last step of a text whose end has no verdict
        for (const SequenceRow& sequence : capture.sequences())
          if (step_of(sequence.tick) == step && sequence.node > 0) now = sequence.node;
      if (now < 0) break;
      growth(step, before, now, decided);
      before = now;
    }
    if (before > 0) ends(before);
  }

  void sequences() {
    for (const SequenceRow& row : run_.capture.sequences()) {
      if (row.node <= 0 || row.tokens.empty()) continue;
      std::vector<std::int32_t> path;
      for (const std::int32_t node : run_.capture.path_to(row.node))
        path.push_back(run_.at(node).token);
      const std::int32_t step = step_of(row.tick);
      if (row.tokens != path) differs(row, path, step);
      if (row.node != last_ended_) ends(row.node);
      // Its own tokens, where they say more than its nodes.
      const auto cap = run_.capture.run().max_new_tokens;
      if (cap > 0 && std::ssize(row.tokens) > cap && std::ssize(path) <= cap)
        found(Code::kTextLength, step, row.node, "a text is longer than max_new_tokens",
              "the text has " + std::to_string(row.tokens.size()) + " tokens; max_new_tokens is " +
                  std::to_string(cap));
    }
  }

 private:
  void found(Code code, std::int32_t step, std::int32_t node, const char* kind, std::string text) {
    out_.push_back({.code = code,
                    .step = step,
                    .node = node,
                    .kind = kind,
                    .text = std::move(text),
                    .sure = Sure::kCertain});
  }

  void growth(std::int32_t step, std::int32_t before, std::int32_t now,
              const std::vector<std::int32_t>& decided) {
    if (before != 0 && !run_.is_on_path(before, now)) {
      found(Code::kTextLost, step, now, "a step's text does not go on from the text before it",
            "the text ends in " + run_.name(now) + ", which does not go on from " +
                run_.name(before) + ", where the step before ended");
      return;
    }
    std::unordered_set<std::int32_t> grown;
    for (std::int32_t node = now; node > 0 && node != before; node = run_.parent(node))
      grown.insert(node);
    for (const std::int32_t node : decided)
      if (!grown.contains(node) && !run_.is_on_path(node, now))
        found(Code::kTextLost, step, node, "an accepted token is not in the text",
              run_.name(node) + " was accepted or chosen, but the text that ends in " +
                  run_.name(now) + " lacks it");
    if (decided.empty()) return;
    for (const std::int32_t node : grown)
      if (std::ranges::find(decided, node) == decided.end())
        found(
            Code::kTextTwice, step, node, "the text has a token that nothing was decided about",
            run_.name(node) + " is in the text, but was neither accepted nor chosen in this step");
    const auto row = run_.capture.step(step);
    if (!row || row->emitted <= 0 || step == 0) return;
    const auto written = static_cast<std::int32_t>(grown.size());
    const std::string numbers = "the step says that it wrote " + std::to_string(row->emitted) +
                                " tokens, and the text grew by " + std::to_string(written);
    if (row->emitted < written)
      found(Code::kTextLost, step, now,
            "a step says that it wrote fewer tokens than the text grew by", numbers);
    if (row->emitted > written)
      found(Code::kTextTwice, step, now,
            "a step says that it wrote more tokens than the text grew by", numbers);
  }

  // A text that was returned against the path to its last node.
  void differs(const SequenceRow& row, const std::vector<std::int32_t>& path, std::int32_t step) {
    std::size_t at = 0;
    while (at < path.size() && at < row.tokens.size() && path[at] == row.tokens[at]) ++at;
    // Without the end-of-sequence token: a reader's habit, not a fault.
    if (at == row.tokens.size() && at + 1 == path.size() && run_.end_tokens.contains(path.back()))
      return;
    const auto nodes = run_.capture.path_to(row.node);
    const std::int32_t node = at < nodes.size() ? nodes[at] : row.node;
    const bool is_longer = row.tokens.size() > path.size();
    const std::string numbers =
        "the text has " + std::to_string(row.tokens.size()) + " tokens and its path " +
        std::to_string(path.size()) + "; they part at token " + std::to_string(at + 1) + ", " +
        (at < path.size() ? run_.token_text(path[at]) : "past its end") + " on the path";
    found(is_longer ? Code::kTextTwice : Code::kTextLost, step, node,
          is_longer ? "a text has more tokens than its path"
                    : "a text does not have the tokens of its path",
          numbers);
  }

  // Where a text stops.
  void ends(std::int32_t last) {
    last_ended_ = last;
    const auto path = run_.capture.path_to(last);
    const auto cap = static_cast<std::size_t>(run_.capture.run().max_new_tokens);
    if (cap > 0 && path.size() > cap)
      found(Code::kTextLength, step_of(run_.at(path[cap]).tick), path[cap],
            "a text is longer than max_new_tokens",
            "the text has " + std::to_string(path.size()) + " tokens; max_new_tokens is " +
                std::to_string(cap));
    if (run_.settings.boolean("ignore_eos") == true) return;
    for (std::size_t i = 0; i + 1 < path.size(); ++i)
      if (run_.ends(path[i])) {
        found(Code::kTextEos, step_of(run_.at(path[i + 1]).tick), path[i + 1],
              "a text goes on after its end",
              run_.name(path[i + 1]) + " stands behind the end-of-sequence token of " +
                  run_.name(path[i]));
        return;
      }
  }

  const RunView& run_;
  std::vector<Finding>& out_;
  std::int32_t last_ended_ = -1;
};

}  // namespace

void check_text(const RunView& run, std::vector<Finding>& out) {
  if (run.capture.run().kind == RunKind::kBeams) return;
  TextCheck check(run, out);
  check.steps();
  check.sequences();
}

}  // namespace triescope::doctor

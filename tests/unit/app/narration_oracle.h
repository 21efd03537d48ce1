// Looks the numbers of a narration up in the capture's rows a second time, by the names of sentence
// and value, and in other ways than viz/narration does.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "viz/narration/narration.h"

namespace triescope::test {

using namespace capture;
using nlohmann::json;
using viz::Part;
using viz::Sentence;
using viz::Target;
using Numbers = std::vector<double>;

// Returns the numbers that a value may have, by its sentence.
class Oracle {
 public:
  Oracle(const Capture& capture, Tick cursor)
      : c(capture), cursor_(cursor), tick(cursor - 1), step(step_of(cursor - 1)) {
    // The observe phase also tells the verdicts of accept.
    const Tick decided = phase_of(tick) == Phase::kObserve ? make_tick(step, Phase::kAccept) : tick;
    for (const VerdictRow& row : c.verdicts(step))
      if (row.tick == decided) verdicts.push_back(row);
    for (const NodeRow& row : c.nodes())
      if (row.tick == tick) hung.push_back(row);
    for (std::int32_t before = step - 1; const FrontierRow& row : c.frontier(before))
      pending.push_back(row.node);
    // A step proposes the drafts that it adds, and those that it finds again: the forward reads
    // them, or they are withdrawn.
    const auto propose = [&](std::int32_t node) {
      if (node >= 0 && std::ranges::find(pending, node) == pending.end() &&
          !capture::is_probe(at(node)))
        proposed.insert(node);
    };
    if (phase_of(tick) == Phase::kDraft) {
      for (const NodeRow& row : hung) propose(row.node);
      for (const InputRow& row : c.inputs(step)) propose(row.node);
      for (const VerdictRow& row : c.verdicts(step))
        if (row.verdict == Verdict::kWithdrawn) propose(row.node);
    }
  }

  Numbers of(const Sentence& sentence, const Part& part) const {
    const std::string &name = sentence.name, &fact = part.fact;
    const bool is_reason = name.starts_with("reason.");
    const auto in = [&](const char* prefix) { return name.starts_with(prefix); };
    const auto& inputs = c.inputs(step);
    const auto node = static_cast<std::int32_t>(part.target.id);
    const auto prompt = static_cast<double>(c.run().prompt_tokens.size());
    if (fact == "p" && in("accept.candidates")) {
      Numbers all;
      for (const CandidateRow& row : c.candidates(node, cursor_))
        all.push_back(std::exp(static_cast<double>(row.logprob)));
      return all;
    }
    if (fact == "p" || fact == "share") return rows_of(node, &VerdictRow::p);
    if (fact == "other_p") return any_row(&VerdictRow::value);
    if (fact == "u") return rows_of(node, &VerdictRow::u);
    if (fact == "ratio" || fact == "threshold") return rows_of(node, &VerdictRow::threshold);
    if (fact == "limit" && is_reason) return rows_of(node, &VerdictRow::threshold);
    if (fact == "limit" || fact == "worst") return any_row(&VerdictRow::threshold);
    if (fact == "gap") return rows_of(node, &VerdictRow::gap);
    if (fact == "sum" || fact == "block") return rows_of(node, &VerdictRow::value);
    if (fact == "score" && is_reason) return rows_of(node, &VerdictRow::value);
    if (fact == "score" && in("beams.")) return rows_of(node, &VerdictRow::score);
    if (fact == "score") return {c.frontier(step)[0].score};
    if (fact == "final" && in("end.")) return {best()->score};
    if (fact == "final") return rows_of(node, &VerdictRow::score);
    if (fact == "rank") {
      Numbers all = rows_of(node, &VerdictRow::rank);
      for (double& rank : all) rank += 1;
      return all;
    }
    if (fact == "count") return any_row(&VerdictRow::count);
    if (fact == "q") return {c.nodes()[static_cast<std::size_t>(node)].q};
    if (fact == "length" && is_reason) return rows_of(node, &VerdictRow::count);
    if (fact == "length" && in("end.")) return {static_cast<double>(best()->tokens.size())};
    if (fact == "length") return {static_cast<double>(c.path_to(node).size())};
    if (fact == "drafts" && in("forward."))
      return {static_cast<double>(inputs.size() - pending.size()) - probe_rows()};
    if (fact == "probes" && in("forward.")) return {probe_rows()};
    if (fact == "probes")
      return {static_cast<double>(std::ranges::count_if(hung, capture::is_probe))};
    if (fact == "drafts") return {static_cast<double>(proposed.size())};
    if (name == "draft.left_out") {
      const double all = 2 * json::parse(c.run().model_json).value("layers", 0.0);
      double parts = 0;
      for (const MetricRow& row : c.metrics())
        if (row.tick == tick && row.name.starts_with("left-out"))
          parts += row.name == "left-out layer" ? 2 : 1;
      return {fact == "all" ? all : parts};
    }
    if (fact == "withdrawn") return {given(Verdict::kWithdrawn)};
    if (fact == "sent") return {static_cast<double>(proposed.size()) - given(Verdict::kWithdrawn)};
    if (fact == "drafter_rank" || fact == "drafter_q" || fact == "drafter_score") {
      Numbers all;
      for (const Whose whose : {Whose::kDraft, Whose::kHead})
        for (const CandidateRow& row : c.candidates(at(node).parent, cursor_, whose))
          if (row.token == at(node).token && step_of(row.tick) == step)
            all.push_back(fact == "drafter_rank" ? row.rank + 1
                          : fact == "drafter_q"  ? static_cast<double>(std::exp(row.logprob))
                                                 : static_cast<double>(drafted_score(node)));
      return all;
    }
    if (fact == "tie") {  // any two nodes of one place that this step judged
      Numbers all;
      for (const VerdictRow& a : c.verdicts(step))
        for (const VerdictRow& b : c.verdicts(step))
          if (a.verdict == Verdict::kRejected && b.verdict == Verdict::kCorrected &&
              at(a.node).parent == at(b.node).parent)
            all.push_back(static_cast<double>(std::exp(c.node_at(a.node, cursor_).row.logprob) /
                                              std::exp(c.node_at(b.node, cursor_).row.logprob)));
      return all;
    }
    if (fact == "least_sent") {
      float least = std::numeric_limits<float>::infinity();
      for (const InputRow& row : inputs)
        if (std::ranges::find(pending, row.node) == pending.end() &&
            !capture::is_probe(at(row.node)))
          least = std::min(least, drafted_score(row.node));
      return {static_cast<double>(least)};
    }
    if (fact == "proposed" || fact == "listed") {
      // The value may be about any token that the target added in this step.
      Numbers all;
      for (const VerdictRow& own : verdicts)
        for (const Whose whose : {Whose::kDraft, Whose::kHead}) {
          const auto rows = c.candidates(at(own.node).parent, cursor_, whose);
          all.push_back(static_cast<double>(
              fact == "listed" ? static_cast<std::ptrdiff_t>(rows.size())
                               : std::ranges::count(rows, true, &CandidateRow::chosen)));
        }
      return all;
    }
    if (fact == "levels") {
      std::set<int> depths;
      for (const std::int32_t id : proposed) depths.insert(at(id).depth);
      return {static_cast<double>(depths.size())};
    }
    if (fact == "ends")
      return {static_cast<double>(std::ranges::count_if(proposed, [&](std::int32_t id) {
        return std::ranges::none_of(proposed,
                                    [&](std::int32_t other) { return at(other).parent == id; });
      }))};
    if (fact == "forwards" || (fact == "rows" && in("draft."))) {
      const Whose whose = in("draft.cost.model") ? Whose::kDraft : Whose::kHead;
      std::set<int> forwards;
      for (const InputRow& row : c.inputs(step, whose)) forwards.insert(row.forward);
      return {
          static_cast<double>(fact == "forwards" ? forwards.size() : c.inputs(step, whose).size())};
    }
    if (in("forward.fault.cells")) {
      double cells = 0, rows = 0;
      for (const InputRow& row : inputs) {
        const std::size_t wrong = wrong_cells(row);
        cells += static_cast<double>(wrong);
        rows += wrong > 0;
      }
      return {fact == "cells" ? cells : rows};
    }
    if (fact == "rows") return {static_cast<double>(inputs.size())};
    if (fact == "pending" || fact == "live" || (fact == "beams" && in("draft."))) {
      if (in("commit.")) {
        const Whose whose = in("commit.draft_model")  ? Whose::kDraft
                            : in("commit.draft_head") ? Whose::kHead
                                                      : Whose::kTarget;
        return {static_cast<double>(memory(whose).live)};
      }
      return {step == 0 ? 1.0 : static_cast<double>(pending.size())};
    }
    if (fact == "beams") return {static_cast<double>(c.step(step)->frontier)};
    if (fact == "kept") return {static_cast<double>(c.frontier(step).size())};
    if (fact == "garbage") return {static_cast<double>(memory().garbage)};
    if (fact == "reserved") return {static_cast<double>(memory().reserved)};
    if (fact == "greedy") return {static_cast<double>(memory().greedy)};
    if (fact == "batch") return {static_cast<double>(memory().batch_beam)};
    if (fact == "bytes") return {static_cast<double>(memory().moved_bytes)};
    if (fact == "moved")
      return {static_cast<double>(
          std::ranges::count(c.slot_events(step), SlotAction::kMove, &SlotRow::action))};
    if (fact == "freed")
      return {static_cast<double>(std::count_if(
          c.slot_events(step).begin(), c.slot_events(step).end(), [&](const SlotRow& row) {
            return row.tick == tick && row.action == SlotAction::kFree;
          }))};
    if (fact == "prompt") return {prompt};
    if ((fact == "first" || fact == "last") && in("gap."))
      return {static_cast<double>(
          step_of(fact == "first" ? c.phases().front().tick : c.phases().back().tick))};
    if (fact == "first") return {in("forward.prefill.slots") ? inputs.front().slot : 0.0};
    if (fact == "last") return {in("forward.prefill.slots") ? inputs.back().slot : prompt - 1};
    if (fact == "slots") return {static_cast<double>(inputs.size())};
    if (fact == "slot") {
      REQUIRE(part.target.kind == Target::Kind::kSlot);
      Numbers all;
      for (const SlotRow& row : c.slot_events(step))
        if (row.tick == tick && row.slot == part.target.id) all.push_back(row.slot);
      return all;
    }
    if (fact == "position") return {position(node)};
    if (fact == "naive") return {static_cast<double>(last_of_text().naive_position)};
    if (fact == "sees" || fact == "below") return {seen(last_of_text(), fact == "below")};
    if (fact == "branch") return {static_cast<double>(inputs.size()) - prompt};
    if (fact == "vocabulary") return {json::parse(c.run().model_json).value("vocab_size", 0.0)};
    if (fact == "width") return {json::parse(c.run().settings_json).value("num_beams", 0.0)};
    if (fact == "accepted" && in("observe.")) return {static_cast<double>(c.step(step)->accepted)};
    if (fact == "drafted" && in("observe.")) return {static_cast<double>(c.step(step)->drafted)};
    if (fact == "gained") return {static_cast<double>(c.step(step)->emitted - 1)};
    if (fact == "emitted") return {static_cast<double>(c.step(step)->emitted)};
    if (fact == "accepted") return {given(Verdict::kAccepted)};
    if (fact == "drafted") return {given(Verdict::kAccepted) + given(Verdict::kRejected)};
    if (fact == "most") return {static_cast<double>(c.run().max_new_tokens)};
    if (fact == "step") return {static_cast<double>(step)};
    if (fact == "returned")
      return {static_cast<double>(
          std::count_if(c.sequences().begin(), c.sequences().end(),
                        [&](const SequenceRow& row) { return row.rank >= 0; }))};
    if (fact == "time" || fact == "total" || fact == "forward") {
      double sum = 0;
      for (const PhaseRow& row : c.phases())
        if (fact == "total"     ? step_of(row.tick) == step
            : fact == "forward" ? row.tick == make_tick(step, Phase::kForward)
                                : row.tick == tick)
          sum += static_cast<double>(row.duration_us);
      return {sum};
    }
    return {};
  }

  // The rest of a list is everything that its items do not name.
  bool is_rest(const Sentence& sentence, const Part& part) const {
    return part.fact == "more" && part.number >= 2 && sentence.parts.size() > 4;
  }

 private:
  const NodeRow& at(std::int32_t node) const { return c.nodes()[static_cast<std::size_t>(node)]; }
  // Σ log q from the frontier down, added in that order.
  float drafted_score(std::int32_t node) const {
    float score = 0;
    std::vector<std::int32_t> path;
    for (; std::ranges::find(pending, node) == pending.end(); node = at(node).parent)
      path.insert(path.begin(), node);
    for (const std::int32_t below : path)
      for (const Whose whose : {Whose::kDraft, Whose::kHead})
        for (const CandidateRow& row : c.candidates(at(below).parent, cursor_, whose))
          if (row.token == at(below).token) score += row.logprob;
    return score;
  }
  template <class Member>
  Numbers rows_of(std::int32_t node, Member member) const {
    Numbers all;
    for (const VerdictRow& row : verdicts)
      if (row.node == node) all.push_back(static_cast<double>(row.*member));
    return all;
  }
  template <class Member>
  Numbers any_row(Member member) const {
    Numbers all;
    for (const VerdictRow& row : verdicts) all.push_back(static_cast<double>(row.*member));
    return all;
  }
  double given(Verdict verdict) const {
    return static_cast<double>(
        std::count_if(verdicts.begin(), verdicts.end(),
                      [&](const VerdictRow& row) { return row.verdict == verdict; }));
  }
  const SequenceRow* best() const {
    for (const SequenceRow& row : c.sequences())
      if (row.rank == 0) return &row;
    FAIL("no sequence was returned");
    return nullptr;
  }
  MemoryRow memory(Whose whose = Whose::kTarget) const {
    for (const MemoryRow& row : c.memory(whose))
      if (row.step == step) return row;
    FAIL("no memory was recorded");
    return {};
  }
  double position(std::int32_t node) const {
    return node <= -2
               ? -2 - node
               : static_cast<double>(c.run().prompt_tokens.size() + c.path_to(node).size()) - 1;
  }
  double probe_rows() const {
    return static_cast<double>(std::ranges::count_if(c.inputs(step), [&](const InputRow& row) {
      return row.node > 0 && capture::is_probe(at(row.node));
    }));
  }
  // The last row that is not a probe's.
  const InputRow& last_of_text() const {
    const auto inputs = c.inputs(step);
    for (std::size_t i = inputs.size(); i-- > 0;)
      if ((inputs[i].node <= 0 || !capture::is_probe(at(inputs[i].node))) &&
          wrong_cells(inputs[i]) == 0)
        return inputs[i];
    return inputs.back();
  }
  // How many slots a row of the target attended to without being asked to, or was asked to and did not.
  std::size_t wrong_cells(const InputRow& row) const {
    const SeenRow* const seen_row = c.seen(row);
    if (seen_row == nullptr) return 0;
    std::map<std::int32_t, std::int32_t> slot_of;  // by node, prompt token i as -2 - i
    for (std::int32_t s = 0; s <= step; ++s)
      for (const SlotRow& event : c.slot_events(s))
        if (event.tick <= capture::make_tick(step, capture::Phase::kForward) &&
            (event.action == capture::SlotAction::kAlloc ||
             event.action == capture::SlotAction::kReuse ||
             event.action == capture::SlotAction::kMove))
          slot_of[event.node] = event.slot;
    std::set<std::int32_t> wrong;
    const auto note = [&](std::int32_t node) {
      if (c.visible(row, node)) wrong.insert(slot_of.at(node));
    };
    const auto prompt = static_cast<std::int32_t>(c.run().prompt_tokens.size());
    for (std::int32_t i = 0; i < prompt; ++i) note(-2 - i);
    for (const std::int32_t node : c.path_to(row.node)) note(node);
    for (std::size_t i = 0; i + 1 < seen_row->slots.size(); i += 2)
      for (std::int32_t slot = seen_row->slots[i]; slot <= seen_row->slots[i + 1]; ++slot)
        if (wrong.erase(slot) == 0) wrong.insert(slot);
    return wrong.size();
  }
  // The number of nodes that the row sees, asked one by one. `below`: counts only nodes above it.
  double seen(const InputRow& input, bool below) const {
    double count = 0;
    const auto prompt = static_cast<std::int32_t>(c.run().prompt_tokens.size());
    for (std::int32_t i = 0; i < prompt && !below; ++i) count += c.visible(input, -2 - i);
    for (const std::int32_t node : c.path_to(input.node))
      count += c.visible(input, node) && !(below && node == input.node);
    return count;
  }

  const Capture& c;
  Tick cursor_, tick;
  std::int32_t step;
  std::vector<VerdictRow> verdicts;
  std::vector<NodeRow> hung;
  std::set<std::int32_t> proposed;  // in the draft phase
  std::vector<std::int32_t> pending;
};

}  // namespace triescope::test

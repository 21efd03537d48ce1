#include "viz/query/speculation.h"
#include "viz/query/step_range.h"
#include "viz/query/step_so_far.h"

#include <algorithm>
#include <map>

namespace triescope::viz {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// The depth of the drafts that a step sent; 0 = none.
std::int32_t levels_sent(const capture::Capture& capture, std::int32_t step) {
  std::int32_t least = 0, most = -1;
  for (const capture::VerdictRow& row : capture.verdicts(step)) {
    if (row.verdict != capture::Verdict::kAccepted && row.verdict != capture::Verdict::kRejected)
      continue;
    const capture::NodeRow& node = capture.nodes()[static_cast<std::size_t>(row.node)];
    if (!capture::is_draft(node)) continue;
    least = most < 0 ? node.depth : std::min(least, node.depth);
    most = std::max(most, node.depth);
  }
  return most < 0 ? 0 : most - least + 1;
}

bool drafter_has_cache(const capture::Capture& capture) {
  return !capture.memory(capture::Whose::kDraft).empty() ||
         !capture.memory(capture::Whose::kHead).empty();
}

}  // namespace

double chain_tokens(double acceptance, int drafts) {
  double tokens = 1, power = 1;
  for (int i = 0; i < drafts; ++i) tokens += power *= acceptance;
  return tokens;
}

std::optional<double> needed_acceptance(double cost, int levels, double drafting) {
  const auto tokens = [&](double acceptance) {
    return 1 + drafting * (chain_tokens(acceptance, levels) - 1);
  };
  if (cost <= 1) return 0;
  if (tokens(1) < cost) return std::nullopt;
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (tokens(middle) < cost ? low : high) = middle;
  }
  return high;
}

double SpeculationFacts::mean_rows() const {
  return ratio(static_cast<double>(rows), static_cast<double>(steps));
}
double SpeculationFacts::tokens_per_step() const {
  return ratio(static_cast<double>(tokens), static_cast<double>(steps));
}
double SpeculationFacts::share_drafting() const {
  return ratio(static_cast<double>(drafting), static_cast<double>(steps));
}
double SpeculationFacts::mean_levels() const {
  return ratio(static_cast<double>(levels), static_cast<double>(drafting));
}
double SpeculationFacts::acceptance() const {
  std::int64_t reached = 0, accepted = 0;
  for (const AcceptanceGroup& depth : depths.groups) reached += depth.n, accepted += depth.accepted;
  return ratio(static_cast<double>(accepted), static_cast<double>(reached));
}

std::optional<SpeculationFacts> speculation_facts(const capture::Capture& capture,
                                                  capture::Tick cursor, StepRange range) {
  const bool beams = capture.run().kind == capture::RunKind::kBeams;
  if (capture.run().kind != capture::RunKind::kDrafts && (!beams || capture.drafters().empty()))
    return std::nullopt;
  SpeculationFacts facts;
  facts.of_beams = beams;
  if (beams) facts.plain_rows = std::max(1, static_cast<int>(capture.run().width));
  facts.timed_while_drawing = capture.run().timed_while_drawing;
  facts.by_level = drafter_has_cache(capture);
  const auto counts = [&](std::int32_t step) { return step > 0 && is_within(range, step); };
  for (const capture::StepRow& row : capture.steps()) {
    if (!has_finished(row.step, cursor)) break;
    if (!counts(row.step)) continue;
    const std::int32_t levels = levels_sent(capture, row.step);
    ++facts.steps;
    facts.drafting += levels > 0;
    facts.levels += levels;
    facts.tokens += row.emitted;
    facts.rows += row.forward_rows;
  }
  if (facts.steps == 0) return std::nullopt;
  for (const capture::PhaseRow& phase : capture.phases()) {
    if (phase.tick >= cursor) break;
    const std::int32_t step = capture::step_of(phase.tick);
    if (!counts(step) || !has_finished(step, cursor)) continue;
    const capture::Phase of = capture::phase_of(phase.tick);
    const auto took = static_cast<double>(phase.duration_us);
    if (of == capture::Phase::kForward) facts.forward_us += took;
    if (of == capture::Phase::kDraft || of == capture::Phase::kObserve) facts.drafter_us += took;
  }
  facts.times = forward_times(capture, cursor, range);
  facts.depths = acceptance_by(capture, AcceptanceBy::kDepth, cursor, range);
  if (!beams) facts.places = acceptance_by(capture, AcceptanceBy::kTree, cursor, range);
  facts.experts = expert_reads(capture, cursor, range);
  return facts;
}

void add_speculation(SpeculationFacts& sum, const SpeculationFacts& more) {
  sum.steps += more.steps, sum.drafting += more.drafting;
  sum.tokens += more.tokens, sum.rows += more.rows, sum.levels += more.levels;
  sum.forward_us += more.forward_us, sum.drafter_us += more.drafter_us;
  sum.by_level |= more.by_level;
  sum.timed_while_drawing |= more.timed_while_drawing;
  sum.of_beams |= more.of_beams;
  sum.plain_rows = std::max(sum.plain_rows, more.plain_rows);
  add_expert_reads(sum.experts, more.experts);
  add_times(sum.times, more.times);
  add_acceptance(sum.depths, more.depths);
  add_acceptance(sum.places, more.places);
}

std::vector<PlaceYield> place_yields(const SpeculationFacts& facts) {
  std::map<std::string, double> by_place;
  std::vector<PlaceYield> yields;
  for (const AcceptanceGroup& group : facts.places.groups) {  // by level
    const std::size_t dot = group.label.rfind('.');
    const auto parent =
        dot == std::string::npos ? by_place.end() : by_place.find(group.label.substr(0, dot));
    const double reached = dot == std::string::npos   ? facts.share_drafting()
                           : parent == by_place.end() ? 0
                                                      : parent->second;
    const double yield = by_place[group.label] = reached * group.share();
    const auto level = 1 + std::count(group.label.begin(), group.label.end(), '.');
    yields.push_back({group.label, static_cast<int>(level), yield, group.n});
  }
  std::stable_sort(yields.begin(), yields.end(),
                   [](const PlaceYield& a, const PlaceYield& b) { return a.yield > b.yield; });
  return yields;
}

}  // namespace triescope::viz

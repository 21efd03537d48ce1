#include "viz/query/cost_model.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace triescope::viz {
namespace {

constexpr const char* kCostsNames[] = {"run", "model", "gpu", "experts", "typed", "measured"};
static_assert(std::size(kCostsNames) == kCostsFromCount);

// The mean cost of the forwards as they ran.
double mean_cost(const ForwardCosts& forwards, const SpeculationFacts& facts) {
  double cost = 0, count = 0;
  for (const auto& [rows, times] : facts.times) {
    const auto n = static_cast<double>(times.size());
    cost += n * forwards.of(rows), count += n;
  }
  return count > 0 ? cost / count : forwards.of(std::max(1.0, facts.mean_rows()));
}

double rounds_of(const SpeculationFacts& facts) {
  return static_cast<double>(facts.by_level ? facts.levels : facts.steps);
}

// "0.33,0.33,5" -> numbers. Text that is not a finite number counts as 0.
std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) {
    const double value = std::strtod(one.c_str(), nullptr);
    numbers.push_back(std::isfinite(value) ? value : 0);
  }
  return numbers;
}

}  // namespace

const char* to_string(CostsFrom from) { return kCostsNames[static_cast<int>(from)]; }

std::optional<CostsFrom> costs_from_name(std::string_view name) {
  for (int i = 0; i < kCostsFromCount; ++i)
    if (name == kCostsNames[i]) return static_cast<CostsFrom>(i);
  return std::nullopt;
}

std::string cost_choice_text(const CostChoice& choice) {
  std::ostringstream text;
  text << "from=" << to_string(choice.from);
  if (choice.from == CostsFrom::kTyped) {
    const RowCosts& costs = choice.typed;
    text << ";rows=" << costs.second_row << ',' << costs.cheap_row << ',' << costs.dear_row << ','
         << costs.cheap_rows;
    if (costs.of_experts > 0) text << ";experts=" << costs.of_experts << ',' << costs.chosen;
  }
  if (choice.round) text << ";round=" << *choice.round;
  return text.str();
}

CostChoice read_cost_choice(const std::string& text) {
  CostChoice choice;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = part.substr(0, equals), value = part.substr(equals + 1);
    const std::vector<double> numbers = numbers_in(value);
    if (name == "from") {
      const auto from = costs_from_name(value);
      if (from && *from != CostsFrom::kMeasured) choice.from = *from;
    } else if (name == "rows" && numbers.size() == 4) {
      choice.typed.second_row = std::max(0.0, numbers[0]);
      choice.typed.cheap_row = std::max(0.0, numbers[1]);
      choice.typed.dear_row = std::max(0.0, numbers[2]);
      choice.typed.cheap_rows = static_cast<int>(std::clamp(numbers[3], 1.0, 1e6));
    } else if (name == "experts" && numbers.size() == 2) {
      choice.typed.of_experts = std::clamp(numbers[0], 0.0, 1.0);
      choice.typed.chosen = std::clamp(numbers[1], 0.0, 1.0);
    } else if (name == "round" && numbers.size() == 1) {
      choice.round = std::max(0.0, numbers[0]);
    }
  }
  return choice;
}

double CostModel::forward_cost() const { return mean_cost(forwards, facts) / plain(); }

double CostModel::step_cost() const {
  return forward_cost() + round * rounds_of(facts) / static_cast<double>(facts.steps) / plain();
}

std::optional<double> CostModel::needed() const {
  if (facts.is_of_beams()) return std::nullopt;
  const int levels = std::max(1, static_cast<int>(std::lround(facts.mean_levels())));
  return needed_acceptance(step_cost(), levels, facts.share_drafting());
}

CostPoint CostModel::at(int drafts) const {
  CostPoint point{.drafts = drafts};
  if (drafts == 0) return point;
  for (int i = 0; i < drafts; ++i) {
    const PlaceYield& place = yields[static_cast<std::size_t>(i)];
    point.tokens += place.yield;
    point.levels = std::max(point.levels, place.level);
  }
  // Steps that find nothing to draft cost a plain forward; a drafter that runs by level then runs
  // for nothing either.
  const double drafting = facts.share_drafting();
  point.cost = (1 - drafting) * forwards.of(1) + drafting * forwards.of(1 + drafts) +
               round * (facts.by_level ? drafting * point.levels : 1);
  return point;
}

CostPoint CostModel::best() const {
  CostPoint best;
  for (int n = 1; n <= static_cast<int>(yields.size()); ++n)
    if (const CostPoint point = at(n); point.speedup() > best.speedup()) best = point;
  return best;
}

CostModel cost_model(SpeculationFacts facts, const CostChoice& choice,
                     const std::optional<RowCosts>& recorded,
                     const std::optional<MeasuredForwards>& timed) {
  CostModel model;
  model.facts = std::move(facts);
  model.yields = place_yields(model.facts);
  model.from = choice.from;
  const std::optional<ForwardCosts> experts = expert_costs(model.facts.experts);
  model.counts_experts = model.from == CostsFrom::kExperts && experts;
  const std::optional<MeasuredForwards> own = timed ? timed : measured_forwards(model.facts.times);
  if (model.from == CostsFrom::kRun && !own) model.from = CostsFrom::kModel;
  if (model.from == CostsFrom::kModel && !recorded) model.from = CostsFrom::kGpu;
  model.forwards = model.from == CostsFrom::kRun        ? own->costs
                   : model.from == CostsFrom::kModel    ? ForwardCosts(*recorded)
                   : model.counts_experts               ? *experts
                   : model.from == CostsFrom::kExperts  ? ForwardCosts(kExpertCosts)
                   : model.from == CostsFrom::kTyped    ? ForwardCosts(choice.typed)
                   : model.from == CostsFrom::kMeasured ? choice.measured
                                                        : ForwardCosts(RowCosts{});
  // The drafter's time is over the run's own forward, wherever the costs of rows come from.
  const ForwardCosts here = own ? own->costs : recorded ? ForwardCosts(*recorded) : model.forwards;
  if (model.from == CostsFrom::kRun) model.timed = own->forwards;
  const double forwards = mean_cost(here, model.facts) * static_cast<double>(model.facts.steps);
  model.one_row_us = own ? own->one_row_us : forwards > 0 ? model.facts.forward_us / forwards : 0;
  const double rounds = rounds_of(model.facts);
  if (choice.round)
    model.round = *choice.round;
  else if (model.one_row_us > 0 && rounds > 0)
    model.round = model.facts.drafter_us / rounds / model.one_row_us;
  return model;
}

}  // namespace triescope::viz

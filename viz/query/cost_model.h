// CostModel: whether drafts pay: what speculation gave (SpeculationFacts) against what its steps cost
// here, or on a machine that one describes. Costs are in forwards of plain decoding: of one row, or of
// one a beam. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viz/query/forward_costs.h"
#include "viz/query/speculation.h"

namespace triescope::viz {

// Where the costs come from.
enum class CostsFrom : std::uint8_t {
  kRun = 0,   // the times of the run's own forwards; where they do not say, the next
  kModel,     // the capture's: those by which drafting methods decided there; else the next
  kGpu,       // RowCosts as they are for a GPU
  kExperts,   // the same, for a mixture of experts: the run's as recorded, else kExpertCosts
  kTyped,     // CostChoice::typed
  kMeasured,  // CostChoice::measured
};
inline constexpr int kCostsFromCount = 6;
const char* to_string(CostsFrom from);  // "run", "model", "gpu", "experts", "typed", "measured"
std::optional<CostsFrom> costs_from_name(std::string_view name);

struct CostChoice {
  CostsFrom from = CostsFrom::kRun;
  RowCosts typed = {};
  ForwardCosts measured = {};
  // A round of the drafter; nullopt: as it was timed in the run.
  std::optional<double> round = {};
};
// "from=typed;rows=0.33,0.33,0.33,5;experts=0.8,0.125;round=0.1", and back; unknown parts are
// ignored. Measured costs have no text.
std::string cost_choice_text(const CostChoice& choice);
CostChoice read_cost_choice(const std::string& text);

// A step with `drafts` drafts.
struct CostPoint {
  int drafts = 0, levels = 0;
  double tokens = 1, cost = 1;  // of a step
  double speedup() const { return tokens / cost; }
};

struct CostModel {
  SpeculationFacts facts = {};
  std::vector<PlaceYield> yields = {};
  ForwardCosts forwards = {};
  CostsFrom from = CostsFrom::kRun;  // in force
  std::int64_t timed = 0;            // kRun: forwards on whose times they rest
  bool counts_experts = false;       // kExperts: those that the run recorded
  double one_row_us = 0;             // a forward of one row; 0 = no times
  double round = 0;                  // a round of the drafter

  // A forward of plain decoding, in forwards of one row.
  double plain() const { return forwards.of(facts.plain_rows); }
  // The mean cost of a step as it ran: that of its forward, and with the drafter's.
  double forward_cost() const;
  double step_cost() const;
  double speedup() const { return facts.tokens_per_step() / step_cost(); }
  // The acceptance that would have made up for step_cost(), at each of the levels that were drafted;
  // nullopt: none would, or beams were drafted for.
  std::optional<double> needed() const;
  // 0 to yields.size() drafts: the most earning places.
  CostPoint at(int drafts) const;
  CostPoint best() const;  // the fastest; of equal ones that with the fewest drafts
};
// `recorded`: recorded_row_costs() of a run. `timed`: what the forwards of more runs say, in place of
// the run's own.
CostModel cost_model(SpeculationFacts facts, const CostChoice& choice,
                     const std::optional<RowCosts>& recorded,
                     const std::optional<MeasuredForwards>& timed = {});

}  // namespace triescope::viz

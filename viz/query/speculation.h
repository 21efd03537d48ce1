// What speculation gave in a run, or in several of one method, and what it would give with another
// number of drafts: tokens a step against what a step costs. Pure.
//
//   E(n) = 1 + Σ_{i ≤ n} y_i               tokens of a step with the n drafts that came true most often
//   S(n) = E(n) / ((1 − f)·C(1) + f·C(1 + n) + D(n))      times as fast as plain decoding
//
// y_v = y_parent · P(v accepted | its parent was) is how often the draft at a place v of the tree
// becomes text, by measured conditional acceptance; a parent never earns less than its child, so the
// n best places are a tree. f is the share of steps that draft, C the cost of a forward by rows
// (ForwardCosts), D that of the drafter. A chain whose every draft is accepted with the same chance
// α has y_i = α^i: E = (1 − α^(n+1)) / (1 − α), Leviathan et al., "Fast Inference from Transformers
// via Speculative Decoding", ICML 2023, eq. 1; with C = 1 and D = n·c, S is their Theorem 3.8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/capture/capture.h"
#include "viz/query/acceptance.h"
#include "viz/query/expert_costs.h"
#include "viz/query/forward_costs.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

// Leviathan et al., eq. 1: tokens of a step with `drafts` drafts in a chain.
double chain_tokens(double acceptance, int drafts);
// The acceptance at which a chain of `levels`, drafted in a share `drafting` of the steps, makes up
// for a step that costs `cost`. 0: any does. nullopt: none does.
std::optional<double> needed_acceptance(double cost, int levels, double drafting = 1);

// The steps after prefill, counted.
struct SpeculationFacts {
  std::int64_t steps = 0, drafting = 0;   // drafting: those that sent a draft or more
  std::int64_t tokens = 0, rows = 0;      // emitted; of the target's forwards
  std::int64_t levels = 0;                // the depth of each step's drafts, added up
  double forward_us = 0, drafter_us = 0;  // phases forward; draft and observe
  // The drafter has a cache of its own and runs once for each level; else once a step.
  bool by_level = false;
  bool timed_while_drawing = false;
  // Rows of a forward of plain decoding: 1, or the beams of a search. Of beams `tokens` are levels of
  // the search, and `places` is empty: a level counts where every beam has a row, so what other
  // numbers of drafts would have given is not known.
  bool of_beams = false;
  int plain_rows = 1;
  ForwardTimes times = {};
  ExpertReads experts = {};             // of a mixture
  Acceptance depths = {}, places = {};  // by depth, and by place in the tree

  double mean_rows() const;
  double tokens_per_step() const;
  double share_drafting() const;
  double mean_levels() const;  // of steps that draft
  double acceptance() const;   // of the places reached, the share at which a draft was accepted
  bool is_of_beams() const { return of_beams; }
};
// nullopt: the run has no drafts, for one text or for beams. Only what the cursor has seen counts.
std::optional<SpeculationFacts> speculation_facts(const capture::Capture& capture,
                                                  capture::Tick cursor, StepRange range = {});
void add_speculation(SpeculationFacts& sum, const SpeculationFacts& more);

// A place of the tree and what it earned.
struct PlaceYield {
  std::string place;  // ranks from the frontier: "1.1.2"
  int level = 1;
  double yield = 0;    // tokens a step
  std::int64_t n = 0;  // how often it could have been accepted
};
// The most earning first, parents before their children.
std::vector<PlaceYield> place_yields(const SpeculationFacts& facts);

}  // namespace triescope::viz

// The tables and plots of the beam benchmark.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/bench/benchmarks.h"
#include "viz/panels/panel.h"

namespace triescope::app {

// A row for each number of beams, length and KV policy.
nlohmann::ordered_json beam_table(const std::vector<BeamCost>& costs);
// What the trie paper reports, a row for each number of beams and length: `overlap`, KV tokens of trie
// search over batch search's, with the paper's collection (compact) and with recycling;
// `saved_with_gc`, `saved_without_gc`, batch search's tokens less those of trie search; a collection's
// time, and its ratio to a forward's.
nlohmann::ordered_json overlap_table(const std::vector<BeamCost>& costs);
// Sums up the table's `overlap`: {"settings", "mean", "median"}.
nlohmann::ordered_json overlap_summary(const nlohmann::ordered_json& table);
void print_overlap(const nlohmann::ordered_json& summary);  // a line

// KV by step against greedy decoding and batch search for each number of beams (first length, first
// prompt), the overlap ratio and the saved tokens by number of beams.
std::vector<std::unique_ptr<viz::Panel>> beam_plots(const std::vector<BeamCost>& costs);

}  // namespace triescope::app

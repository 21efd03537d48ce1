#include "app/cli/bench_beams.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/session/result_json.h"
#include "app/study/study_figures.h"
#include "core/base/counted.h"
#include "viz/panels/bar_picture.h"
#include "viz/plots/plots.h"

namespace triescope::app {
namespace {

using nlohmann::ordered_json;

const BeamCost* with_policy(const std::vector<BeamCost>& costs, const BeamCost& like,
                            const std::string& policy) {
  for (const BeamCost& cost : costs)
    if (cost.num_beams == like.num_beams && cost.max_new_tokens == like.max_new_tokens &&
        cost.policy == policy)
      return &cost;
  return nullptr;
}

std::vector<double> by_step(const std::vector<capture::MemoryRow>& rows,
                            std::int32_t capture::MemoryRow::*live,
                            std::int32_t capture::MemoryRow::*garbage = nullptr) {
  std::vector<double> values;
  for (std::size_t i = 0; i + 1 < rows.size(); ++i)  // the last step releases its KV
    values.push_back(rows[i].*live + (garbage ? rows[i].*garbage : 0));
  return values;
}

std::unique_ptr<viz::Panel> memory_plot(const std::vector<BeamCost>& costs, const BeamCost& batch) {
  using Row = capture::MemoryRow;
  viz::CurvePlot plot;
  plot.name = "beams-memory-" + std::to_string(batch.num_beams);
  plot.title = "KV by step, " + counted(batch.num_beams, "beam");
  plot.x_name = "step";
  plot.y_name = "KV in tokens";
  const auto add = [&](const char* policy, const std::string& name) {
    if (const BeamCost* const cost = with_policy(costs, batch, policy))
      plot.curves.push_back({name, by_step(cost->memory, &Row::live, &Row::garbage)});
  };
  plot.curves.push_back(
      {"batch search", by_step(batch.memory, &Row::batch_beam), viz::LineStyle::kSolid, true});
  add("keep", "trie, no collection");
  add("compact", "trie, collection (compact)");
  add("recycle", "trie, recycled slots");
  plot.curves.push_back(
      {"greedy decoding", by_step(batch.memory, &Row::greedy), viz::LineStyle::kDashed, true});
  return viz::make_curve_plot(std::move(plot));
}

// Policies by numbers of beams.
std::unique_ptr<viz::Panel> policy_bars(const std::vector<BeamCost>& costs, viz::BarChart chart,
                                        double BeamCost::*figure) {
  chart.lies = true;
  chart.series = {"keep", "compact", "recycle"};
  for (const BeamCost& batch : costs) {
    if (batch.policy != "batch" || batch.max_new_tokens != costs.front().max_new_tokens) continue;
    chart.groups.push_back(counted(batch.num_beams, "beam"));
    auto& bars = chart.values.emplace_back(chart.series.size());
    for (std::size_t i = 0; i < bars.size(); ++i)
      if (const BeamCost* const cost = with_policy(costs, batch, chart.series[i]);
          cost && std::isfinite(cost->*figure))
        bars[i] = viz::BarValue{.mean = cost->*figure};
  }
  return viz::make_bar_picture(std::move(chart));
}

}  // namespace

ordered_json beam_table(const std::vector<BeamCost>& costs) {
  ordered_json table = ordered_json::array();
  for (const BeamCost& cost : costs)
    table.push_back({{"num_beams", cost.num_beams},
                     {"max_new_tokens", cost.max_new_tokens},
                     {"kv", cost.policy},
                     {"prompts", cost.prompts},
                     {"prompt_tokens", cost.prompt_tokens},
                     {"tokens_per_second", cost.tokens_per_second},
                     {"ms_per_step", cost.ms_per_step},
                     {"peak_live_tokens", cost.peak_live},
                     {"peak_garbage_tokens", cost.peak_garbage},
                     {"reserved_tokens", cost.peak_reserved},
                     {"moved_tokens", cost.moved},
                     {"kv_over_batch", cost.over_batch},
                     {"saved_tokens", cost.saved},
                     {"collections", cost.collections},
                     {"gc_ms", number_or_null(cost.gc_ms)},
                     {"equal_to_batch", cost.equal_to_batch}});
  return table;
}

ordered_json overlap_table(const std::vector<BeamCost>& costs) {
  ordered_json table = ordered_json::array();
  for (const BeamCost& batch : costs) {
    if (batch.policy != "batch") continue;
    const BeamCost* const compact = with_policy(costs, batch, "compact");
    const BeamCost* const keep = with_policy(costs, batch, "keep");
    const BeamCost* const recycle = with_policy(costs, batch, "recycle");
    if (!compact || !keep || !recycle) continue;
    table.push_back({{"num_beams", batch.num_beams},
                     {"max_new_tokens", batch.max_new_tokens},
                     {"overlap", compact->over_batch},
                     {"overlap_recycle", recycle->over_batch},
                     {"saved_with_gc", compact->saved},
                     {"saved_without_gc", keep->saved},
                     {"saved_recycle", recycle->saved},
                     {"collections", compact->collections},
                     {"gc_ms", number_or_null(compact->gc_ms)},
                     {"gc_over_forward", number_or_null(compact->gc_ms / compact->forward_ms)}});
  }
  return table;
}

ordered_json overlap_summary(const ordered_json& table) {
  std::vector<double> ratios;
  double sum = 0;
  for (const ordered_json& row : table) {
    ratios.push_back(row.at("overlap").get<double>());
    sum += ratios.back();
  }
  if (ratios.empty()) return nullptr;
  return {{"settings", ratios.size()},
          {"mean", sum / static_cast<double>(ratios.size())},
          {"median", median_of(ratios)}};
}

void print_overlap(const ordered_json& summary) {
  std::printf("Overlap over %s: mean %.3f, median %.3f\n\n",
              counted(summary.at("settings").get<std::size_t>(), "setting").c_str(),
              summary.at("mean").get<double>(), summary.at("median").get<double>());
}

std::vector<std::unique_ptr<viz::Panel>> beam_plots(const std::vector<BeamCost>& costs) {
  std::vector<std::unique_ptr<viz::Panel>> plots;
  if (costs.empty()) return plots;
  for (const BeamCost& cost : costs)
    if (cost.policy == "batch" && cost.max_new_tokens == costs.front().max_new_tokens)
      plots.push_back(memory_plot(costs, cost));
  viz::BarChart overlap;
  overlap.name = "beams-overlap";
  overlap.title = "KV of trie search over batch search's";
  overlap.reference = 1;
  plots.push_back(policy_bars(costs, std::move(overlap), &BeamCost::over_batch));
  viz::BarChart saved;
  saved.name = "beams-saved";
  saved.title = "KV tokens that trie search saves";
  saved.marks_best = true;
  plots.push_back(policy_bars(costs, std::move(saved), &BeamCost::saved));
  return plots;
}

}  // namespace triescope::app

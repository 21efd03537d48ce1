#include "app/spec/spec_tables.h"

#include "app/session/result_json.h"
#include "app/session/text_tools.h"
#include "app/spec/spec_plan.h"
#include "core/base/json_io.h"

namespace triescope::app {
namespace {

using nlohmann::ordered_json;

constexpr double kMegabyte = 1 << 20;

ordered_json figure(double value) { return ordered_json(number_or_null(value)); }

ordered_json cell_row(const SpecCell& cell) {
  const double prompts = cell.prompts;
  return {{"method", cell.method},
          {"task", cell.task},
          {"prompts", cell.prompts},
          {"tokens_per_forward", figure(cell.tokens_per_forward())},
          {"accepted_per_step", figure(cell.accepted_per_step())},
          {"tokens_per_second", figure(cell.tokens_per_second())},
          {"speed", figure(cell.speed())},
          {"decode_speed", figure(cell.decode_speed())},
          {"prefill_ms", figure(cell.prefill_ms / prompts)},
          {"index_ms", figure(cell.index_ms / cell.indexed)},
          {"draft_ms", figure(cell.draft_ms / cell.steps)},
          {"forward_ms", figure(cell.forward_ms / cell.steps)},
          {"accept_ms", figure(cell.accept_ms / cell.steps)},
          {"commit_ms", figure(cell.commit_ms / cell.steps)},
          {"observe_ms", figure(cell.observe_ms / cell.steps)},
          {"kv_mb", figure(cell.kv_bytes / prompts / kMegabyte)},
          {"draft_kv_mb", figure(cell.draft_kv_bytes / prompts / kMegabyte)},
          {"equal_to_greedy", cell.equal}};
}

void add_acceptance_rows(ordered_json& rows, const SpecCell& cell, viz::AcceptanceBy by,
                         const viz::Acceptance& acceptance) {
  for (const viz::AcceptanceGroup& group : acceptance.groups) {
    const viz::ShareInterval interval = group.interval();
    rows.push_back({{"method", cell.method},
                    {"task", cell.task},
                    {"by", to_string(by)},
                    {"group", group.label},
                    {"n", group.n},
                    {"accepted", group.accepted},
                    {"share", group.share()},
                    {"low", interval.low},
                    {"high", interval.high}});
  }
}

ordered_json sweep_row(const SpecCell& cell) {
  std::string settings;
  for (const auto& [name, value] : cell.settings.items())
    settings += (settings.empty() ? "" : ":") + name + "=" + json_text(value);
  return {{"method", cell.method},
          {"settings", settings},
          {"prompts", cell.prompts},
          {"tokens_per_forward", figure(cell.tokens_per_forward())},
          {"accepted_per_step", figure(cell.accepted_per_step())},
          {"speed", figure(cell.speed())},
          {"equal_to_greedy", cell.equal}};
}

// The values of one figure: methods by tasks.
ordered_json matrix(const std::vector<SpecCell>& cells, double (SpecCell::*value)() const) {
  ordered_json rows = ordered_json::array();
  std::vector<std::string> tasks;
  for (const SpecCell& cell : cells)
    if (!is_spec_sweep(cell.method)) place_of(tasks, cell.task);
  for (const SpecCell& cell : cells) {
    if (is_spec_sweep(cell.method)) continue;
    if (rows.empty() || rows.back().at("method") != cell.method) {
      rows.push_back({{"method", cell.method}});
      for (const std::string& task : tasks) rows.back()[task] = nullptr;
    }
    rows.back()[cell.task] = figure((cell.*value)());
  }
  return rows;
}

}  // namespace

SpecTables spec_tables(const std::vector<SpecCell>& cells) {
  ordered_json methods = ordered_json::array(), accepted = ordered_json::array(),
               acceptance = ordered_json::array(), sweeps = ordered_json::array();
  for (const SpecCell& cell : cells) {
    if (is_spec_sweep(cell.method)) {
      sweeps.push_back(sweep_row(cell));
      continue;
    }
    methods.push_back(cell_row(cell));
    for (std::size_t k = 0; k < cell.accepted_histogram.size(); ++k)
      accepted.push_back({{"method", cell.method},
                          {"task", cell.task},
                          {"accepted", k},
                          {"steps", cell.accepted_histogram[k]}});
    add_acceptance_rows(acceptance, cell, viz::AcceptanceBy::kDepth, cell.by_depth);
    add_acceptance_rows(acceptance, cell, viz::AcceptanceBy::kRank, cell.by_rank);
    add_acceptance_rows(acceptance, cell, viz::AcceptanceBy::kSource, cell.by_source);
  }
  return {{"spec", methods},
          {"spec_accepted", accepted},
          {"spec_acceptance", acceptance},
          {"spec_sweeps", sweeps}};
}

SpecTables spec_summary(const std::vector<SpecCell>& cells) {
  ordered_json costs = ordered_json::array(), sweeps = ordered_json::array();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (is_spec_sweep(cells[i].method)) {
      sweeps.push_back(sweep_row(cells[i]));
      continue;
    }
    // A method's last row counts: all tasks, or its only one.
    if (i + 1 < cells.size() && cells[i + 1].method == cells[i].method) continue;
    ordered_json row = cell_row(cells[i]);
    row.erase("task");
    costs.push_back(std::move(row));
  }
  SpecTables tables = {
      {"Tokens a forward, by task", matrix(cells, &SpecCell::tokens_per_forward)},
      {"Speed over plain decoding, prefill and drafting counted, by task",
       matrix(cells, &SpecCell::speed)},
      {"Over all tasks (prefill, and index, the drafter up to its first draft: ms a prompt; the "
       "phases: ms a step; KV at its most)",
       costs}};
  if (!sweeps.empty()) tables.emplace_back("Sweeps, over all tasks", sweeps);
  return tables;
}

}  // namespace triescope::app

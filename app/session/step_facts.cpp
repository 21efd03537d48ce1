#include "app/session/step_facts.h"

#include <algorithm>

namespace triescope::app {

using capture::Whose;

StepFacts facts_of_step(const capture::Capture& capture, std::int32_t step) {
  StepFacts facts;
  facts.rows = lessons::rows_of_step(capture, step);
  for (const Whose whose : capture.owners())
    facts.candidates.push_back(capture.candidates_of(step, whose));
  const auto tick_of = [](const capture::MetricRow& row) { return capture::step_of(row.tick); };
  const auto metrics = capture.metrics();
  facts.metrics = {std::ranges::lower_bound(metrics, step, {}, tick_of),
                   std::ranges::upper_bound(metrics, step, {}, tick_of)};
  facts.prompt_tokens = static_cast<std::int32_t>(capture.run().prompt_tokens.size());
  const capture::Tick end = capture::make_tick(step + 1, capture::Phase::kDraft);
  facts.node_of = [&capture, end](std::int32_t node) -> std::optional<capture::NodeRow> {
    if (node < 0 || static_cast<std::size_t>(node) >= capture.nodes().size()) return std::nullopt;
    return capture.node_at(node, end).row;
  };
  facts.piece_of = [&capture](std::int32_t token) -> std::optional<std::string_view> {
    if (token < 0) return std::nullopt;
    return capture.piece(token);
  };
  facts.source_of = [&capture](const capture::NodeRow& node) { return capture.source_of(node); };
  return facts;
}

void StepGatherer::add(const capture::RowTables& rows) {
  if (rows_.figures) rows_ = {};  // that step is over
  before_ = {
      rows_.inputs.size(),     rows_.slots.size(),   rows_.verdicts.size(), rows_.phases.size(),
      rows_.candidates.size(), rows_.metrics.size(), rows_.experts.size(),  rows_.memory};
  if (rows.run) prompt_tokens_ = static_cast<std::int32_t>(rows.run->prompt_tokens.size());
  if (!rows.drafters.empty()) drafters_ = rows.drafters;
  for (const capture::NodeRow& row : rows.nodes) {
    if (row.node < 0) continue;
    const auto place = static_cast<std::size_t>(row.node);
    if (nodes_.size() <= place) nodes_.resize(place + 1);
    nodes_[place] = row;
  }
  for (const capture::NodeScoreRow& row : rows.node_scores) {
    const auto place = static_cast<std::size_t>(row.node);
    if (row.node < 0 || place >= nodes_.size()) continue;
    nodes_[place].logprob = row.logprob;
    nodes_[place].score = row.score;
  }
  const auto take = [](auto& into, const auto& from) {
    into.insert(into.end(), from.begin(), from.end());
  };
  const auto is_target = [](const auto& row) { return row.whose == Whose::kTarget; };
  std::ranges::copy_if(rows.inputs, std::back_inserter(rows_.inputs), is_target);
  std::ranges::copy_if(rows.slots, std::back_inserter(rows_.slots), is_target);
  take(rows_.verdicts, rows.verdicts);
  take(rows_.phases, rows.phases);
  take(rows_.candidates, rows.candidates);
  take(rows_.metrics, rows.metrics);
  take(rows_.experts, rows.experts);
  for (const capture::MemoryRow& row : rows.memory)
    if (is_target(row)) rows_.memory = row;
  if (!rows.steps.empty()) rows_.figures = rows.steps.back();
}

void StepGatherer::undo() {
  rows_.inputs.resize(before_.inputs);
  rows_.slots.resize(before_.slots);
  rows_.verdicts.resize(before_.verdicts);
  rows_.phases.resize(before_.phases);
  rows_.candidates.resize(before_.candidates);
  rows_.metrics.resize(before_.metrics);
  rows_.experts.resize(before_.experts);
  rows_.memory = before_.memory;
  rows_.figures.reset();
}

std::optional<capture::NodeRow> StepGatherer::node(std::int32_t node) const {
  const auto place = static_cast<std::size_t>(node);
  if (node < 0 || place >= nodes_.size()) return std::nullopt;
  return nodes_[place];
}

std::optional<StepFacts> StepGatherer::finished(
    std::function<std::optional<std::string_view>(std::int32_t token)> piece_of) const {
  if (!rows_.figures) return std::nullopt;
  StepFacts facts;
  facts.rows = {.step = rows_.figures->step,
                .figures = rows_.figures,
                .memory = rows_.memory,
                .inputs = rows_.inputs,
                .verdicts = rows_.verdicts,
                .slots = rows_.slots,
                .phases = rows_.phases,
                .experts = rows_.experts};
  facts.candidates = {rows_.candidates};
  facts.metrics = rows_.metrics;
  facts.prompt_tokens = prompt_tokens_;
  facts.node_of = [this](std::int32_t id) { return node(id); };
  facts.piece_of = std::move(piece_of);
  facts.source_of = [this](const capture::NodeRow& row) -> std::string_view {
    for (const capture::DrafterRow& drafter : drafters_)
      if (capture::is_drafted(row.source) && drafter.drafter == row.drafter) return drafter.name;
    return to_string(row.source);
  };
  return facts;
}

}  // namespace triescope::app

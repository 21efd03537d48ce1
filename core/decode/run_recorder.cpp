#include "core/decode/run_recorder.h"

#include <cmath>

namespace triescope {

using capture::Level;
using capture::Tick;

void RunRecorder::piece(std::int32_t token) {
  if (token < 0 || token >= tokenizer_.vocab_size()) return;
  const auto i = static_cast<std::size_t>(token);
  if (i >= has_piece_.size()) has_piece_.resize(i + 1, false);
  if (has_piece_[i]) return;
  has_piece_[i] = true;
  recorder_.piece(token, tokenizer_.piece(token));
}

void RunRecorder::run(const capture::RunInfo& info) {
  began_ = std::chrono::steady_clock::now();
  if (!records(Level::kSteps)) return;
  recorder_.run(info);
  if (!records(Level::kTree)) return;
  for (const std::int32_t token : info.prompt_tokens) piece(token);
}

void RunRecorder::new_nodes(const TokenTree& tree, Tick tick) {
  if (!records(Level::kTree) || recorded_nodes_ == tree.size()) return;
  std::vector<capture::NodeRow> rows;
  score_known_.resize(static_cast<std::size_t>(tree.size()), false);
  for (; recorded_nodes_ < tree.size(); ++recorded_nodes_) {
    const Node& node = tree[NodeId(recorded_nodes_)];
    if (node.token.valid()) piece(node.token.value);
    score_known_[static_cast<std::size_t>(recorded_nodes_)] = !std::isnan(node.logprob);
    rows.push_back({.node = recorded_nodes_,
                    .parent = node.parent.value,
                    .token = node.token.value,
                    .depth = node.depth,
                    .logprob = node.logprob,
                    .score = node.score,
                    .q = node.q,
                    .source = node.source,
                    .tick = tick});
  }
  recorder_.nodes(rows);
}

void RunRecorder::new_scores(const TokenTree& tree, std::span<const NodeId> nodes, Tick tick) {
  if (!records(Level::kTree)) return;
  std::vector<capture::NodeScoreRow> rows;
  for (const NodeId id : nodes) {
    const auto i = static_cast<std::size_t>(id.value);
    if (i >= score_known_.size() || score_known_[i] || std::isnan(tree[id].logprob)) continue;
    score_known_[i] = true;
    rows.push_back(
        {.node = id.value, .logprob = tree[id].logprob, .score = tree[id].score, .tick = tick});
  }
  if (!rows.empty()) recorder_.node_scores(rows);
}

void RunRecorder::inputs(std::span<const capture::InputRow> rows) {
  if (records(Level::kFull) && !rows.empty()) recorder_.inputs(rows);
}

void RunRecorder::slots(std::vector<capture::SlotRow> rows, Tick tick) {
  if (!records(Level::kFull) || rows.empty()) return;
  for (auto& row : rows) row.tick = tick;
  recorder_.slots(rows);
}

void RunRecorder::decision(AcceptResult& result, Tick tick) {
  if (!records(Level::kTree)) return;
  for (auto& row : result.verdicts) {
    row.tick = tick;
    piece(row.replacement);
  }
  if (!result.verdicts.empty()) recorder_.verdicts(result.verdicts);
  if (!records(Level::kFull) || result.candidates.empty()) return;
  for (auto& row : result.candidates) {
    row.tick = tick;
    piece(row.token);
  }
  recorder_.candidates(result.candidates);
}

void RunRecorder::verdicts(std::span<const capture::VerdictRow> rows) {
  if (records(Level::kTree) && !rows.empty()) recorder_.verdicts(rows);
}

void RunRecorder::frontier(const TokenTree& tree, std::span<const NodeId> frontier,
                           std::int32_t step) {
  if (!records(Level::kTree) || frontier.empty()) return;
  std::vector<capture::FrontierRow> rows;
  for (std::size_t i = 0; i < frontier.size(); ++i)
    rows.push_back({.step = step,
                    .rank = static_cast<std::int32_t>(i),
                    .node = frontier[i].value,
                    .score = tree[frontier[i]].score});
  recorder_.frontier(rows);
}

void RunRecorder::memory(const capture::MemoryRow& row) {
  if (records(Level::kSteps)) recorder_.memory(row);
}

void RunRecorder::sequence(const TokenTree& tree, const FinishedSequence& sequence,
                           std::int32_t rank, std::string_view finish, Tick tick) {
  if (!records(Level::kSteps)) return;
  capture::SequenceRow row;
  row.tick = tick;
  row.node = sequence.node.value;
  row.rank = rank;
  row.score = sequence.score;
  row.finish = finish;
  for (const TokenId token : tree.tokens_to(sequence.node)) {
    row.tokens.push_back(token.value);
    piece(token.value);
  }
  recorder_.sequence(row);
}

void RunRecorder::step(const capture::StepRow& row) {
  if (records(Level::kSteps)) recorder_.step(row);
}

void RunRecorder::phase(Tick tick, std::chrono::steady_clock::time_point start,
                        std::chrono::steady_clock::time_point end) {
  if (!records(Level::kSteps)) return;
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  recorder_.phase({.tick = tick,
                   .start_us = duration_cast<microseconds>(start - began_).count(),
                   .duration_us = duration_cast<microseconds>(end - start).count()});
}

void RunRecorder::finish(capture::RunStatus status, std::string_view message) {
  recorder_.finish(status, message);
}

}  // namespace triescope

#include "core/session/run_recorder.h"

#include <cmath>
#include <string>
#include <utility>

#include "core/capture/metric_names.h"
#include "core/model/sublayers.h"

namespace triescope {

using capture::Tick;

void RunRecorder::piece(TokenId token) {
  if (!records<capture::PieceRow>() || !token.valid() || token.value >= tokenizer_.vocab_size())
    return;
  if (has_piece_.get(token)) return;
  has_piece_.grow(token.value + 1);
  has_piece_[token] = true;
  rows_.pieces.push_back({token.value, std::string(tokenizer_.piece(token.value))});
}

void RunRecorder::run(const capture::RunInfo& info, std::vector<capture::DrafterRow> drafters,
                      capture::ProgramRow program) {
  began_ = std::chrono::steady_clock::now();
  if (!records<capture::RunInfo>()) return;
  rows_.run = info;
  rows_.programs = {std::move(program)};
  rows_.drafters = std::move(drafters);
  for (const std::int32_t token : info.prompt_tokens) piece(TokenId(token));
  hand_over();
}

void RunRecorder::name_token(TokenId token, std::string piece) {
  if (records<capture::PieceRow>()) rows_.pieces.push_back({token.value, std::move(piece)});
}

void RunRecorder::new_nodes(const TokenTree& tree, Tick tick) {
  if (!records<capture::NodeRow>() || recorded_nodes_ == tree.size()) return;
  score_known_.grow(tree.size());
  for (; recorded_nodes_ < tree.size(); ++recorded_nodes_) {
    const NodeId id(recorded_nodes_);
    const Node& node = tree[id];
    piece(node.token);
    score_known_[id] = !std::isnan(node.logprob);
    rows_.nodes.push_back({.node = id.value,
                           .parent = node.parent.value,
                           .token = node.token.value,
                           .depth = node.depth,
                           .logprob = node.logprob,
                           .score = node.score,
                           .q = node.q,
                           .source = node.source,
                           .tick = tick,
                           .role = node.role,
                           // A method has one.
                           .drafter = capture::is_drafted(node.source) ? 0 : -1});
  }
}

void RunRecorder::new_scores(const TokenTree& tree, std::span<const NodeId> nodes, Tick tick) {
  if (!records<capture::NodeScoreRow>()) return;
  for (const NodeId id : nodes) {
    // A node that was not recorded yet is recorded with its score.
    if (score_known_.get(id, true) || std::isnan(tree[id].logprob)) continue;
    score_known_[id] = true;
    rows_.node_scores.push_back(
        {.node = id.value, .logprob = tree[id].logprob, .score = tree[id].score, .tick = tick});
  }
}

void RunRecorder::inputs(std::span<const capture::InputRow> rows) {
  if (!records<capture::InputRow>()) return;
  rows_.inputs.insert(rows_.inputs.end(), rows.begin(), rows.end());
}

void RunRecorder::slots(std::span<const capture::SlotRow> rows, capture::Whose whose, Tick tick) {
  if (!records<capture::SlotRow>()) return;
  for (capture::SlotRow row : rows) {
    row.tick = tick;
    row.whose = whose;
    rows_.slots.push_back(row);
  }
}

void RunRecorder::candidates(std::span<const capture::CandidateRow> rows, capture::Whose whose,
                             Tick tick) {
  if (!records<capture::CandidateRow>()) return;
  for (capture::CandidateRow row : rows) {
    row.tick = tick;
    row.whose = whose;
    piece(TokenId(row.token));
    rows_.candidates.push_back(row);
  }
}

void RunRecorder::experts(std::vector<capture::ExpertRow> rows, Tick tick) {
  if (!records<capture::ExpertRow>()) return;
  for (capture::ExpertRow& row : rows) {
    row.tick = tick;
    rows_.experts.push_back(std::move(row));
  }
}

void RunRecorder::figures(std::vector<capture::MetricRow> rows, Tick tick) {
  // They name nodes, which are recorded from a level on.
  if (!records<capture::MetricRow>() || !records<capture::NodeRow>()) return;
  for (capture::MetricRow& row : rows) {
    row.tick = tick;
    if (row.name.starts_with(capture::kTokenList))
      piece(TokenId(static_cast<std::int32_t>(row.value)));
    rows_.metrics.push_back(std::move(row));
  }
}

void RunRecorder::left_out(std::span<const std::int32_t> sublayers, Tick tick) {
  if (!records<capture::MetricRow>()) return;
  for (std::size_t i = 0; i < sublayers.size(); ++i) {
    const std::int32_t layer = layer_of(sublayers[i]);
    const bool both = i + 1 < sublayers.size() && layer_of(sublayers[i + 1]) == layer;
    const std::string_view name = both                         ? capture::kLeftOutLayer
                                  : is_attention(sublayers[i]) ? capture::kLeftOutAttention
                                                               : capture::kLeftOutMlp;
    rows_.metrics.push_back(
        {.tick = tick, .name = std::string(name), .value = static_cast<double>(layer)});
    i += both;
  }
}

void RunRecorder::stages(std::span<const capture::StageRow> rows, Tick tick) {
  if (!records<capture::StageRow>()) return;
  for (capture::StageRow row : rows) {
    row.tick = tick;
    piece(TokenId(row.token));
    rows_.stages.push_back(row);
  }
}

void RunRecorder::decision(AcceptResult& result, Tick tick) {
  if (!records<capture::VerdictRow>()) return;
  for (auto& row : result.verdicts) {
    row.tick = tick;
    piece(TokenId(row.replacement));
  }
  verdicts(result.verdicts);
  candidates(result.candidates, capture::Whose::kTarget, tick);
  stages(result.stages, tick);
}

void RunRecorder::verdicts(std::span<const capture::VerdictRow> rows) {
  if (!records<capture::VerdictRow>()) return;
  rows_.verdicts.insert(rows_.verdicts.end(), rows.begin(), rows.end());
}

void RunRecorder::frontier(const TokenTree& tree, std::span<const NodeId> frontier,
                           std::int32_t step) {
  if (!records<capture::FrontierRow>()) return;
  for (std::size_t i = 0; i < frontier.size(); ++i)
    rows_.frontier.push_back({.step = step,
                              .rank = static_cast<std::int32_t>(i),
                              .node = frontier[i].value,
                              .score = tree[frontier[i]].score});
}

void RunRecorder::memory(const capture::MemoryRow& row) {
  if (records<capture::MemoryRow>()) rows_.memory.push_back(row);
}

void RunRecorder::sequence(const TokenTree& tree, const FinishedSequence& sequence,
                           std::int32_t rank, std::string_view finish, Tick tick) {
  if (!records<capture::SequenceRow>()) return;
  capture::SequenceRow row;
  row.tick = tick;
  row.node = sequence.node.value;
  row.rank = rank;
  row.score = sequence.score;
  row.finish = finish;
  for (const TokenId token : tree.tokens_to(sequence.node)) {
    row.tokens.push_back(token.value);
    piece(token);
  }
  rows_.sequences.push_back(std::move(row));
}

void RunRecorder::step(const capture::StepRow& row) {
  if (records<capture::StepRow>()) rows_.steps.push_back(row);
}

void RunRecorder::phase(Tick tick, std::chrono::steady_clock::time_point start,
                        std::chrono::steady_clock::time_point end) {
  if (!records<capture::PhaseRow>()) return;
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  rows_.phases.push_back({.tick = tick,
                          .start_us = duration_cast<microseconds>(start - began_).count(),
                          .duration_us = duration_cast<microseconds>(end - start).count()});
  hand_over();
}

void RunRecorder::finish(capture::RunStatus status, std::string_view message) {
  rows_.finish = {status, std::string(message)};
  hand_over();
}

void RunRecorder::hand_over() {
  // Clears the rows even if write() throws for good: they are handed over once.
  const struct Clear {
    capture::RowTables& rows;
    ~Clear() {
      capture::for_each_table([&](const auto member) { (rows.*member).clear(); });
      rows.run.reset();
      rows.finish.reset();
    }
  } clear{rows_};
  with_memory(memory_wait_, [&] { recorder_.write(rows_); });
}

}  // namespace triescope

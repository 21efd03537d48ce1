// RunRecorder: passes what the session does on to the capture. It knows the recording level, stamps
// rows with their tick and gathers what a phase produced, with the text of every new token; phase()
// hands that over at once. At level kOff every call is one comparison. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/id_vector.h"
#include "core/base/memory_wait.h"
#include "core/capture/recorder.h"
#include "core/capture/row_types.h"
#include "core/method/method.h"
#include "core/text/tokenizer/tokenizer.h"
#include "core/tree/token_tree.h"

namespace triescope {

class RunRecorder {
 public:
  RunRecorder(capture::Recorder& recorder, const Tokenizer& tokenizer)
      : recorder_(recorder), tokenizer_(tokenizer), level_(recorder.level()) {}

  bool records(capture::Level level) const { return level_ >= level; }
  // Called where the recorder is refused memory.
  void wait_for_memory(MemoryWait wait) { memory_wait_ = std::move(wait); }

  void run(const capture::RunInfo& info, std::vector<capture::DrafterRow> drafters = {},
           capture::ProgramRow program = {});
  // How a token that the tokenizer does not have is spelled. Before the first node that carries it.
  void name_token(TokenId token, std::string piece);
  // Records the nodes that came into the tree since the last call.
  void new_nodes(const TokenTree& tree, capture::Tick tick);
  // Records the log-prob of those of these nodes for which it became known since they were
  // recorded.
  void new_scores(const TokenTree& tree, std::span<const NodeId> nodes, capture::Tick tick);
  void inputs(std::span<const capture::InputRow> rows);
  // These two fill in owner and tick.
  void slots(std::span<const capture::SlotRow> rows, capture::Whose whose, capture::Tick tick);
  void candidates(std::span<const capture::CandidateRow> rows, capture::Whose whose,
                  capture::Tick tick);
  void experts(std::vector<capture::ExpertRow> rows, capture::Tick tick);    // fills in the tick
  void stages(std::span<const capture::StageRow> rows, capture::Tick tick);  // fills in the tick
  void figures(std::vector<capture::MetricRow> rows, capture::Tick tick);    // fills in the tick
  // The parts of layers that the drafting model leaves out from now on, ascending.
  void left_out(std::span<const std::int32_t> sublayers, capture::Tick tick);
  void decision(AcceptResult& result, capture::Tick tick);  // fills in the ticks
  void verdicts(std::span<const capture::VerdictRow> rows);
  void frontier(const TokenTree& tree, std::span<const NodeId> frontier, std::int32_t step);
  void memory(const capture::MemoryRow& row);
  void sequence(const TokenTree& tree, const FinishedSequence& sequence, std::int32_t rank,
                std::string_view finish, capture::Tick tick);
  void step(const capture::StepRow& row);
  // Ends a phase: hands over its rows.
  void phase(capture::Tick tick, std::chrono::steady_clock::time_point start,
             std::chrono::steady_clock::time_point end);
  // Ends the run: hands over the rest.
  void finish(capture::RunStatus status, std::string_view message);

 private:
  template <class Row>
  bool records() const {
    return level_ >= capture::RowType<Row>::kLevel;
  }
  void piece(TokenId token);
  void hand_over();

  capture::Recorder& recorder_;
  const Tokenizer& tokenizer_;
  capture::Level level_;
  MemoryWait memory_wait_;
  capture::RowTables rows_;  // not yet handed over
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::int32_t recorded_nodes_ = 0;
  IdVector<TokenId, bool> has_piece_;
  IdVector<NodeId, bool> score_known_;
};

}  // namespace triescope

#include "core/capture/batch_writer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/capture/recorder_identity.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

std::span<const std::byte> bytes_of(const std::vector<std::int32_t>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace

struct BatchWriter::Statements {
  explicit Statements(Database& db)
      : run(db, "INSERT OR REPLACE INTO run VALUES (1,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
        piece(db, "INSERT INTO piece VALUES (NULL,?,?)"),
        step(db, "INSERT INTO step VALUES (NULL,?,?,?,?,?,?)"),
        phase(db, "INSERT INTO phase VALUES (NULL,?,?,?)"),
        node(db, "INSERT INTO node VALUES (NULL,?,?,?,?,?,?,?,?,?)"),
        node_score(db, "INSERT INTO node_score VALUES (NULL,?,?,?,?)"),
        input(db, "INSERT INTO input VALUES (NULL,?,?,?,?,?,?)"),
        candidate(db, "INSERT INTO candidate VALUES (NULL,?,?,?,?,?,?)"),
        verdict(db, "INSERT INTO verdict VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?)"),
        frontier(db, "INSERT INTO frontier VALUES (NULL,?,?,?,?)"),
        slot(db, "INSERT INTO slot VALUES (NULL,?,?,?,?,?)"),
        memory(db, "INSERT INTO memory VALUES (NULL,?,?,?,?,?,?,?,?,?)"),
        sequence(db, "INSERT INTO sequence VALUES (NULL,?,?,?,?,?,?)"),
        log(db, "INSERT INTO log VALUES (NULL,?,?,?)"),
        finish(db, "UPDATE run SET status=?, message=? WHERE id=1") {}
  Statement run, piece, step, phase, node, node_score, input, candidate, verdict, frontier, slot,
      memory, sequence, log, finish;
};

BatchWriter::BatchWriter(Database& db) : db_(db), statements_(std::make_unique<Statements>(db)) {}
BatchWriter::~BatchWriter() = default;

void BatchWriter::write(const Batch& batch) {
  Statements& s = *statements_;
  db_.execute("BEGIN");
  try {
    if (batch.run) {
      const RunInfo& r = *batch.run;
      s.run.bind(r.created_utc)
          .bind(r.model_json)
          .bind(r.method)
          .bind(r.method_title)
          .bind(r.settings_json)
          .bind(r.seed);
      s.run.bind(r.versions_json)
          .bind(r.prompt_text)
          .bind_blob(bytes_of(r.prompt_tokens))
          .bind(std::int64_t{r.max_new_tokens});
      s.run.bind(r.kv_bytes_per_token).bind(std::int64_t{r.sliding_window}).bind(r.kv_policy);
      s.run.bind(static_cast<std::int64_t>(RunStatus::kRunning))
          .bind(std::string_view())
          .bind(recorder_identity())
          .run();
    }
    const auto i = [](auto value) { return static_cast<std::int64_t>(value); };
    const auto f = [](float value) { return static_cast<double>(value); };
    for (const auto& [token, bytes] : batch.pieces)
      s.piece.bind(i(token)).bind_blob(std::as_bytes(std::span(bytes))).run();
    for (const StepRow& r : batch.steps)
      s.step.bind(i(r.step))
          .bind(i(r.forward_rows))
          .bind(i(r.drafted))
          .bind(i(r.accepted))
          .bind(i(r.emitted))
          .bind(i(r.frontier))
          .run();
    for (const NodeRow& r : batch.nodes)
      s.node.bind(i(r.node))
          .bind(i(r.parent))
          .bind(i(r.token))
          .bind(i(r.depth))
          .bind(f(r.logprob))
          .bind(f(r.score))
          .bind(f(r.q))
          .bind(i(r.source))
          .bind(r.tick)
          .run();
    for (const NodeScoreRow& r : batch.node_scores)
      s.node_score.bind(i(r.node)).bind(f(r.logprob)).bind(f(r.score)).bind(r.tick).run();
    for (const InputRow& r : batch.inputs)
      s.input.bind(i(r.step))
          .bind(i(r.row))
          .bind(i(r.node))
          .bind(i(r.position))
          .bind(i(r.slot))
          .bind(i(r.naive_position))
          .run();
    for (const CandidateRow& r : batch.candidates)
      s.candidate.bind(r.tick)
          .bind(i(r.node))
          .bind(i(r.rank))
          .bind(i(r.token))
          .bind(f(r.logprob))
          .bind(i(r.chosen))
          .run();
    for (const VerdictRow& r : batch.verdicts)
      s.verdict.bind(r.tick)
          .bind(i(r.node))
          .bind(i(r.verdict))
          .bind(f(r.p))
          .bind(f(r.q))
          .bind(f(r.u))
          .bind(i(r.rank))
          .bind(f(r.score))
          .bind(f(r.gap))
          .bind(i(r.replacement))
          .bind(r.reason)
          .run();
    for (const FrontierRow& r : batch.frontier)
      s.frontier.bind(i(r.step)).bind(i(r.rank)).bind(i(r.node)).bind(f(r.score)).run();
    for (const SlotRow& r : batch.slots)
      s.slot.bind(r.tick)
          .bind(i(r.action))
          .bind(i(r.slot))
          .bind(i(r.node))
          .bind(i(r.from_slot))
          .run();
    for (const MemoryRow& r : batch.memory)
      s.memory.bind(i(r.step))
          .bind(i(r.live))
          .bind(i(r.garbage))
          .bind(i(r.reserved))
          .bind(i(r.greedy))
          .bind(i(r.batch_beam))
          .bind(r.moved_bytes)
          .bind(r.device_allocated_bytes)
          .bind(r.device_reserved_bytes)
          .run();
    for (const SequenceRow& r : batch.sequences)
      s.sequence.bind(r.tick)
          .bind(i(r.node))
          .bind(i(r.rank))
          .bind(f(r.score))
          .bind(r.finish)
          .bind_blob(bytes_of(r.tokens))
          .run();
    for (const LogRow& r : batch.log) s.log.bind(r.tick).bind(i(r.level)).bind(r.text).run();
    // Last: a phase that can be read has all its rows before it.
    for (const PhaseRow& r : batch.phases)
      s.phase.bind(r.tick).bind(r.start_us).bind(r.duration_us).run();
    if (batch.finish)
      s.finish.bind(static_cast<std::int64_t>(batch.finish->first))
          .bind(batch.finish->second)
          .run();
    db_.execute("COMMIT");
  } catch (...) {
    sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

}  // namespace triescope::capture

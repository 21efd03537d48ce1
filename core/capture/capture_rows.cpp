#include "core/capture/capture_rows.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/capture/recorder_identity.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

constexpr std::int64_t kMaxStep = 100'000'000, kMaxSlot = 1 << 22, kMaxToken = 1 << 28;

}  // namespace

void CaptureRows::damaged(const char* table, std::int64_t row, const std::string& what) const {
  throw Error(ErrorCode::kCorruption,
              path + ": damaged: table " + table + ", row " + std::to_string(row) + ": " + what);
}

std::int32_t CaptureRows::in_range(const char* table, std::int64_t row, const char* column,
                                   std::int64_t value, std::int64_t low, std::int64_t high) const {
  if (value < low || value > high)
    damaged(table, row,
            std::string(column) + ": expected " + std::to_string(low) + " to " +
                std::to_string(high) + ", found " + std::to_string(value));
  return static_cast<std::int32_t>(value);
}

Tick CaptureRows::checked_tick(const char* table, std::int64_t row, std::int64_t tick) const {
  if (tick < 0 || tick > kMaxStep * kPhaseCount)
    damaged(table, row,
            "tick: expected 0 to " + std::to_string(kMaxStep * kPhaseCount) + ", found " +
                std::to_string(tick));
  return tick;
}

template <class Row>
Tick CaptureRows::later_tick(const char* table, std::int64_t row, std::int64_t tick,
                             const std::vector<Row>& before) const {
  checked_tick(table, row, tick);
  if (!before.empty() && tick < before.back().tick)
    damaged(table, row,
            "tick: expected " + std::to_string(before.back().tick) + " or later, found " +
                std::to_string(tick));
  return tick;
}

std::vector<std::int32_t> CaptureRows::tokens_of(const char* table, std::int64_t row,
                                                 std::span<const std::byte> blob) const {
  if (blob.size() % sizeof(std::int32_t) != 0)
    damaged(table, row,
            "tokens: expected 4 bytes each, found " + std::to_string(blob.size()) + " bytes");
  std::vector<std::int32_t> tokens(blob.size() / sizeof(std::int32_t));
  if (!tokens.empty()) std::memcpy(tokens.data(), blob.data(), blob.size());
  for (const std::int32_t token : tokens) in_range(table, row, "tokens", token, 0, kMaxToken);
  return tokens;
}

// What reads these texts walks them recursively. Not whether it is JSON: its readers see to that.
std::string CaptureRows::json_text(const char* column, std::string text) const {
  constexpr int kMaxDepth = 64;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{') && ++depth > kMaxDepth)
      damaged("run", 1,
              std::string(column) + ": expected JSON nested at most " + std::to_string(kMaxDepth) +
                  " deep");
    if (!quoted && (c == ']' || c == '}')) --depth;
  }
  return text;
}

std::int32_t CaptureRows::existing_node(const char* table, std::int64_t row,
                                        std::int64_t node) const {
  return in_range(table, row, "node", node, 0, static_cast<std::int64_t>(nodes.size()) - 1);
}

template <class Row>
bool CaptureRows::read(Database& db, int index, const char* sql, Row row) {
  Statement statement(db, sql);
  statement.bind(last_row_[static_cast<std::size_t>(index)]);
  bool any = false;
  std::int64_t& last = last_row_[static_cast<std::size_t>(index)];
  while (statement.next()) {
    // A page that several others point to would give its rows over and over.
    const std::int64_t id = statement.integer(0);
    if (id <= last)
      throw Error(ErrorCode::kCorruption, path + ": damaged: row " + std::to_string(id) +
                                              " comes after row " + std::to_string(last) + " (" +
                                              std::string(sql).substr(0, 40) + "...)");
    last = id;
    row(statement, id);
    any = true;
  }
  return any;
}

bool CaptureRows::read_run(Database& db) {
  Statement statement(db,
                      "SELECT created_utc, model_json, method, method_title, settings_json, "
                      "seed, versions_json, prompt_text, prompt_tokens, "
                      "max_new_tokens, kv_bytes_per_token, sliding_window, kv_policy, status, "
                      "message, recorder FROM run WHERE id=1");
  bool changed = false;
  while (statement.next()) {
    if (!has_run_ && !statement.text(2).empty()) {  // the writer hands in the rest with run()
      run.created_utc = statement.text(0);
      run.model_json = json_text("model_json", statement.text(1));
      run.method = statement.text(2);
      run.method_title = statement.text(3);
      run.settings_json = json_text("settings_json", statement.text(4));
      run.seed = statement.integer(5);
      run.versions_json = json_text("versions_json", statement.text(6));
      run.prompt_text = statement.text(7);
      run.prompt_tokens = tokens_of("run", 1, statement.blob(8));
      run.max_new_tokens = in_range("run", 1, "max_new_tokens", statement.integer(9), 0, kMaxStep);
      run.kv_bytes_per_token = statement.integer(10);
      run.sliding_window = in_range("run", 1, "sliding_window", statement.integer(11), 0, kMaxStep);
      run.kv_policy = statement.text(12);
      has_run_ = changed = true;
    }
    auto now = static_cast<RunStatus>(in_range("run", 1, "status", statement.integer(13), 0, 3));
    std::string message = statement.text(14);
    if (now == RunStatus::kRunning && !recorder_lives(statement.text(15), path)) {
      now = RunStatus::kStopped;
      message = "interrupted: the program that recorded it ended before the run did";
    }
    changed |= now != status;
    status = now;
    status_message = message;
  }
  return changed;
}

bool CaptureRows::read_tables(Database& db) {
  bool any = false;
  any |= read(db, 12, "SELECT id, token, bytes FROM piece WHERE id > ? ORDER BY id",
              [&](Statement& s, std::int64_t id) {
                const auto blob = s.blob(2);
                pieces.try_emplace(
                    in_range("piece", id, "token", s.integer(1), 0, kMaxToken),
                    std::string(reinterpret_cast<const char*>(blob.data()), blob.size()));
              });
  any |= read(db, 0,
              "SELECT id, step, forward_rows, drafted, accepted, emitted, frontier FROM step "
              "WHERE id > ? ORDER BY id",
              [&](Statement& s, std::int64_t id) {
                StepRow row;
                row.step = in_range("step", id, "step", s.integer(1),
                                    steps.empty() ? 0 : steps.back().step + 1, kMaxStep);
                row.forward_rows = in_range("step", id, "forward_rows", s.integer(2), 0, kMaxStep);
                row.drafted = in_range("step", id, "drafted", s.integer(3), 0, kMaxStep);
                row.accepted = in_range("step", id, "accepted", s.integer(4), 0, kMaxStep);
                row.emitted = in_range("step", id, "emitted", s.integer(5), 0, kMaxStep);
                row.frontier = in_range("step", id, "frontier", s.integer(6), 0, kMaxStep);
                steps.push_back(row);
              });
  any |= read(db, 1,
              "SELECT id, node, parent, token, depth, logprob, score, q, source, tick FROM node "
              "WHERE id > ? ORDER BY id",
              [&](Statement& s, std::int64_t id) {
                NodeRow row;
                const auto next = static_cast<std::int64_t>(nodes.size());
                row.node = in_range("node", id, "node", s.integer(1), next, next);
                row.parent = in_range("node", id, "parent", s.integer(2), next == 0 ? -1 : 0,
                                      next == 0 ? -1 : next - 1);
                row.token = in_range("node", id, "token", s.integer(3), -1, kMaxToken);
                const std::int64_t depth =
                    next == 0 ? 0 : nodes[static_cast<std::size_t>(row.parent)].depth + 1;
                row.depth = in_range("node", id, "depth", s.integer(4), depth, depth);
                row.logprob = static_cast<float>(s.number(5));
                row.score = static_cast<float>(s.number(6));
                row.q = static_cast<float>(s.number(7));
                row.source = static_cast<Source>(in_range("node", id, "source", s.integer(8), 0,
                                                          static_cast<int>(Source::kForced)));
                row.tick = later_tick("node", id, s.integer(9), nodes);
                for (auto* index : {&newest_verdict, &newest_score, &newest_candidates})
                  index->push_back(-1);
                nodes.push_back(row);
              });
  any |=
      read(db, 2, "SELECT id, node, logprob, score, tick FROM node_score WHERE id > ? ORDER BY id",
           [&](Statement& s, std::int64_t id) {
             NodeScoreRow row;
             row.node = existing_node("node_score", id, s.integer(1));
             row.logprob = static_cast<float>(s.number(2));
             row.score = static_cast<float>(s.number(3));
             row.tick = later_tick("node_score", id, s.integer(4), node_scores);
             earlier_score.push_back(std::exchange(newest_score[static_cast<std::size_t>(row.node)],
                                                   static_cast<std::int32_t>(node_scores.size())));
             node_scores.push_back(row);
           });
  any |= read(db, 3,
              "SELECT id, step, row, node, position, slot, naive_position FROM input WHERE id > "
              "? ORDER BY id",
              [&](Statement& s, std::int64_t id) {
                InputRow row;
                row.step = in_range("input", id, "step", s.integer(1),
                                    inputs.empty() ? 0 : inputs.back().step, kMaxStep);
                row.row = in_range("input", id, "row", s.integer(2), 0, kMaxStep);
                row.node = in_range("input", id, "node", s.integer(3),
                                    -1 - static_cast<std::int64_t>(run.prompt_tokens.size()),
                                    static_cast<std::int64_t>(nodes.size()) - 1);
                row.position = in_range("input", id, "position", s.integer(4), 0, kMaxStep);
                row.slot = in_range("input", id, "slot", s.integer(5), -1, kMaxSlot);
                row.naive_position =
                    in_range("input", id, "naive_position", s.integer(6), 0, kMaxStep);
                inputs.push_back(row);
              });
  any |= read(db, 4,
              "SELECT id, tick, node, rank, token, logprob, chosen FROM candidate WHERE id > ? "
              "ORDER BY id",
              [&](Statement& s, std::int64_t id) {
                CandidateRow row;
                row.tick = later_tick("candidate", id, s.integer(1), candidates);
                row.node = existing_node("candidate", id, s.integer(2));
                row.rank = in_range("candidate", id, "rank", s.integer(3), 0, kMaxToken);
                row.token = in_range("candidate", id, "token", s.integer(4), 0, kMaxToken);
                row.logprob = static_cast<float>(s.number(5));
                row.chosen = s.integer(6) != 0;
                const auto at = static_cast<std::int32_t>(candidates.size());
                std::int32_t& newest = newest_candidates[static_cast<std::size_t>(row.node)];
                if (newest >= 0) {
                  CandidateGroup& group = candidate_groups[static_cast<std::size_t>(newest)];
                  if (group.tick == row.tick && group.first + group.count == at) {
                    ++group.count;
                    candidates.push_back(row);
                    return;
                  }
                }
                candidate_groups.push_back({at, 1, newest, row.tick});
                newest = static_cast<std::int32_t>(candidate_groups.size()) - 1;
                candidates.push_back(row);
              });
  any |= read(
      db, 5,
      "SELECT id, tick, node, verdict, p, q, u, rank, score, gap, replacement, reason FROM "
      "verdict WHERE id > ? ORDER BY id",
      [&](Statement& s, std::int64_t id) {
        VerdictRow row;
        row.tick = later_tick("verdict", id, s.integer(1), verdicts);
        row.node = existing_node("verdict", id, s.integer(2));
        row.verdict = static_cast<Verdict>(in_range("verdict", id, "verdict", s.integer(3), 0,
                                                    static_cast<int>(Verdict::kEmitted)));
        row.p = static_cast<float>(s.number(4));
        row.q = static_cast<float>(s.number(5));
        row.u = static_cast<float>(s.number(6));
        row.rank = in_range("verdict", id, "rank", s.integer(7), -1, kMaxToken);
        row.score = static_cast<float>(s.number(8));
        row.gap = static_cast<float>(s.number(9));
        row.replacement = in_range("verdict", id, "replacement", s.integer(10), -1, kMaxToken);
        row.reason = s.text(11);
        earlier_verdict.push_back(std::exchange(newest_verdict[static_cast<std::size_t>(row.node)],
                                                static_cast<std::int32_t>(verdicts.size())));
        verdicts.push_back(std::move(row));
      });
  any |= read(db, 6, "SELECT id, step, rank, node, score FROM frontier WHERE id > ? ORDER BY id",
              [&](Statement& s, std::int64_t id) {
                FrontierRow row;
                row.step = in_range("frontier", id, "step", s.integer(1),
                                    frontier.empty() ? 0 : frontier.back().step, kMaxStep);
                row.rank = in_range("frontier", id, "rank", s.integer(2), 0, kMaxToken);
                row.node = existing_node("frontier", id, s.integer(3));
                row.score = static_cast<float>(s.number(4));
                frontier.push_back(row);
              });
  any |= read(db, 7,
              "SELECT id, tick, action, slot, node, from_slot FROM slot WHERE id > ? ORDER BY id",
              [&](Statement& s, std::int64_t id) {
                SlotRow row;
                row.tick = later_tick("slot", id, s.integer(1), slots);
                row.action = static_cast<SlotAction>(in_range("slot", id, "action", s.integer(2), 0,
                                                              static_cast<int>(SlotAction::kMove)));
                row.slot = in_range("slot", id, "slot", s.integer(3), 0, kMaxSlot);
                row.node = in_range("slot", id, "node", s.integer(4),
                                    -1 - static_cast<std::int64_t>(run.prompt_tokens.size()),
                                    static_cast<std::int64_t>(nodes.size()) - 1);
                row.from_slot = in_range("slot", id, "from_slot", s.integer(5), -1, kMaxSlot);
                slot_history.take(row);
                slots.push_back(row);
              });
  any |= read(db, 8,
              "SELECT id, step, live, garbage, reserved, greedy, batch_beam, moved_bytes, "
              "device_allocated_bytes, device_reserved_bytes FROM memory WHERE id > ? ORDER BY id",
              [&](Statement& s, std::int64_t id) {
                MemoryRow row;
                row.step = in_range("memory", id, "step", s.integer(1),
                                    memory.empty() ? 0 : memory.back().step + 1, kMaxStep);
                row.live = in_range("memory", id, "live", s.integer(2), 0, INT32_MAX);
                row.garbage = in_range("memory", id, "garbage", s.integer(3), 0, INT32_MAX);
                row.reserved = in_range("memory", id, "reserved", s.integer(4), 0, INT32_MAX);
                row.greedy = in_range("memory", id, "greedy", s.integer(5), 0, INT32_MAX);
                row.batch_beam = in_range("memory", id, "batch_beam", s.integer(6), 0, INT32_MAX);
                row.moved_bytes = s.integer(7);
                row.device_allocated_bytes = s.integer(8);
                row.device_reserved_bytes = s.integer(9);
                memory.push_back(row);
              });
  any |= read(
      db, 9,
      "SELECT id, tick, node, rank, score, finish, tokens FROM sequence WHERE id > ? ORDER BY id",
      [&](Statement& s, std::int64_t id) {
        SequenceRow row;
        row.tick = later_tick("sequence", id, s.integer(1), sequences);
        // A capture of the lowest level has sequences and no tree.
        row.node = nodes.empty() ? -1 : existing_node("sequence", id, s.integer(2));
        row.rank = in_range("sequence", id, "rank", s.integer(3), -1, kMaxToken);
        row.score = static_cast<float>(s.number(4));
        row.finish = s.text(5);
        row.tokens = tokens_of("sequence", id, s.blob(6));
        sequences.push_back(std::move(row));
      });
  any |= read(db, 10, "SELECT id, tick, level, text FROM log WHERE id > ? ORDER BY id",
              [&](Statement& s, std::int64_t id) {
                log.push_back({checked_tick("log", id, s.integer(1)),
                               in_range("log", id, "level", s.integer(2), 0, 3), s.text(3)});
              });
  any |= read(db, 11, "SELECT id, tick, start_us, duration_us FROM phase WHERE id > ? ORDER BY id",
              [&](Statement& s, std::int64_t id) {
                const Tick tick = checked_tick("phase", id, s.integer(1));
                if (!phases.empty() && tick <= phases.back().tick)
                  damaged("phase", id,
                          "tick: expected later than " + std::to_string(phases.back().tick) +
                              ", found " + std::to_string(tick));
                phases.push_back({tick, s.integer(2), s.integer(3)});
              });
  return any;
}

void CaptureRows::read_bookmarks(Database& db) {
  bookmarks.clear();
  // Read in order of the id, which read() checks; sorted here, because SQLite's sorter would gather
  // the rows of a page that is pointed to a million times before it gave out the first.
  Statement statement(db, "SELECT id, tick, note FROM bookmark ORDER BY id");
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  while (statement.next()) {
    const std::int64_t id = statement.integer(0);
    if (!bookmarks.empty() && id <= last)
      damaged("bookmark", id, "expected a row after " + std::to_string(last));
    last = id;
    bookmarks.push_back({id, std::max<Tick>(0, statement.integer(1)), statement.text(2)});
  }
  std::stable_sort(bookmarks.begin(), bookmarks.end(),
                   [](const Bookmark& a, const Bookmark& b) { return a.tick < b.tick; });
}

}  // namespace triescope::capture

#include "core/capture/capture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/capture/recorder_identity.h"
#include "core/capture/schema.h"
#include "core/capture/sqlite_db.h"
#include "core/capture/writer.h"

namespace triescope::capture {
namespace {

constexpr Tick kForever = std::numeric_limits<Tick>::max();
constexpr std::int64_t kMaxStep = 100'000'000, kMaxSlot = 1 << 22, kMaxToken = 1 << 28;

std::int64_t pragma(Database& db, const char* sql) {
  Statement statement(db, sql);
  std::int64_t value = 0;
  while (statement.next()) value = statement.integer(0);
  return value;
}

void check_schema(Database& db) {
  if (pragma(db, "PRAGMA application_id") != kApplicationId)
    throw Error(ErrorCode::kCorruption,
                db.path() + ": a SQLite file, but no capture of triescope; expected a .tscap");
  const std::int64_t version = pragma(db, "PRAGMA user_version");
  if (version > kSchemaVersion)
    throw Error(ErrorCode::kNotSupported,
                db.path() + ": made by a newer triescope (schema " + std::to_string(version) +
                    ", this program reads up to " + std::to_string(kSchemaVersion) +
                    "); open it with that version");
  std::size_t found = 0;
  Statement schema(db, "SELECT type, name, sql FROM sqlite_schema");
  while (schema.next()) {
    const std::string type = schema.text(0), name = schema.text(1), sql = schema.text(2);
    const auto known = tables();
    const bool ours =
        type == "table" && std::any_of(known.begin(), known.end(), [&](const Table& table) {
          return name == table.name &&
                 sql == std::string("CREATE TABLE ") + table.name + " (" + table.columns + ")";
        });
    if (!ours)
      throw Error(ErrorCode::kCorruption, db.path() + ": holds a " + type.substr(0, 20) + " '" +
                                              name.substr(0, 40) +
                                              "' that no capture has; it is not opened");
    ++found;
  }
  if (found != tables().size())
    throw Error(ErrorCode::kCorruption, db.path() + ": expected " +
                                            std::to_string(tables().size()) + " tables, found " +
                                            std::to_string(found));
}

// The rows of one step in a vector sorted by `step_of_row`.
template <class Row, class StepOf>
std::span<const Row> rows_of_step(const std::vector<Row>& rows, std::int32_t step,
                                  StepOf step_of_row) {
  const auto first =
      std::lower_bound(rows.begin(), rows.end(), step,
                       [&](const Row& row, std::int32_t s) { return step_of_row(row) < s; });
  const auto last = std::upper_bound(first, rows.end(), step, [&](std::int32_t s, const Row& row) {
    return s < step_of_row(row);
  });
  return {first, last};
}

}  // namespace

struct Capture::Impl {
  std::string path;
  std::unique_ptr<Database> db;

  RunInfo run;
  RunStatus status = RunStatus::kRunning;
  std::string status_message;
  bool has_run = false;

  std::unordered_map<std::int32_t, std::string> pieces;
  mutable std::unordered_map<std::int32_t, std::string> unknown_pieces;
  std::vector<StepRow> steps;
  std::vector<PhaseRow> phases;
  std::vector<NodeRow> nodes;
  std::vector<NodeScoreRow> node_scores;
  std::vector<InputRow> inputs;
  std::vector<CandidateRow> candidates;
  std::vector<VerdictRow> verdicts;
  std::vector<FrontierRow> frontier;
  std::vector<SlotRow> slots;
  std::vector<MemoryRow> memory;
  std::vector<SequenceRow> sequences;
  std::vector<LogRow> log;
  std::vector<Bookmark> bookmarks;

  // Index of a node's newest row, and of the row before it in the chain; -1 = none.
  std::vector<std::int32_t> newest_verdict, newest_score, newest_candidates;
  std::vector<std::int32_t> earlier_verdict, earlier_score;  // by row
  struct CandidateGroup {
    std::int32_t first, count, earlier;
    Tick tick;
  };
  std::vector<CandidateGroup> candidate_groups;

  struct Interval {
    Tick from;
    SlotState state;
    std::int32_t node, moved_from;
    SlotAction action;
  };
  std::vector<std::vector<Interval>> slot_history;  // by slot, by time
  struct Place {
    Tick from;
    std::int32_t slot;
  };
  std::unordered_map<std::int32_t, std::vector<Place>> place_history;  // by node, by time
  std::vector<std::pair<Tick, std::int32_t>> slot_peak;  // (tick, highest slot + 1), growing

  // Children in CSR form, rebuilt when nodes were added.
  mutable std::vector<std::int32_t> child_offsets, child_list;

  // Ranks of the nodes above the frontier in force, and the nodes of finished sequences: of the
  // last cursor asked for.
  mutable std::pair<std::int64_t, std::int64_t> alive_key{-2, -2};
  mutable std::vector<std::int32_t> alive_rank;  // by node: rank, kFinishedPath, or -1
  static constexpr std::int32_t kFinishedPath = 1 << 20;

  mutable std::int32_t path_cache_node = -2;
  mutable std::vector<std::int32_t> path_cache;  // by depth

  std::array<std::int64_t, 13> last_row{};
  std::int64_t data_version = -1;

  [[noreturn]] void damaged(const char* table, std::int64_t row, const std::string& what) const {
    throw Error(ErrorCode::kCorruption,
                path + ": damaged: table " + table + ", row " + std::to_string(row) + ": " + what);
  }
  std::int32_t in_range(const char* table, std::int64_t row, const char* column, std::int64_t value,
                        std::int64_t low, std::int64_t high) const {
    if (value < low || value > high)
      damaged(table, row,
              std::string(column) + ": expected " + std::to_string(low) + " to " +
                  std::to_string(high) + ", found " + std::to_string(value));
    return static_cast<std::int32_t>(value);
  }
  Tick checked_tick(const char* table, std::int64_t row, std::int64_t tick) const {
    if (tick < 0 || tick > kMaxStep * kPhaseCount)
      damaged(table, row,
              "tick: expected 0 to " + std::to_string(kMaxStep * kPhaseCount) + ", found " +
                  std::to_string(tick));
    return tick;
  }
  template <class Row>
  Tick later_tick(const char* table, std::int64_t row, std::int64_t tick,
                  const std::vector<Row>& before) const {
    checked_tick(table, row, tick);
    if (!before.empty() && tick < before.back().tick)
      damaged(table, row,
              "tick: expected " + std::to_string(before.back().tick) + " or later, found " +
                  std::to_string(tick));
    return tick;
  }
  std::vector<std::int32_t> tokens_of(const char* table, std::int64_t row,
                                      std::span<const std::byte> blob) const {
    if (blob.size() % sizeof(std::int32_t) != 0)
      damaged(table, row,
              "tokens: expected 4 bytes each, found " + std::to_string(blob.size()) + " bytes");
    std::vector<std::int32_t> tokens(blob.size() / sizeof(std::int32_t));
    if (!tokens.empty()) std::memcpy(tokens.data(), blob.data(), blob.size());
    for (const std::int32_t token : tokens) in_range(table, row, "tokens", token, 0, kMaxToken);
    return tokens;
  }
  std::int32_t existing_node(const char* table, std::int64_t row, std::int64_t node) const {
    return in_range(table, row, "node", node, 0, static_cast<std::int64_t>(nodes.size()) - 1);
  }

  template <class Row>
  bool read(int index, const char* sql, Row row) {
    Statement statement(*db, sql);
    statement.bind(last_row[static_cast<std::size_t>(index)]);
    bool any = false;
    while (statement.next()) {
      last_row[static_cast<std::size_t>(index)] = statement.integer(0);
      row(statement, statement.integer(0));
      any = true;
    }
    return any;
  }

  bool read_run() {
    Statement statement(*db,
                        "SELECT created_utc, model_json, method, method_title, settings_json, "
                        "seed, versions_json, prompt_text, prompt_tokens, "
                        "max_new_tokens, kv_bytes_per_token, sliding_window, kv_policy, status, "
                        "message, recorder FROM run WHERE id=1");
    bool changed = false;
    while (statement.next()) {
      if (!has_run && !statement.text(2).empty()) {  // the writer hands in the rest with run()
        run.created_utc = statement.text(0);
        run.model_json = statement.text(1);
        run.method = statement.text(2);
        run.method_title = statement.text(3);
        run.settings_json = statement.text(4);
        run.seed = statement.integer(5);
        run.versions_json = statement.text(6);
        run.prompt_text = statement.text(7);
        run.prompt_tokens = tokens_of("run", 1, statement.blob(8));
        run.max_new_tokens =
            in_range("run", 1, "max_new_tokens", statement.integer(9), 0, kMaxStep);
        run.kv_bytes_per_token = statement.integer(10);
        run.sliding_window =
            in_range("run", 1, "sliding_window", statement.integer(11), 0, kMaxStep);
        run.kv_policy = statement.text(12);
        has_run = changed = true;
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

  bool read_tables() {
    bool any = false;
    any |= read(12, "SELECT id, token, bytes FROM piece WHERE id > ? ORDER BY id",
                [&](Statement& s, std::int64_t id) {
                  const auto blob = s.blob(2);
                  pieces.try_emplace(
                      in_range("piece", id, "token", s.integer(1), 0, kMaxToken),
                      std::string(reinterpret_cast<const char*>(blob.data()), blob.size()));
                });
    any |= read(0,
                "SELECT id, step, forward_rows, drafted, accepted, emitted, frontier FROM step "
                "WHERE id > ? ORDER BY id",
                [&](Statement& s, std::int64_t id) {
                  StepRow row;
                  row.step = in_range("step", id, "step", s.integer(1),
                                      steps.empty() ? 0 : steps.back().step + 1, kMaxStep);
                  row.forward_rows =
                      in_range("step", id, "forward_rows", s.integer(2), 0, kMaxStep);
                  row.drafted = in_range("step", id, "drafted", s.integer(3), 0, kMaxStep);
                  row.accepted = in_range("step", id, "accepted", s.integer(4), 0, kMaxStep);
                  row.emitted = in_range("step", id, "emitted", s.integer(5), 0, kMaxStep);
                  row.frontier = in_range("step", id, "frontier", s.integer(6), 0, kMaxStep);
                  steps.push_back(row);
                });
    any |= read(1,
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
    any |= read(
        2, "SELECT id, node, logprob, score, tick FROM node_score WHERE id > ? ORDER BY id",
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
    any |= read(3,
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
    any |= read(4,
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
        5,
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
          earlier_verdict.push_back(
              std::exchange(newest_verdict[static_cast<std::size_t>(row.node)],
                            static_cast<std::int32_t>(verdicts.size())));
          verdicts.push_back(std::move(row));
        });
    any |= read(6, "SELECT id, step, rank, node, score FROM frontier WHERE id > ? ORDER BY id",
                [&](Statement& s, std::int64_t id) {
                  FrontierRow row;
                  row.step = in_range("frontier", id, "step", s.integer(1),
                                      frontier.empty() ? 0 : frontier.back().step, kMaxStep);
                  row.rank = in_range("frontier", id, "rank", s.integer(2), 0, kMaxToken);
                  row.node = existing_node("frontier", id, s.integer(3));
                  row.score = static_cast<float>(s.number(4));
                  frontier.push_back(row);
                });
    any |=
        read(7, "SELECT id, tick, action, slot, node, from_slot FROM slot WHERE id > ? ORDER BY id",
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
               take_slot(row);
               slots.push_back(row);
             });
    any |=
        read(8,
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
        9,
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
    any |= read(10, "SELECT id, tick, level, text FROM log WHERE id > ? ORDER BY id",
                [&](Statement& s, std::int64_t id) {
                  log.push_back({checked_tick("log", id, s.integer(1)),
                                 in_range("log", id, "level", s.integer(2), 0, 3), s.text(3)});
                });
    any |= read(11, "SELECT id, tick, start_us, duration_us FROM phase WHERE id > ? ORDER BY id",
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

  void take_slot(const SlotRow& row) {
    const auto slot = static_cast<std::size_t>(row.slot);
    if (slot_history.size() <= slot) {
      slot_history.resize(slot + 1);
      slot_peak.emplace_back(row.tick, row.slot + 1);
    }
    const bool free = row.action == SlotAction::kFree;
    const SlotState state = free                                 ? SlotState::kFree
                            : row.action == SlotAction::kGarbage ? SlotState::kGarbage
                                                                 : SlotState::kLive;
    auto& history = slot_history[slot];
    const std::int32_t before = history.empty() ? -1 : history.back().node;
    history.push_back({row.tick, state, free ? -1 : row.node,
                       row.action == SlotAction::kMove ? row.from_slot : -1, row.action});
    if (before != -1 && (free || before != row.node)) leave_slot(before, row.slot, row.tick);
    if (!free && row.node != -1) {
      auto& places = place_history[row.node];
      if (places.empty() || places.back().slot != row.slot) places.push_back({row.tick, row.slot});
    }
  }

  // The node's KV is no longer in the slot. Batch search holds copies of a node: another may be
  // left.
  void leave_slot(std::int32_t node, std::int32_t slot, Tick tick) {
    constexpr std::size_t kCopiesLookedAt = 64;
    auto& places = place_history[node];
    if (places.empty() || places.back().slot != slot) return;
    std::int32_t other = -1;
    for (std::size_t i = places.size(); i-- > 0 && places.size() - i <= kCopiesLookedAt;) {
      const std::int32_t copy = places[i].slot;
      if (copy >= 0 && slot_history[static_cast<std::size_t>(copy)].back().node == node) {
        other = copy;
        break;
      }
    }
    places.push_back({tick, other});
  }

  void read_bookmarks() {
    bookmarks.clear();
    Statement statement(*db, "SELECT id, tick, note FROM bookmark ORDER BY tick, id");
    while (statement.next())
      bookmarks.push_back(
          {statement.integer(0), std::max<Tick>(0, statement.integer(1)), statement.text(2)});
  }

  void write_bookmarks(const std::function<void(Database&)>& change) {
    Database writable(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
    change(writable);
    read_bookmarks();
  }

  // Marks the nodes above the frontier in force and on finished paths, for state_at and beam_rank.
  const std::vector<std::int32_t>& alive_at(Tick cursor) const {
    const std::int32_t step = frontier_step(cursor);
    const auto finished = static_cast<std::int64_t>(
        std::partition_point(sequences.begin(), sequences.end(),
                             [&](const SequenceRow& row) { return row.tick < cursor; }) -
        sequences.begin());
    const std::pair<std::int64_t, std::int64_t> key{step, finished};
    if (key == alive_key && alive_rank.size() == nodes.size()) return alive_rank;
    alive_key = key;
    alive_rank.assign(nodes.size(), -1);
    for (const FrontierRow& row :
         rows_of_step(frontier, step, [](const FrontierRow& r) { return r.step; })) {
      for (std::int32_t node = row.node;
           node >= 0 && alive_rank[static_cast<std::size_t>(node)] < 0;
           node = nodes[static_cast<std::size_t>(node)].parent)
        alive_rank[static_cast<std::size_t>(node)] = row.rank;
    }
    for (std::int64_t i = 0; i < finished; ++i) {
      for (std::int32_t node = sequences[static_cast<std::size_t>(i)].node;
           node >= 0 && alive_rank[static_cast<std::size_t>(node)] < 0;
           node = nodes[static_cast<std::size_t>(node)].parent)
        alive_rank[static_cast<std::size_t>(node)] = kFinishedPath;
    }
    return alive_rank;
  }

  std::int32_t frontier_step(Tick cursor) const {
    // A step's frontier is in force once its accept phase is done.
    std::int64_t step = (cursor - 1 - static_cast<Tick>(Phase::kAccept)) / kPhaseCount;
    if (cursor <= static_cast<Tick>(Phase::kAccept)) return -1;
    const auto after =
        std::upper_bound(frontier.begin(), frontier.end(), step,
                         [](std::int64_t s, const FrontierRow& row) { return s < row.step; });
    return after == frontier.begin() ? -1 : std::prev(after)->step;
  }

  const VerdictRow* verdict_before(std::int32_t node, Tick cursor) const {
    std::int32_t row = newest_verdict[static_cast<std::size_t>(node)];
    while (row >= 0 && verdicts[static_cast<std::size_t>(row)].tick >= cursor)
      row = earlier_verdict[static_cast<std::size_t>(row)];
    return row < 0 ? nullptr : &verdicts[static_cast<std::size_t>(row)];
  }
};

const char* to_string(NodeState state) {
  static constexpr const char* kNames[] = {"absent", "pending",  "live",  "accepted", "rejected",
                                           "pruned", "finished", "bonus", "corrected"};
  return kNames[static_cast<std::size_t>(state)];
}

Capture::Capture() : impl_(std::make_unique<Impl>()) {}
Capture::~Capture() = default;

std::unique_ptr<Capture> Capture::open(const std::string& path) {
  std::unique_ptr<Capture> capture(new Capture);
  capture->impl_->path = path;
  capture->impl_->db = open_stranger(path);
  check_schema(*capture->impl_->db);
  capture->poll();
  capture->impl_->read_bookmarks();
  return capture;
}

bool Capture::poll() {
  Database& db = *impl_->db;
  db.execute("BEGIN");
  bool any = false;
  try {
    any = impl_->read_run();
    // Changes exactly when another connection has committed something.
    if (const std::int64_t version = pragma(db, "PRAGMA data_version");
        version != impl_->data_version) {
      any |= impl_->read_tables();
      impl_->data_version = version;
    }
  } catch (...) {
    sqlite3_exec(db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
  db.execute("COMMIT");
  return any;
}

const std::string& Capture::path() const { return impl_->path; }
const RunInfo& Capture::run() const { return impl_->run; }
RunStatus Capture::status() const { return impl_->status; }
const std::string& Capture::status_message() const { return impl_->status_message; }

Counts Capture::counts() const {
  const auto size = [](const auto& rows) { return static_cast<std::int64_t>(rows.size()); };
  return {size(impl_->steps),      size(impl_->nodes), size(impl_->verdicts),
          size(impl_->candidates), size(impl_->slots), size(impl_->sequences)};
}

Tick Capture::end_tick() const { return impl_->phases.empty() ? 0 : impl_->phases.back().tick + 1; }
std::int32_t Capture::last_step() const {
  return impl_->phases.empty() ? -1 : step_of(impl_->phases.back().tick);
}

std::string_view Capture::piece(std::int32_t token) const {
  const auto found = impl_->pieces.find(token);
  if (found != impl_->pieces.end()) return found->second;
  // Kept, so that the view stays valid.
  return impl_->unknown_pieces.try_emplace(token, "<" + std::to_string(token) + ">").first->second;
}

std::optional<StepRow> Capture::step(std::int32_t step) const {
  const auto rows = rows_of_step(impl_->steps, step, [](const StepRow& row) { return row.step; });
  return rows.empty() ? std::nullopt : std::optional(rows.front());
}

std::span<const StepRow> Capture::steps() const { return impl_->steps; }
std::span<const PhaseRow> Capture::phases() const { return impl_->phases; }
std::span<const InputRow> Capture::inputs(std::int32_t step) const {
  return rows_of_step(impl_->inputs, step, [](const InputRow& row) { return row.step; });
}
std::span<const VerdictRow> Capture::verdicts(std::int32_t step) const {
  return rows_of_step(impl_->verdicts, step,
                      [](const VerdictRow& row) { return step_of(row.tick); });
}
std::span<const FrontierRow> Capture::frontier(std::int32_t step) const {
  return rows_of_step(impl_->frontier, step, [](const FrontierRow& row) { return row.step; });
}
std::span<const SlotRow> Capture::slot_events(std::int32_t step) const {
  return rows_of_step(impl_->slots, step, [](const SlotRow& row) { return step_of(row.tick); });
}
std::span<const MemoryRow> Capture::memory() const { return impl_->memory; }
std::span<const SequenceRow> Capture::sequences() const { return impl_->sequences; }
std::span<const LogRow> Capture::log() const { return impl_->log; }
std::span<const NodeRow> Capture::nodes() const { return impl_->nodes; }

std::span<const NodeRow> Capture::nodes_at(Tick cursor) const {
  const auto& nodes = impl_->nodes;
  const auto end = std::partition_point(nodes.begin(), nodes.end(),
                                        [&](const NodeRow& row) { return row.tick < cursor; });
  return {nodes.begin(), end};
}

NodeState Capture::state_at(std::int32_t node, Tick cursor) const {
  if (node < 0 || node >= static_cast<std::int32_t>(impl_->nodes.size())) return NodeState::kAbsent;
  const NodeRow& row = impl_->nodes[static_cast<std::size_t>(node)];
  if (row.tick >= cursor) return NodeState::kAbsent;
  if (node == 0) return NodeState::kLive;
  const VerdictRow* verdict = impl_->verdict_before(node, cursor);
  if (!verdict || verdict->verdict == Verdict::kNone) return NodeState::kPending;
  if (verdict->verdict == Verdict::kRejected) return NodeState::kRejected;
  if (verdict->verdict == Verdict::kPruned) return NodeState::kPruned;
  if (verdict->verdict == Verdict::kFinished) return NodeState::kFinished;
  // What was kept once is dead when no live beam and no finished sequence is below it any more.
  if (impl_->frontier_step(cursor) >= step_of(verdict->tick) &&
      impl_->alive_at(cursor)[static_cast<std::size_t>(node)] < 0)
    return NodeState::kPruned;
  switch (verdict->verdict) {
    case Verdict::kAccepted:
      return NodeState::kAccepted;
    case Verdict::kBonus:
      return NodeState::kBonus;
    case Verdict::kCorrected:
      return NodeState::kCorrected;
    default:
      return NodeState::kLive;
  }
}

NodeView Capture::node_at(std::int32_t node, Tick cursor) const {
  NodeView view;
  view.state = state_at(node, cursor);
  if (node < 0 || node >= static_cast<std::int32_t>(impl_->nodes.size())) return view;
  view.row = impl_->nodes[static_cast<std::size_t>(node)];
  std::int32_t score = impl_->newest_score[static_cast<std::size_t>(node)];
  while (score >= 0 && impl_->node_scores[static_cast<std::size_t>(score)].tick >= cursor)
    score = impl_->earlier_score[static_cast<std::size_t>(score)];
  if (score >= 0) {
    view.row.logprob = impl_->node_scores[static_cast<std::size_t>(score)].logprob;
    view.row.score = impl_->node_scores[static_cast<std::size_t>(score)].score;
  }
  if (view.state == NodeState::kAbsent) return view;
  const std::int32_t rank = impl_->alive_at(cursor)[static_cast<std::size_t>(node)];
  view.beam_rank = rank == Impl::kFinishedPath ? -1 : rank;
  view.slot = slot_of(node, cursor);
  return view;
}

std::span<const std::int32_t> Capture::children(std::int32_t node) const {
  const auto& nodes = impl_->nodes;
  if (node < 0 || node >= static_cast<std::int32_t>(nodes.size())) return {};
  if (impl_->child_offsets.size() != nodes.size() + 1) {
    auto& offsets = impl_->child_offsets;
    offsets.assign(nodes.size() + 1, 0);
    for (const NodeRow& row : nodes)
      if (row.parent >= 0) ++offsets[static_cast<std::size_t>(row.parent) + 1];
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
    impl_->child_list.resize(nodes.empty() ? 0 : nodes.size() - 1);
    std::vector<std::int32_t> at(offsets.begin(), offsets.end() - 1);
    for (const NodeRow& row : nodes)
      if (row.parent >= 0)
        impl_->child_list[static_cast<std::size_t>(at[static_cast<std::size_t>(row.parent)]++)] =
            row.node;
  }
  const auto first = static_cast<std::size_t>(impl_->child_offsets[static_cast<std::size_t>(node)]);
  const auto last =
      static_cast<std::size_t>(impl_->child_offsets[static_cast<std::size_t>(node) + 1]);
  return std::span(impl_->child_list).subspan(first, last - first);
}

std::optional<VerdictRow> Capture::verdict_at(std::int32_t node, Tick cursor) const {
  if (node < 0 || node >= static_cast<std::int32_t>(impl_->nodes.size())) return std::nullopt;
  const VerdictRow* row = impl_->verdict_before(node, cursor);
  return row ? std::optional(*row) : std::nullopt;
}

std::span<const CandidateRow> Capture::candidates(std::int32_t node, Tick cursor) const {
  if (node < 0 || node >= static_cast<std::int32_t>(impl_->nodes.size())) return {};
  std::int32_t group = impl_->newest_candidates[static_cast<std::size_t>(node)];
  while (group >= 0 && impl_->candidate_groups[static_cast<std::size_t>(group)].tick >= cursor)
    group = impl_->candidate_groups[static_cast<std::size_t>(group)].earlier;
  if (group < 0) return {};
  const auto& found = impl_->candidate_groups[static_cast<std::size_t>(group)];
  return std::span(impl_->candidates)
      .subspan(static_cast<std::size_t>(found.first), static_cast<std::size_t>(found.count));
}

std::vector<std::int32_t> Capture::path_to(std::int32_t node) const {
  std::vector<std::int32_t> path;
  for (; node > 0 && node < static_cast<std::int32_t>(impl_->nodes.size());
       node = impl_->nodes[static_cast<std::size_t>(node)].parent)
    path.push_back(node);
  std::reverse(path.begin(), path.end());
  return path;
}

std::int32_t Capture::frontier_step(Tick cursor) const { return impl_->frontier_step(cursor); }

std::int32_t Capture::slot_count_at(Tick cursor) const {
  const auto& peak = impl_->slot_peak;
  const auto after = std::partition_point(peak.begin(), peak.end(),
                                          [&](const auto& entry) { return entry.first < cursor; });
  return after == peak.begin() ? 0 : std::prev(after)->second;
}

SlotView Capture::slot_at(std::int32_t slot, Tick cursor) const {
  SlotView view;
  if (slot < 0 || slot >= static_cast<std::int32_t>(impl_->slot_history.size())) return view;
  const auto& history = impl_->slot_history[static_cast<std::size_t>(slot)];
  const auto after =
      std::partition_point(history.begin(), history.end(),
                           [&](const Impl::Interval& entry) { return entry.from < cursor; });
  if (after == history.begin()) return view;
  const Impl::Interval& now = *std::prev(after);
  view.state = now.state;
  view.node = now.node;
  const std::int32_t shown = step_of(cursor - 1);
  for (auto it = after; it != history.begin() && step_of(std::prev(it)->from) == shown; --it) {
    const Impl::Interval& event = *std::prev(it);
    if (event.action == SlotAction::kMove) {
      view.moved_this_step = true;
      view.moved_from = event.moved_from;
    }
    view.reused_this_step |= event.action == SlotAction::kReuse;
  }
  return view;
}

std::int32_t Capture::slot_of(std::int32_t node, Tick cursor) const {
  const auto found = impl_->place_history.find(node);
  if (found == impl_->place_history.end()) return -1;
  const auto& places = found->second;
  const auto after = std::partition_point(
      places.begin(), places.end(), [&](const Impl::Place& place) { return place.from < cursor; });
  return after == places.begin() ? -1 : std::prev(after)->slot;
}

bool Capture::visible(const InputRow& input, std::int32_t node) const {
  const auto& nodes = impl_->nodes;
  const auto prompt = static_cast<std::int32_t>(impl_->run.prompt_tokens.size());
  const bool is_prompt = node <= -2;
  const std::int32_t position = is_prompt ? -2 - node
                                : node <= 0
                                    ? -1
                                    : prompt + nodes[static_cast<std::size_t>(node)].depth - 1;
  if (position < 0 || position > input.position || node >= static_cast<std::int32_t>(nodes.size()))
    return false;
  if (impl_->run.sliding_window > 0 && input.position - position >= impl_->run.sliding_window)
    return false;
  if (is_prompt) return position < prompt;
  if (input.node <= 0) return false;
  if (impl_->path_cache_node != input.node) {
    impl_->path_cache = path_to(input.node);
    impl_->path_cache_node = input.node;
  }
  const auto depth = static_cast<std::size_t>(nodes[static_cast<std::size_t>(node)].depth);
  return depth >= 1 && depth <= impl_->path_cache.size() && impl_->path_cache[depth - 1] == node;
}

std::span<const Bookmark> Capture::bookmarks() const { return impl_->bookmarks; }

void Capture::add_bookmark(Tick tick, const std::string& note) {
  impl_->write_bookmarks([&](Database& db) {
    Statement(db, "INSERT INTO bookmark (tick, note) VALUES (?,?)").bind(tick).bind(note).run();
  });
}

void Capture::remove_bookmark(std::int64_t id) {
  impl_->write_bookmarks(
      [&](Database& db) { Statement(db, "DELETE FROM bookmark WHERE id=?").bind(id).run(); });
}

}  // namespace triescope::capture

#include "core/capture/capture.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/capture/capture_rows.h"
#include "core/capture/row_faults.h"
#include "core/capture/schema.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

// The rows of one step (or forward) among rows sorted by `step_of_row`.
template <class Rows, class StepOf>
auto rows_of_step(const Rows& rows, std::int32_t step, StepOf step_of_row) {
  using Row = typename Rows::value_type;
  const auto first =
      std::lower_bound(rows.begin(), rows.end(), step,
                       [&](const Row& row, std::int32_t s) { return step_of_row(row) < s; });
  const auto last = std::upper_bound(first, rows.end(), step, [&](std::int32_t s, const Row& row) {
    return s < step_of_row(row);
  });
  return std::span<const Row>(first, last);
}

}  // namespace

struct Capture::Impl : CaptureRows {
  std::unique_ptr<Database> db;
  std::int64_t data_version = -1;
  mutable std::unordered_map<std::int32_t, std::string> unknown_pieces;

  // Children in CSR form, rebuilt when nodes were added.
  mutable std::vector<std::int32_t> child_offsets, child_list;

  // Cached for the last cursor asked for: ranks of the nodes above the frontier in force, and which
  // nodes finished sequences go through.
  mutable std::pair<std::int64_t, std::int64_t> alive_key{-2, -2};
  mutable std::vector<std::int32_t> alive_rank;  // by node: rank, kFinishedPath, or -1
  static constexpr std::int32_t kFinishedPath = 1 << 20;

  // Index among `seen` by (forward, row), for the step that was asked for last.
  struct SeenOfStep {
    std::int32_t step = -1;
    Whose whose = Whose::kTarget;
    std::size_t rows = 0;
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> places;
  };
  mutable SeenOfStep seen_of_step;

  mutable std::unique_ptr<RowFaults> row_faults;

  mutable std::int32_t path_cache_node = -2;
  mutable std::vector<std::int32_t> path_cache;  // by depth: the path that was asked for last

  void check_bookmark(std::int64_t id) const {
    if (std::ranges::count(bookmarks, id, &Bookmark::id) == 0)
      throw Error(ErrorCode::kNotFound, path + " has no bookmark " + std::to_string(id));
  }

  void write_bookmarks(const std::function<void(Database&)>& change) {
    const auto writable = open_to_mark(path);
    if (!file_tables.contains(RowType<Bookmark>::kTable)) {
      const auto bookmark = std::ranges::find(tables(), RowType<Bookmark>::kTable, &Table::name);
      writable->execute(create_statement(*bookmark).c_str());
      file_tables = check_format(*db);
    }
    change(*writable);
    read_bookmarks(*db);
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

  // The state of a node that exists at the cursor, given the frontier's step and who is alive then.
  NodeState state_of(std::int32_t node, Tick cursor, std::int32_t step,
                     const std::vector<std::int32_t>& alive) const {
    if (node == 0) return NodeState::kLive;
    if (is_probe(nodes[static_cast<std::size_t>(node)])) return NodeState::kProbe;
    const VerdictRow* verdict = verdict_before(node, cursor);
    const NodeState state = verdict ? state_after(verdict->verdict) : NodeState::kPending;
    // A node that was kept once is dead as soon as no live beam and no finished sequence is below
    // it.
    const bool kept = state == NodeState::kLive || state == NodeState::kAccepted ||
                      state == NodeState::kBonus || state == NodeState::kCorrected;
    const bool outlived =
        kept && step >= step_of(verdict->tick) && alive[static_cast<std::size_t>(node)] < 0;
    return outlived ? NodeState::kPruned : state;
  }
};

const char* to_string(NodeState state) {
  static constexpr const char* kNames[] = {"absent",    "pending",   "live",     "accepted",
                                           "rejected",  "pruned",    "finished", "bonus",
                                           "corrected", "withdrawn", "probe"};
  return kNames[static_cast<std::size_t>(state)];
}

NodeState state_after(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNone:
      return NodeState::kPending;
    case Verdict::kAccepted:
      return NodeState::kAccepted;
    case Verdict::kRejected:
      return NodeState::kRejected;
    case Verdict::kPruned:
      return NodeState::kPruned;
    case Verdict::kFinished:
      return NodeState::kFinished;
    case Verdict::kBonus:
      return NodeState::kBonus;
    case Verdict::kCorrected:
      return NodeState::kCorrected;
    case Verdict::kWithdrawn:
      return NodeState::kWithdrawn;
    case Verdict::kKept:
    case Verdict::kEmitted:
      break;
  }
  return NodeState::kLive;
}

Capture::Capture() : impl_(std::make_unique<Impl>()) {}
Capture::~Capture() = default;

std::unique_ptr<Capture> Capture::open(const std::string& path) {
  std::unique_ptr<Capture> capture(new Capture);
  capture->impl_->path = path;
  capture->impl_->db = open_untrusted(path);
  capture->impl_->file_tables = check_format(*capture->impl_->db);
  capture->poll();
  capture->impl_->read_bookmarks(*capture->impl_->db);
  return capture;
}

bool Capture::poll() {
  Database& db = *impl_->db;
  db.execute("BEGIN");
  bool any = false;
  try {
    any = impl_->read_run(db);
    // data_version changes exactly when another connection has committed something.
    if (const std::int64_t version = db.pragma("PRAGMA data_version");
        version != impl_->data_version) {
      any |= impl_->read_tables(db);
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
const RunInfo& Capture::run() const { return impl_->info; }
const ProgramRow& Capture::program() const {
  static const ProgramRow kNone;
  return impl_->programs.empty() ? kNone : impl_->programs.front();
}
std::int64_t Capture::rows_in(std::string_view table) const {
  if (table == RowType<PieceRow>::kTable) return static_cast<std::int64_t>(impl_->piece_of.size());
  std::size_t rows = 0;
  for_each_table([&](const auto member) {
    if (table != RowType<RowOf<decltype(member)>>::kTable) return;
    for (int whose = 0; whose < kWhoseCount; ++whose)
      rows += (impl_->of(static_cast<Whose>(whose)).*member).size();
  });
  return static_cast<std::int64_t>(rows);
}

std::span<const ExpertRow> Capture::experts(std::int32_t step) const {
  return rows_of_step(impl_->experts, step, [](const ExpertRow& row) { return step_of(row.tick); });
}
std::span<const MetricRow> Capture::metrics() const { return impl_->metrics; }

const SeenRow* Capture::seen(const InputRow& input) const {
  const auto rows = rows_of_step(impl_->of(input.whose).seen, input.step,
                                 [](const SeenRow& row) { return row.step; });
  if (rows.empty()) return nullptr;
  auto& cached = impl_->seen_of_step;
  if (cached.step != input.step || cached.whose != input.whose || cached.rows != rows.size()) {
    cached = {.step = input.step, .whose = input.whose, .rows = rows.size(), .places = {}};
    for (std::size_t i = 0; i < rows.size(); ++i)
      cached.places.try_emplace({rows[i].forward, rows[i].row}, i);
  }
  const auto found = cached.places.find({input.forward, input.row});
  return found == cached.places.end() ? nullptr : &rows[found->second];
}

const RowFaults& Capture::row_faults() const {
  if (!impl_->row_faults) impl_->row_faults = std::make_unique<RowFaults>(*this);
  impl_->row_faults->extend();
  return *impl_->row_faults;
}

std::span<const DrafterRow> Capture::drafters() const { return impl_->drafters; }

const DrafterRow* Capture::drafter_of(const NodeRow& node) const {
  const auto at = static_cast<std::size_t>(node.drafter);
  return node.drafter >= 0 && at < impl_->drafters.size() ? &impl_->drafters[at] : nullptr;
}

std::string_view Capture::source_of(const NodeRow& node) const {
  const DrafterRow* const drafter = drafter_of(node);
  return drafter ? std::string_view(drafter->name) : to_string(node.source);
}

RunStatus Capture::status() const { return impl_->state.status; }
const std::string& Capture::status_message() const { return impl_->state.message; }

Counts Capture::counts() const {
  const auto size = [](const auto& rows) { return static_cast<std::int64_t>(rows.size()); };
  Counts counts{.steps = size(impl_->steps),
                .nodes = size(impl_->nodes),
                .verdicts = size(impl_->verdicts),
                .sequences = size(impl_->sequences)};
  for (int i = 0; i < kWhoseCount; ++i) {
    const OwnerRows& owner = impl_->of(static_cast<Whose>(i));
    counts.candidates += size(owner.candidates);
    counts.slots += size(owner.slots);
  }
  return counts;
}

Tick Capture::end_tick() const { return impl_->phases.empty() ? 0 : impl_->phases.back().tick + 1; }
std::int32_t Capture::last_step() const {
  return impl_->phases.empty() ? -1 : step_of(impl_->phases.back().tick);
}

std::string_view Capture::piece(std::int32_t token) const {
  const auto found = impl_->piece_of.find(token);
  if (found != impl_->piece_of.end()) return found->second;
  // The text is stored, so that the view stays valid.
  return impl_->unknown_pieces.try_emplace(token, "<" + std::to_string(token) + ">").first->second;
}

std::optional<StepRow> Capture::step(std::int32_t step) const {
  const auto rows = rows_of_step(impl_->steps, step, [](const StepRow& row) { return row.step; });
  return rows.empty() ? std::nullopt : std::optional(rows.front());
}

std::span<const StepRow> Capture::steps() const { return impl_->steps; }
std::span<const PhaseRow> Capture::phases() const { return impl_->phases; }
std::span<const InputRow> Capture::inputs(std::int32_t step, Whose whose) const {
  return rows_of_step(impl_->of(whose).inputs, step, [](const InputRow& row) { return row.step; });
}
std::span<const InputRow> Capture::inputs(ForwardId forward, Whose whose) const {
  return rows_of_step(inputs(forward.step, whose), forward.forward,
                      [](const InputRow& row) { return row.forward; });
}
std::span<const CandidateRow> Capture::candidates_of(std::int32_t step, Whose whose) const {
  return rows_of_step(impl_->of(whose).candidates, step,
                      [](const CandidateRow& row) { return step_of(row.tick); });
}
std::span<const VerdictRow> Capture::verdicts(std::int32_t step) const {
  return rows_of_step(impl_->verdicts, step,
                      [](const VerdictRow& row) { return step_of(row.tick); });
}
std::span<const FrontierRow> Capture::frontier(std::int32_t step) const {
  return rows_of_step(impl_->frontier, step, [](const FrontierRow& row) { return row.step; });
}
std::span<const SlotRow> Capture::slot_events(Whose whose) const { return impl_->of(whose).slots; }

std::span<const SlotRow> Capture::slot_events(std::int32_t step, Whose whose) const {
  return rows_of_step(impl_->of(whose).slots, step,
                      [](const SlotRow& row) { return step_of(row.tick); });
}
std::span<const MemoryRow> Capture::memory(Whose whose) const { return impl_->of(whose).memory; }
std::span<const SequenceRow> Capture::sequences() const { return impl_->sequences; }
std::span<const LogRow> Capture::log() const { return impl_->log; }
std::vector<Whose> Capture::owners() const {
  std::vector<Whose> owners = {Whose::kTarget};
  for (int i = 1; i < kWhoseCount; ++i) {
    const OwnerRows& rows = impl_->of(static_cast<Whose>(i));
    if (!rows.inputs.empty() || !rows.candidates.empty() || !rows.slots.empty() ||
        !rows.memory.empty())
      owners.push_back(static_cast<Whose>(i));
  }
  return owners;
}

std::span<const ForwardId> Capture::forwards(Whose whose) const {
  return impl_->of(whose).forwards;
}

std::span<const NodeRow> Capture::nodes() const { return impl_->nodes; }

std::span<const NodeRow> Capture::nodes_at(Tick cursor) const {
  const auto& nodes = impl_->nodes;
  const auto end = std::partition_point(nodes.begin(), nodes.end(),
                                        [&](const NodeRow& row) { return row.tick < cursor; });
  return {nodes.begin(), end};
}

NodeState Capture::state_at(std::int32_t node, Tick cursor) const {
  if (node < 0 || node >= static_cast<std::int32_t>(impl_->nodes.size())) return NodeState::kAbsent;
  if (impl_->nodes[static_cast<std::size_t>(node)].tick >= cursor) return NodeState::kAbsent;
  return impl_->state_of(node, cursor, impl_->frontier_step(cursor), impl_->alive_at(cursor));
}

std::vector<NodeState> Capture::states_at(Tick cursor) const {
  const std::int32_t step = impl_->frontier_step(cursor);
  const std::vector<std::int32_t>& alive = impl_->alive_at(cursor);
  std::vector<NodeState> states(nodes_at(cursor).size());
  for (std::size_t i = 0; i < states.size(); ++i)
    states[i] = impl_->state_of(static_cast<std::int32_t>(i), cursor, step, alive);
  return states;
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

std::span<const CandidateRow> Capture::candidates(std::int32_t node, Tick cursor,
                                                  Whose whose) const {
  const OwnerRows& owner = impl_->of(whose);
  if (node < 0 || node >= static_cast<std::int32_t>(owner.newest_candidates.size())) return {};
  std::int32_t group = owner.newest_candidates[static_cast<std::size_t>(node)];
  while (group >= 0 && owner.candidate_groups[static_cast<std::size_t>(group)].tick >= cursor)
    group = owner.candidate_groups[static_cast<std::size_t>(group)].earlier;
  if (group < 0) return {};
  const auto& found = owner.candidate_groups[static_cast<std::size_t>(group)];
  return std::span(owner.candidates)
      .subspan(static_cast<std::size_t>(found.first), static_cast<std::size_t>(found.count));
}

std::vector<StageRow> Capture::stages(std::int32_t node, std::int32_t step, Tick cursor) const {
  std::vector<StageRow> found;
  for (const StageRow& row :
       rows_of_step(impl_->stages, step, [](const StageRow& r) { return step_of(r.tick); }))
    if (row.node == node && row.tick < cursor) found.push_back(row);
  return found;
}

std::vector<std::int32_t> Capture::path_to(std::int32_t node) const {
  std::vector<std::int32_t> path;
  for (; node > 0 && node < static_cast<std::int32_t>(impl_->nodes.size());
       node = impl_->nodes[static_cast<std::size_t>(node)].parent)
    path.push_back(node);
  std::reverse(path.begin(), path.end());
  return path;
}

std::int32_t Capture::position_of(std::int32_t occupant) const {
  if (occupant <= -2) return -2 - occupant;
  if (occupant <= 0 || occupant >= static_cast<std::int32_t>(impl_->nodes.size())) return -1;
  return static_cast<std::int32_t>(impl_->info.prompt_tokens.size()) +
         impl_->nodes[static_cast<std::size_t>(occupant)].depth - 1;
}

bool Capture::is_on_path(std::int32_t occupant, std::int32_t node) const {
  const auto& nodes = impl_->nodes;
  if (occupant <= -2) return node <= -2 ? occupant >= node : true;
  if (node <= 0 || occupant <= 0 ||
      std::max(node, occupant) >= static_cast<std::int32_t>(nodes.size()))
    return false;
  const std::int32_t depth = nodes[static_cast<std::size_t>(occupant)].depth;
  while (nodes[static_cast<std::size_t>(node)].depth > depth)
    node = nodes[static_cast<std::size_t>(node)].parent;
  return node == occupant;
}

std::int32_t Capture::frontier_step(Tick cursor) const { return impl_->frontier_step(cursor); }

std::int32_t Capture::slot_count_at(Tick cursor, Whose whose) const {
  return impl_->of(whose).slot_history.count_at(cursor);
}

std::span<const KvLevel> Capture::kv_levels(Whose whose) const {
  return impl_->of(whose).slot_history.levels();
}

SlotView Capture::slot_at(std::int32_t slot, Tick cursor, Whose whose) const {
  return impl_->of(whose).slot_history.slot_at(slot, cursor);
}

std::int32_t Capture::slot_of(std::int32_t node, Tick cursor, Whose whose) const {
  return impl_->of(whose).slot_history.slot_of(node, cursor);
}

bool Capture::visible(const InputRow& input, std::int32_t node) const {
  const auto& nodes = impl_->nodes;
  if (node >= static_cast<std::int32_t>(nodes.size())) return false;
  const auto prompt = static_cast<std::int32_t>(impl_->info.prompt_tokens.size());
  const bool is_prompt = node <= -2;
  const std::int32_t position = position_of(node);
  if (position < 0 || position > input.position) return false;
  const std::int32_t window = input.whose == Whose::kTarget ? impl_->info.sliding_window : 0;
  if (window > 0 && input.position - position >= window) return false;
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

void Capture::set_bookmark_note(std::int64_t id, const std::string& note) {
  impl_->check_bookmark(id);
  impl_->write_bookmarks([&](Database& db) {
    Statement(db, "UPDATE bookmark SET note = ? WHERE rowid = ?").bind(note).bind(id).run();
  });
}

void Capture::remove_bookmark(std::int64_t id) {
  impl_->check_bookmark(id);
  impl_->write_bookmarks(
      [&](Database& db) { Statement(db, "DELETE FROM bookmark WHERE rowid = ?").bind(id).run(); });
}

}  // namespace triescope::capture

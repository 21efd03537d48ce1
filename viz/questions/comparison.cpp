#include "viz/questions/comparison.h"

#include <algorithm>

#include "viz/questions/leaves.h"

namespace triescope::viz {
namespace {

using capture::Capture;
using capture::NodeState;
using capture::Phase;
using capture::Tick;

bool is_kept(NodeState state) {
  return state == NodeState::kLive || state == NodeState::kAccepted ||
         state == NodeState::kFinished || state == NodeState::kBonus ||
         state == NodeState::kCorrected;
}

// The child of `parent` with this token at the cursor; of several (drafted twice) one that is kept.
std::int32_t child_with(const Capture& capture, std::int32_t parent, std::int32_t token,
                        Tick cursor) {
  const auto count = static_cast<std::int32_t>(capture.nodes_at(cursor).size());
  std::int32_t found = -1;
  for (const std::int32_t child : capture.children(parent)) {
    if (child >= count || capture.nodes()[static_cast<std::size_t>(child)].token != token) continue;
    found = child;
    if (is_kept(capture.state_at(child, cursor))) break;
  }
  return found;
}

std::vector<std::int32_t> best_text(const Capture& capture) {
  const auto leaves = leaves_at(capture, capture.end_tick());
  return leaves.empty() ? std::vector<std::int32_t>() : capture.path_to(leaves.front().node);
}

std::int64_t prefill_end_us(const Capture& capture) {
  std::int64_t end = 0;
  for (const capture::PhaseRow& row : capture.phases()) {
    if (capture::step_of(row.tick) > 0) break;
    end = row.start_us + row.duration_us;
  }
  return end;
}

}  // namespace

const char* to_string(Along along) {
  return along == Along::kTokens ? "tokens" : along == Along::kSteps ? "steps" : "time";
}

bool along_from_string(const std::string& text, Along& along) {
  for (const Along one : {Along::kTokens, Along::kSteps, Along::kTime}) {
    if (text != to_string(one)) continue;
    along = one;
    return true;
  }
  return false;
}

std::int64_t emitted_before(const Capture& capture, Tick cursor) {
  std::int64_t tokens = 0;
  for (const capture::StepRow& row : capture.steps()) {
    if (capture::make_tick(row.step, Phase::kObserve) >= cursor) break;
    tokens += row.emitted;
  }
  return tokens;
}

std::int64_t decoding_us_before(const Capture& capture, Tick cursor) {
  const auto phases = capture.phases();
  const auto after =
      std::partition_point(phases.begin(), phases.end(),
                           [&](const capture::PhaseRow& row) { return row.tick < cursor; });
  if (after == phases.begin()) return 0;
  const capture::PhaseRow& last = *std::prev(after);
  return std::max<std::int64_t>(0, last.start_us + last.duration_us - prefill_end_us(capture));
}

Tick matching_tick(const Capture& from, Tick cursor, const Capture& to, Along along) {
  const Tick end = to.end_tick(), first = capture::make_tick(1, Phase::kDraft);
  if (cursor <= first || along == Along::kSteps) return std::clamp<Tick>(cursor, 0, end);
  if (along == Along::kTime) {
    const std::int64_t until = decoding_us_before(from, cursor);
    const std::int64_t begin = prefill_end_us(to);
    Tick tick = std::min(first, end);
    for (const capture::PhaseRow& row : to.phases()) {
      if (row.tick < first) continue;
      if (row.start_us + row.duration_us - begin > until) break;
      tick = row.tick + 1;
    }
    return std::min(tick, end);
  }
  const std::int64_t tokens = emitted_before(from, cursor);
  std::int64_t emitted = 0;
  std::int32_t step = 1;  // the step `to` stands before
  for (const capture::StepRow& row : to.steps()) {
    if (row.step > 0 && emitted + row.emitted > tokens) break;
    emitted += row.emitted;
    step = row.step + 1;
  }
  const auto phase = emitted == tokens ? capture::phase_of(cursor) : Phase::kDraft;
  return std::min(capture::make_tick(step, phase), end);
}

Twins find_twins(const Capture& own, Tick own_cursor, const Capture& other, Tick other_cursor) {
  Twins twins;
  const auto nodes = own.nodes_at(own_cursor);
  twins.node.assign(nodes.size(), -1);
  twins.differ.assign(nodes.size(), 0);
  // Below what the other run has not reached yet, nothing counts as different.
  std::vector<std::uint8_t> ahead(nodes.size(), 0);
  const auto other_count = other.nodes_at(other_cursor).size();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    if (i == 0) {
      twins.node[0] = other_count > 0 ? 0 : -1;
      ahead[0] = other_count == 0;
      continue;
    }
    const auto parent = static_cast<std::size_t>(nodes[i].parent);
    const std::int32_t other_parent = twins.node[parent];
    if (other_parent >= 0)
      twins.node[i] = child_with(other, other_parent, nodes[i].token, other_cursor);
    // Drafted twice, kept once: the kept node stands for the path.
    if (child_with(own, nodes[i].parent, nodes[i].token, own_cursor) != id) continue;
    const NodeState state = own.state_at(id, own_cursor);
    const bool kept = is_kept(state);
    if (twins.node[i] >= 0) {
      const NodeState there = other.state_at(twins.node[i], other_cursor);
      twins.differ[i] =
          kept != is_kept(there) && state != NodeState::kPending && there != NodeState::kPending;
      continue;
    }
    if (other_parent >= 0) {
      // A leaf that goes on will have children; one that ended has none for good.
      const auto children = other.children(other_parent);
      const bool grows = std::none_of(children.begin(), children.end(), [&](std::int32_t child) {
        return child < static_cast<std::int32_t>(other_count) &&
               other.state_at(child, other_cursor) != NodeState::kPending;
      });
      ahead[i] = grows && is_kept(other.state_at(other_parent, other_cursor)) &&
                 other_cursor < other.end_tick();
    } else {
      ahead[i] = ahead[parent];
    }
    twins.differ[i] = kept && !ahead[i];
  }

  const auto own_text = best_text(own), other_text = best_text(other);
  for (std::size_t i = 0; i < std::min(own_text.size(), other_text.size()); ++i) {
    const capture::NodeRow& row = own.nodes()[static_cast<std::size_t>(own_text[i])];
    if (row.token == other.nodes()[static_cast<std::size_t>(other_text[i])].token) continue;
    twins.parting_node = own_text[i];
    twins.parting_step = capture::step_of(row.tick);
    break;
  }
  static std::uint64_t next_version = 0;
  twins.version = ++next_version;
  return twins;
}

}  // namespace triescope::viz

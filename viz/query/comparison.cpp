#include "viz/query/comparison.h"

#include <algorithm>

#include "viz/query/leaves.h"
#include "viz/query/step_so_far.h"

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

// The child of `parent` with this token at the cursor that `states` are of; of several (drafted
// twice) one that is kept. Probes are nobody's twins.
std::int32_t child_with(const Capture& capture, std::int32_t parent, std::int32_t token,
                        std::span<const NodeState> states) {
  const auto count = static_cast<std::int32_t>(states.size());
  std::int32_t found = -1;
  for (const std::int32_t child : capture.children(parent)) {
    if (child >= count || capture.nodes()[static_cast<std::size_t>(child)].token != token ||
        states[static_cast<std::size_t>(child)] == NodeState::kProbe)
      continue;
    found = child;
    if (is_kept(states[static_cast<std::size_t>(child)])) break;
  }
  return found;
}

std::vector<std::int32_t> text_tokens(const Capture& capture) {
  std::vector<std::int32_t> tokens;
  for (const std::int32_t node : text_at(capture, capture.end_tick()))
    tokens.push_back(capture.nodes()[static_cast<std::size_t>(node)].token);
  return tokens;
}

// Tokens of the text before the first step that is recorded.
std::int64_t inherited_tokens(const Capture& capture) {
  const auto steps = capture.steps();
  if (steps.empty()) return 0;
  const capture::StepRow& first = steps.front();
  const auto leaves = leaves_at(capture, capture::make_tick(first.step + 1, Phase::kDraft));
  if (leaves.empty()) return 0;  // no tree was recorded
  const capture::NodeRow& leaf = capture.nodes()[static_cast<std::size_t>(leaves.front().node)];
  return std::max(0, leaf.depth - first.emitted);
}

}  // namespace

const char* to_string(Along along) {
  switch (along) {
    case Along::kTokens:
      return "tokens";
    case Along::kText:
      return "text";
    case Along::kSteps:
      return "steps";
    case Along::kTime:
      break;
  }
  return "time";
}

std::span<const Along> all_alongs() {
  static constexpr Along kAll[] = {Along::kTokens, Along::kText, Along::kSteps, Along::kTime};
  return kAll;
}

std::vector<std::int32_t> align_texts(std::span<const std::int32_t> one,
                                      std::span<const std::int32_t> other) {
  std::vector<std::int32_t> with(one.size(), -1);
  // Two ways may be equally near: one of the two texts always decides, so that each is the other's.
  if (std::ranges::lexicographical_compare(other, one)) {
    const auto back = align_texts(other, one);
    for (std::size_t i = 0; i < back.size(); ++i)
      if (back[i] >= 0) with[static_cast<std::size_t>(back[i])] = static_cast<std::int32_t>(i);
    return with;
  }
  const auto agree = [&](std::size_t i, std::size_t j) {
    for (std::size_t n = 0; n < kAgain; ++n) {
      if (n > 0 && i + n == one.size() && j + n == other.size()) return true;
      if (i + n >= one.size() || j + n >= other.size() || one[i + n] != other[j + n]) return false;
    }
    return true;
  };
  std::size_t i = 0, j = 0;
  while (i < one.size() && j < other.size()) {
    if (one[i] == other[j]) {
      with[i++] = static_cast<std::int32_t>(j++);
      continue;
    }
    std::size_t left_out = 1, own = 0;
    const auto found = [&] {
      for (; left_out <= kFarthest; ++left_out)
        for (own = 0; own <= left_out; ++own)
          if (agree(i + own, j + left_out - own)) return true;
      return false;
    };
    if (!found()) break;
    i += own;
    j += left_out - own;
  }
  return with;
}

std::int64_t text_tokens_before(const Capture& capture, Tick cursor) {
  const auto steps = capture.steps();
  if (steps.empty() || !has_finished(steps.front().step, cursor)) return 0;
  std::int64_t tokens = inherited_tokens(capture);
  for (const capture::StepRow& row : steps) {
    if (!has_finished(row.step, cursor)) break;
    tokens += row.emitted;
  }
  return tokens;
}

std::int64_t decoding_us_before(const Capture& capture, Tick cursor) {
  std::int64_t us = 0;
  for (const capture::PhaseRow& row : capture.phases()) {
    if (row.tick >= cursor) break;
    if (capture::step_of(row.tick) > 0) us += row.duration_us;
  }
  return us;
}

namespace {

// Where the other text stands when the first `said` tokens of a text are said. `with`: what the tokens of the
// text go with (align_texts), of `other_size` tokens.
std::int64_t tokens_there(std::span<const std::int32_t> with, std::size_t other_size,
                          std::int64_t said) {
  const auto end = std::min(static_cast<std::size_t>(said), with.size());
  std::size_t last = end;  // behind the last of them that the other says too
  while (last > 0 && with[last - 1] < 0) --last;
  // Between two such tokens the other goes along, but not past the next one.
  const std::int64_t begin = last > 0 ? with[last - 1] + 1 : 0;
  const auto next = std::find_if(with.begin() + static_cast<std::ptrdiff_t>(end), with.end(),
                                 [](std::int32_t index) { return index >= 0; });
  const std::int64_t most =
      next == with.end() ? static_cast<std::int64_t>(other_size) : std::int64_t{*next};
  return std::min(begin + said - static_cast<std::int64_t>(last), std::max(begin, most));
}

// The step that a run stands before when its text has `tokens` tokens, or fewer and the step would bring more.
std::int32_t step_before(const Capture& run, std::int64_t tokens) {
  std::int64_t there = inherited_tokens(run);
  std::int32_t step = 1;
  for (const capture::StepRow& row : run.steps()) {
    if (row.step > 0 && there + row.emitted > tokens) break;
    there += row.emitted;
    step = row.step + 1;
  }
  return step;
}

}  // namespace

Tick matching_tick(const Capture& from, Tick cursor, const Capture& to, Along along) {
  const Tick end = to.end_tick(), first = capture::make_tick(1, Phase::kDraft);
  if (cursor < first || along == Along::kSteps) return std::clamp<Tick>(cursor, 0, end);
  if (along == Along::kTime) {
    const std::int64_t until = decoding_us_before(from, cursor);
    std::int64_t us = 0;
    Tick tick = std::min(first, end);
    for (const capture::PhaseRow& row : to.phases()) {
      if (row.tick < first) continue;
      us += row.duration_us;
      if (us > until) break;
      tick = row.tick + 1;
    }
    return std::min(tick, end);
  }
  std::vector<std::int32_t> with;
  std::size_t other_size = 0;
  if (along == Along::kText) {
    const auto other = text_tokens(to);
    with = align_texts(text_tokens(from), other);
    other_size = other.size();
  }
  const auto step_at = [&](std::int64_t said) {
    return step_before(to, along == Along::kText ? tokens_there(with, other_size, said) : said);
  };
  const std::int64_t said = text_tokens_before(from, cursor);
  // A step that is not recorded yet brings one token at least.
  const auto current = from.step(capture::step_of(cursor));
  const std::int32_t step = step_at(said);
  const bool ends_here = step_at(said + (current ? current->emitted : 1)) > step;
  // Only the step of `from` in which that of `to` ends takes it through its phases: in an earlier one it
  // would begin again.
  const auto phase = ends_here ? capture::phase_of(cursor) : Phase::kDraft;
  return std::min(capture::make_tick(step, phase), end);
}

Twins find_twins(const Capture& own, Tick own_cursor, const Capture& other, Tick other_cursor) {
  Twins twins;
  const auto nodes = own.nodes_at(own_cursor);
  twins.node.assign(nodes.size(), -1);
  twins.differ.assign(nodes.size(), 0);
  // Below what the other run has not reached yet, nothing counts as different.
  std::vector<std::uint8_t> ahead(nodes.size(), 0);
  const auto states = own.states_at(own_cursor), others = other.states_at(other_cursor);
  const auto other_count = others.size();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    if (i == 0) {
      twins.node[0] = other_count > 0 ? 0 : -1;
      ahead[0] = other_count == 0;
      continue;
    }
    const auto parent = static_cast<std::size_t>(nodes[i].parent);
    const std::int32_t other_parent = twins.node[parent];
    if (states[i] == NodeState::kProbe) continue;
    if (other_parent >= 0) twins.node[i] = child_with(other, other_parent, nodes[i].token, others);
    // Drafted twice, kept once: the kept node stands for the path.
    if (child_with(own, nodes[i].parent, nodes[i].token, states) != id) continue;
    const NodeState state = states[i];
    const bool kept = is_kept(state);
    if (twins.node[i] >= 0) {
      const NodeState there = others[static_cast<std::size_t>(twins.node[i])];
      twins.differ[i] =
          kept != is_kept(there) && state != NodeState::kPending && there != NodeState::kPending;
      continue;
    }
    if (other_parent >= 0) {
      // A leaf that goes on will have children; one that ended has none for good.
      const auto children = other.children(other_parent);
      const bool grows = std::none_of(children.begin(), children.end(), [&](std::int32_t child) {
        return child < static_cast<std::int32_t>(other_count) &&
               others[static_cast<std::size_t>(child)] != NodeState::kPending &&
               others[static_cast<std::size_t>(child)] != NodeState::kProbe;
      });
      ahead[i] = grows && is_kept(others[static_cast<std::size_t>(other_parent)]) &&
                 other_cursor < other.end_tick();
    } else {
      ahead[i] = ahead[parent];
    }
    twins.differ[i] = kept && !ahead[i];
  }

  twins.echo.assign(nodes.size(), -1);
  const auto own_text = text_at(own, own.end_tick()), other_text = text_at(other, other.end_tick());
  const auto with = align_texts(text_tokens(own), text_tokens(other));
  std::size_t next = 0;  // of the other text
  for (std::size_t i = 0; i < own_text.size() && next < other_text.size(); ++i) {
    if (with[i] == static_cast<std::int32_t>(next)) {
      ++next;
    } else {
      twins.partings.push_back(own_text[i]);
      while (i < with.size() && with[i] < 0) ++i;
      if (i == with.size()) break;
      next = static_cast<std::size_t>(with[i]) + 1;
    }
    const auto node = static_cast<std::size_t>(own_text[i]);
    const std::int32_t there = other_text[next - 1];
    if (node < nodes.size() && twins.node[node] < 0 &&
        there < static_cast<std::int32_t>(other_count))
      twins.echo[node] = there;
  }
  if (!twins.partings.empty()) {
    twins.parting_node = twins.partings.front();
    twins.parting_step =
        capture::step_of(own.nodes()[static_cast<std::size_t>(twins.parting_node)].tick);
  }
  static std::uint64_t next_version = 0;
  twins.version = ++next_version;
  return twins;
}

}  // namespace triescope::viz

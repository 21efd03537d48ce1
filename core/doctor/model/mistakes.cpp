#include "core/doctor/model/mistakes.h"

#include <algorithm>
#include <set>

namespace triescope::doctor {
namespace {

using namespace capture;

constexpr std::size_t kMostNeighbours = 24, kMostAncestors = 32, kLongestForWindows = 600;

std::vector<std::int32_t>& seen_by_last(RowSetup& setup) {
  Cell& last = setup.cells.back();
  if (!last.sees) {
    last.sees.emplace();
    for (std::size_t i = 0; i + 1 < setup.cells.size(); ++i)
      last.sees->push_back(static_cast<std::int32_t>(i));
  }
  return *last.sees;
}

// Cells for `node` and what is above it but not on the row's path, before the row itself, which sees
// none of them; the index of the node's.
std::int32_t add_node(const RunView& run, RowSetup& setup, std::int32_t node,
                      std::int32_t row_node) {
  seen_by_last(setup);
  std::vector<std::int32_t> off_path;
  std::int32_t above = node;
  for (; above > 0 && !run.is_on_path(above, row_node); above = run.parent(above))
    off_path.insert(off_path.begin(), above);
  std::vector<std::int32_t> sees;
  const std::int32_t depth = above > 0 ? run.at(above).depth : 0;
  for (std::int32_t i = 0; i < setup.prompt + depth; ++i) sees.push_back(i);
  const Cell self = setup.cells.back();
  setup.cells.pop_back();
  for (const std::int32_t one : off_path) {
    setup.cells.push_back(
        {.token = run.at(one).token, .position = run.position(one), .sees = sees});
    sees.push_back(static_cast<std::int32_t>(setup.cells.size()) - 1);
  }
  setup.cells.push_back(self);
  return static_cast<std::int32_t>(setup.cells.size()) - 2;
}

// Lets the row see a cell that is not on its path: before all others, because a short convolution takes the end of the
// list as the path. A window takes the end as well, of models that have no convolution: there it is the last.
void see_beside(const RunView& run, RowSetup& setup, std::int32_t cell) {
  std::vector<std::int32_t>& seen = seen_by_last(setup);
  seen.insert(run.window > 0 ? seen.end() : seen.begin(), cell);
}

void insert_at(RowSetup& setup, std::size_t at, std::int32_t token) {
  setup.cells.insert(setup.cells.begin() + static_cast<std::ptrdiff_t>(at),
                     {.token = token, .position = static_cast<std::int32_t>(at)});
  for (std::size_t i = at + 1; i < setup.cells.size(); ++i) ++setup.cells[i].position;
  ++setup.prompt;
}
void drop_at(RowSetup& setup, std::size_t at) {
  setup.cells.erase(setup.cells.begin() + static_cast<std::ptrdiff_t>(at));
  for (std::size_t i = at; i < setup.cells.size(); ++i) --setup.cells[i].position;
  --setup.prompt;
}
bool is_plain(const RowSetup& setup) {
  return std::ranges::none_of(setup.cells, [](const Cell& cell) { return cell.sees.has_value(); });
}

class Possible {
 public:
  Possible(const RunView& run, const RecordedRow& row) : run_(run), row_(row) {
    for (const InputRow& input : run.capture.inputs(row.step))
      if (input.node == row.node) input_ = &input;
  }

  void neighbours() {
    std::vector<std::int32_t> before;
    std::size_t count = 0;
    for (const InputRow& input : run_.capture.inputs(row_.step)) {
      if (input.node <= 0 || run_.is_on_path(input.node, row_.node)) continue;
      if (capture::is_probe(run_.at(input.node))) continue;  // its input may be no token
      const std::int32_t node = input.node;
      const bool is_below = run_.is_on_path(row_.node, node);
      if (input_ && input.row < input_->row) before.push_back(node);
      if (++count > kMostNeighbours) continue;
      const bool is_sibling =
          !is_below && row_.node > 0 && run_.parent(node) == run_.parent(row_.node);
      add((is_below     ? "what comes after it is seen: "
           : is_sibling ? "a sibling is seen: "
                        : "another branch is seen: ") +
              run_.name(node),
          [&run = run_, self = row_.node, node](RowSetup& setup) {
            see_beside(run, setup, add_node(run, setup, node, self));
          });
    }
    if (before.size() > 1)
      add("all rows before it in the batch are seen (a causal mask over a tree)",
          [&run = run_, self = row_.node, before](RowSetup& setup) {
            for (const std::int32_t node : before)
              see_beside(run, setup, add_node(run, setup, node, self));
          });
  }

  void ancestors() {
    const auto path = row_.node > 0 ? run_.capture.path_to(row_.node) : std::vector<std::int32_t>();
    for (std::size_t i = path.size(); i-- > 0 && path.size() - i <= kMostAncestors;) {
      if (path[i] == row_.node) continue;
      const std::int32_t index = run_.prompt + static_cast<std::int32_t>(i);
      add("an ancestor is missing: " + run_.name(path[i]),
          [index](RowSetup& setup) { std::erase(seen_by_last(setup), index); });
    }
    if (run_.prompt > 1)
      add("the prompt's first token is missing from the mask",
          [](RowSetup& setup) { std::erase(seen_by_last(setup), 0); });
  }

  void positions() {
    const std::int32_t own = run_.position(row_.node > 0 ? row_.node : -1 - run_.prompt);
    std::set<std::int32_t> tried = {own};
    const auto at = [&](std::int32_t position, const std::string& name) {
      if (position < 0 || !tried.insert(position).second) return;
      add(name, [position](RowSetup& setup) { setup.cells.back().position = position; });
    };
    if (input_) {
      at(input_->position, "the position is the recorded one, " + std::to_string(input_->position) +
                               " instead of " + std::to_string(own));
      const auto inputs = run_.capture.inputs(row_.step);
      if (!inputs.empty() && inputs.front().node > 0)
        at(run_.position(inputs.front().node) + input_->row,
           "positions are sequential: they count the rows of the batch");
      at(input_->naive_position, "positions are sequential: they count the tokens in the cache");
    }
    at(own + 1, "the position is one too high");
    at(own - 1, "the position is one too low");
  }

  void stale() {
    // A slot of the path whose former occupant is still in it.
    const Tick now = make_tick(row_.step, Phase::kForward) + 1;
    const auto path = row_.node > 0 ? run_.capture.path_to(row_.node) : std::vector<std::int32_t>();
    std::size_t count = 0;
    for (std::size_t i = path.size(); i-- > 0 && count < kMostAncestors;) {
      const std::int32_t former = former_occupant(path[i], now);
      if (former <= 0 || path[i] == row_.node || capture::is_probe(run_.at(former))) continue;
      ++count;
      const std::int32_t index = run_.prompt + static_cast<std::int32_t>(i);
      add("stale KV: the slot of " + run_.name(path[i]) + " still holds " + run_.name(former),
          [&run = run_, self = row_.node, former, index](RowSetup& setup) {
            const std::int32_t at = add_node(run, setup, former, self);
            std::ranges::replace(seen_by_last(setup), index, at);
          });
    }
    // Refused drafts of the steps before, still seen.
    count = 0;
    for (std::int32_t step = row_.step - 1; step >= std::max(0, row_.step - 2); --step)
      for (const InputRow& input : run_.capture.inputs(step)) {
        const std::int32_t node = input.node;
        if (node <= 0 || capture::is_probe(run_.at(node)) || run_.is_on_path(node, row_.node) ||
            run_.is_on_path(row_.node, node))
          continue;
        if (++count > kMostNeighbours) return;
        add("stale KV is seen: that of " + run_.name(node) + ", which an earlier step refused",
            [&run = run_, self = row_.node, node](RowSetup& setup) {
              see_beside(run, setup, add_node(run, setup, node, self));
            });
      }
  }

  void prompt(std::int32_t bos) {
    const auto& tokens = run_.capture.run().prompt_tokens;
    if (tokens.empty()) return;
    const bool has_bos = bos >= 0 && tokens.front() == bos;
    if (tokens.size() > 1)
      add(has_bos ? "the BOS token is missing" : "the prompt's first token is missing",
          [](RowSetup& setup) {
            if (is_plain(setup)) drop_at(setup, 0);
          });
    const std::int32_t first = bos >= 0 ? bos : tokens.front();
    add(has_bos || bos < 0 ? "the BOS token is doubled"
                           : "a BOS token stands before the prompt that was recorded",
        [first](RowSetup& setup) {
          if (is_plain(setup)) insert_at(setup, 0, first);
        });
    // The last token is the row itself at prefill.
    if (tokens.size() > 1)
      add("the prompt's last token is dropped", [](RowSetup& setup) {
        if (is_plain(setup)) drop_at(setup, static_cast<std::size_t>(setup.prompt) - 1);
      });
    add("the prompt's last token stands twice", [last = tokens.back()](RowSetup& setup) {
      if (is_plain(setup)) insert_at(setup, static_cast<std::size_t>(setup.prompt), last);
    });
  }

  void windows(std::size_t length) {
    if (length > kLongestForWindows) return;
    std::set<std::int32_t> sizes;
    for (const std::int32_t window : {run_.window - 1, run_.window, run_.window + 1})
      if (window > 0) sizes.insert(window);
    for (std::int32_t window = 4; window < static_cast<std::int32_t>(length); window *= 2)
      sizes.insert(window);
    for (const std::int32_t window : sizes)
      if (window < static_cast<std::int32_t>(length))
        add("another window: " + std::to_string(window), [window](RowSetup& setup) {
          if (!is_plain(setup)) return;
          for (std::size_t i = 0; i < setup.cells.size(); ++i) {
            auto& sees = setup.cells[i].sees.emplace();
            for (std::size_t j = i + 1 > static_cast<std::size_t>(window)
                                     ? i + 1 - static_cast<std::size_t>(window)
                                     : 0;
                 j < i; ++j)
              sees.push_back(static_cast<std::int32_t>(j));
          }
        });
  }

  void numbers(bool has_rope_scaling) {
    if (has_rope_scaling)
      add("rope scaling is off", [](RowSetup& setup) { setup.has_rope_scaling = false; });
    add("a temperature is applied to the recorded log-probabilities",
        [](RowSetup& setup) { setup.has_temperature = true; });
    for (const double penalty : {1.05, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0})
      add("a repetition penalty of " + number_of(penalty) +
              " is applied to the recorded log-probabilities",
          [penalty](RowSetup& setup) { setup.repetition_penalty = penalty; });
  }

  std::vector<Mistake> take() { return std::move(all_); }

 private:
  void add(std::string name, std::function<void(RowSetup&)> make) {
    all_.push_back({std::move(name), std::move(make)});
  }
  std::int32_t former_occupant(std::int32_t node, Tick now) const {
    const std::int32_t slot = run_.capture.slot_of(node, now);
    if (slot < 0) return -1;
    for (std::int32_t step = step_of(now); step >= 0; --step) {
      const auto events = run_.capture.slot_events(step);
      for (std::size_t i = events.size(); i-- > 0;)
        if (events[i].slot == slot && events[i].node != node && events[i].tick < now &&
            events[i].node > 0 && !run_.is_on_path(events[i].node, row_.node))
          return events[i].node;
    }
    return -1;
  }

  const RunView& run_;
  const RecordedRow& row_;
  const InputRow* input_ = nullptr;
  std::vector<Mistake> all_;
};

}  // namespace

std::vector<Mistake> mistakes_of(const RunView& run, const RecordedRow& row, std::int32_t bos,
                                 bool has_rope_scaling) {
  Possible possible(run, row);
  possible.neighbours();
  possible.ancestors();
  possible.positions();
  possible.stale();
  possible.prompt(bos);
  possible.windows(static_cast<std::size_t>(run.prompt) +
                   static_cast<std::size_t>(row.node > 0 ? run.at(row.node).depth : 0));
  possible.numbers(has_rope_scaling);
  return possible.take();
}

}  // namespace triescope::doctor

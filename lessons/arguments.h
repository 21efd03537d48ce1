// Arguments: the arguments of one call of a function of expressions, checked in one place, so that a wrong
// step, node or rank reads alike everywhere. Errors: Error{kInvalidArgument}; evaluate() adds the place.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "lessons/trace.h"

namespace triescope::lessons {

// Throws, with what is wrong with a function's arguments or what the run does not have.
[[noreturn]] inline void refuse_argument(const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, why);
}

class Arguments {
 public:
  Arguments(const Trace& trace, std::span<const Value> values)
      : trace(trace), capture(trace.capture), values_(values) {}

  const Trace& trace;
  const capture::Capture& capture;

  std::size_t size() const { return values_.size(); }
  double number(std::size_t i) const { return as<double>(i, "a number"); }
  const std::string& text(std::size_t i) const { return as<std::string>(i, "a text in quotes"); }
  std::int32_t whole(std::size_t i, const char* what) const {
    const double value = as<double>(i, what);
    if (value != std::floor(value) || std::abs(value) > 1e9)
      refuse_argument(std::string("expected ") + what + ", a whole number; found " +
                      value_text(value));
    return static_cast<std::int32_t>(value);
  }
  const Series& series(std::size_t i) const {
    return series_list()[as<SeriesRef>(i, "the name of a series, such as kv_live").index];
  }
  std::int32_t step(std::size_t i) const {
    const std::int32_t step = whole(i, "a step");
    if (step < 0 || step > capture.last_step())
      refuse_argument("there is no step " + std::to_string(step) + "; the run has steps 0 to " +
                      std::to_string(capture.last_step()));
    return step;
  }
  // A node by its number; prompt token i (from 0) is -2 - i.
  std::int32_t node_number(std::size_t i) const {
    const std::int32_t node = whole(i, "a node");
    const auto nodes = static_cast<std::int32_t>(capture.nodes().size());
    if (node < 0 || node >= nodes)
      refuse_argument("there is no node " + std::to_string(node) + "; the run has nodes 0 to " +
                      std::to_string(nodes - 1));
    return node;
  }
  // (NODE), (PATH) or (PATH, STEP), whose last is argument `size` - 1.
  std::int32_t node(std::size_t size) const {
    if (std::holds_alternative<double>(values_[0])) {
      if (size > 1) refuse_argument("expected a path (best, beam 2) before a step; found a number");
      return node_number(0);
    }
    const PathRef path = as<PathRef>(0, "a node, best or beam 1, 2, …");
    return newest(path, size > 1 ? step(1) : capture.last_step());
  }
  std::int32_t node() const { return node(size()); }
  const capture::NodeRow& row(std::int32_t node) const {
    return capture.nodes()[static_cast<std::size_t>(node)];
  }
  // Everything that is known about the node.
  capture::NodeView view(std::int32_t node) const {
    return capture.node_at(node, capture.end_tick());
  }

  // The newest node that a path has after a step.
  std::int32_t newest(PathRef path, std::int32_t step) const {
    if (path.rank > 0) {
      const auto live = capture.frontier(step);
      for (const capture::FrontierRow& row : live)
        if (row.rank == path.rank - 1) return row.node;
      refuse_argument("there is no beam " + std::to_string(path.rank) + " after step " +
                      std::to_string(step) + ", which has " + counted(live.size(), "live path"));
    }
    std::int32_t node = best();
    while (node > 0 && capture::step_of(row(node).tick) > step) node = row(node).parent;
    return node;
  }

 private:
  std::int32_t best() const {
    for (const capture::SequenceRow& sequence : capture.sequences())
      if (sequence.rank == 0) return sequence.node;
    const auto live = capture.frontier(capture.last_step());
    if (live.empty()) refuse_argument("best: the run has no text yet");
    return live.front().node;
  }
  template <class Kind>
  const Kind& as(std::size_t i, const char* expected) const {
    if (const Kind* const found = std::get_if<Kind>(&values_[i])) return *found;
    refuse_argument(std::string("expected ") + expected + "; found " + kind_of(values_[i]));
  }

  std::span<const Value> values_;
};

inline Value number(std::int64_t value) { return static_cast<double>(value); }

// A number of the recorded description of the model, by its key.
Value model_number(const Arguments& a, const char* field);

}  // namespace triescope::lessons

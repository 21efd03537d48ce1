// Trace: what expressions are about: a run's capture, and, for the condition of a task, what the
// window shows. Here are the names that expressions know. Reads the capture alone; as thread-safe
// as that is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/capture/capture.h"
#include "lessons/expression.h"
#include "lessons/value.h"

namespace triescope::lessons {

// What the window shows: the condition of a task may ask for it.
struct Moment {
  capture::Tick cursor = 0;
  std::int32_t focus = -1;               // -1 = none
  std::vector<std::string> panels = {};  // visible
};

struct Trace {
  const capture::Capture& capture;
  const Moment* moment = nullptr;
};

// Error{kCorruption}: "column 7: …" where the run has no such step, node or figure, or a value is of
// the wrong kind.
Value evaluate(const Expression& expression, const Trace& trace);
// The same, where only a number, a whole number or a truth will do.
double evaluate_number(const Expression& expression, const Trace& trace);
std::int64_t evaluate_whole(const Expression& expression, const Trace& trace);
bool evaluate_truth(const Expression& expression, const Trace& trace);

// A figure that every step has: accepted(12), total(accepted), peak(kv_live).
struct Series {
  std::string_view name;
  double (*at)(const capture::Capture& capture, std::int32_t step);  // of a step there is
};
std::span<const Series> series_list();

// A name with arguments. `usage` is for messages: "p(NODE) or p(PATH, STEP)". Throws std::string:
// what is wrong with its arguments.
struct Function {
  std::string_view name;
  std::string_view usage;
  int least = 0, most = 0;  // arguments
  Value (*call)(const Trace& trace, std::span<const Value> arguments);
};
std::span<const Function> function_list();
// A series of one step; throws std::string as a Function does.
Value series_at(const Trace& trace, std::size_t index, std::span<const Value> arguments);

}  // namespace triescope::lessons

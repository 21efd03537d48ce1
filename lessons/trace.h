// Trace: what expressions are about: a run's capture and, for a task's condition, what the window
// shows. This file has the names that expressions know. It reads only the capture, and is as
// thread-safe as that.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/capture/capture.h"
#include "lessons/expression.h"
#include "lessons/step_rows.h"
#include "lessons/value.h"

namespace triescope::lessons {

// The state of the window, for the condition of a task.
struct Moment {
  capture::Tick cursor = 0;
  std::int32_t focus = -1;               // -1 = none
  std::vector<std::string> panels = {};  // visible
};

struct Trace {
  const capture::Capture& capture;
  const Moment* moment = nullptr;
};

// Error{kCorruption}: "column 7: …" if the run has no such step, node or figure, or a value has the
// wrong kind.
Value evaluate(const Expression& expression, const Trace& trace);
// The same where only a number, a whole number or a truth value is allowed.
double evaluate_number(const Expression& expression, const Trace& trace);
std::int64_t evaluate_whole(const Expression& expression, const Trace& trace);
bool evaluate_truth(const Expression& expression, const Trace& trace);

// The value of a name of Names::variables.
using Variables = std::function<Value(const std::string& name)>;
// The same for an expression over variables alone, and for one over both. REQUIRES: it was parsed
// with these names.
bool evaluate_truth(const Expression& expression, const Variables& variables);
bool evaluate_truth(const Expression& expression, const Trace& trace, const Variables& variables);

// A figure that exists for every step: accepted(12), total(accepted), peak(kv_live).
struct Series {
  std::string_view name;
  double (*of)(const StepRows& rows);                                    // step_rows.h
  double at(const capture::Capture& capture, std::int32_t step) const {  // for an existing step
    return of(rows_of_step(capture, step));
  }
};
std::span<const Series> series_list();

// A name with arguments. `usage` is for messages: "p(NODE) or p(PATH, STEP)". Error{kInvalidArgument}:
// what is wrong with its arguments, or what the run does not have.
struct Function {
  std::string_view name;
  std::string_view usage;
  int least = 0, most = 0;  // number of arguments
  Value (*call)(const Trace& trace, std::span<const Value> arguments);
};
std::span<const Function> function_list();
// A series at one step. Errors: as of a Function.
Value series_at(const Trace& trace, std::size_t index, std::span<const Value> arguments);

}  // namespace triescope::lessons

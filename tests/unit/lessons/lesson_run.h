// A run for the tests of lessons: a kept capture, recorded by a beam search with three beams
// over a tiny model; 12 steps after a prompt of 13 tokens, recycle.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "lessons/trace.h"
#include "tests/support/fixtures.h"
#include "tests/support/refusal.h"

namespace triescope::test {

inline const capture::Capture& lesson_run() {
  static const TempDir folder;
  static const auto opened = capture::Capture::open(copy_of_capture("self_beam", folder));
  return *opened;
}
// A draft model's chains: 64 drafts, 5 of them accepted.
inline const capture::Capture& drafted_run() {
  static const TempDir folder;
  static const auto opened = capture::Capture::open(copy_of_capture("draft_chain", folder));
  return *opened;
}

inline lessons::Value value_of(const std::string& text,
                               const capture::Capture& capture = lesson_run()) {
  return lessons::evaluate(lessons::Expression::parse(text), {capture});
}
inline double number_of(const std::string& text) { return std::get<double>(value_of(text)); }
inline std::string text_of(const std::string& text) {
  return std::get<std::string>(value_of(text));
}
inline bool truth_of(const std::string& text) { return std::get<bool>(value_of(text)); }
// What is said about an expression that cannot be parsed or evaluated.
inline std::string refused(const std::string& text) {
  return refusal(ErrorCode::kCorruption, [&] { value_of(text); });
}

}  // namespace triescope::test

// The figures that exist for every step.
#include <algorithm>

#include "lessons/trace.h"

namespace triescope::lessons {
namespace {

using capture::Capture;

template <class Member>
double of_step(const Capture& capture, std::int32_t step, Member member) {
  const auto row = capture.step(step);
  return row ? static_cast<double>((*row).*member) : 0;
}

template <class Member>
double of_memory(const Capture& capture, std::int32_t step, Member member) {
  const auto rows = capture.memory();
  const auto found = std::lower_bound(
      rows.begin(), rows.end(), step,
      [](const capture::MemoryRow& row, std::int32_t at) { return row.step < at; });
  return found != rows.end() && found->step == step ? static_cast<double>((*found).*member) : 0;
}

double verdicts(const Capture& capture, std::int32_t step, capture::Verdict verdict) {
  const auto rows = capture.verdicts(step);
  return static_cast<double>(
      std::count_if(rows.begin(), rows.end(),
                    [=](const capture::VerdictRow& row) { return row.verdict == verdict; }));
}

double slots(const Capture& capture, std::int32_t step, capture::SlotAction action) {
  const auto rows = capture.slot_events(step);
  return static_cast<double>(std::count_if(
      rows.begin(), rows.end(), [=](const capture::SlotRow& row) { return row.action == action; }));
}

using capture::MemoryRow;
using capture::SlotAction;
using capture::StepRow;
using capture::Verdict;

constexpr Series kSeries[] = {
    {"accepted",
     [](const Capture& c, std::int32_t s) { return of_step(c, s, &StepRow::accepted); }},
    {"drafted", [](const Capture& c, std::int32_t s) { return of_step(c, s, &StepRow::drafted); }},
    {"refused",
     [](const Capture& c, std::int32_t s) {
       return of_step(c, s, &StepRow::drafted) - of_step(c, s, &StepRow::accepted);
     }},
    {"emitted", [](const Capture& c, std::int32_t s) { return of_step(c, s, &StepRow::emitted); }},
    {"rows",
     [](const Capture& c, std::int32_t s) { return of_step(c, s, &StepRow::forward_rows); }},
    {"forwards",
     [](const Capture& c, std::int32_t s) {
       const auto rows = c.inputs(s);
       return rows.empty() ? 0.0 : static_cast<double>(rows.back().forward + 1);
     }},
    {"paths", [](const Capture& c, std::int32_t s) { return of_step(c, s, &StepRow::frontier); }},
    {"pruned", [](const Capture& c, std::int32_t s) { return verdicts(c, s, Verdict::kPruned); }},
    {"finished",
     [](const Capture& c, std::int32_t s) { return verdicts(c, s, Verdict::kFinished); }},
    {"kv_live", [](const Capture& c, std::int32_t s) { return of_memory(c, s, &MemoryRow::live); }},
    {"kv_garbage",
     [](const Capture& c, std::int32_t s) { return of_memory(c, s, &MemoryRow::garbage); }},
    {"kv_held",
     [](const Capture& c, std::int32_t s) {
       return of_memory(c, s, &MemoryRow::live) + of_memory(c, s, &MemoryRow::garbage);
     }},
    {"kv_greedy",
     [](const Capture& c, std::int32_t s) { return of_memory(c, s, &MemoryRow::greedy); }},
    {"kv_batch",
     [](const Capture& c, std::int32_t s) { return of_memory(c, s, &MemoryRow::batch_beam); }},
    {"kv_taken", [](const Capture& c, std::int32_t s) { return slots(c, s, SlotAction::kAlloc); }},
    {"kv_reused", [](const Capture& c, std::int32_t s) { return slots(c, s, SlotAction::kReuse); }},
    {"kv_freed", [](const Capture& c, std::int32_t s) { return slots(c, s, SlotAction::kFree); }},
    {"kv_moved", [](const Capture& c, std::int32_t s) { return slots(c, s, SlotAction::kMove); }},
};

}  // namespace

std::span<const Series> series_list() { return kSeries; }

}  // namespace triescope::lessons

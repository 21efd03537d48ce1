// The figures that exist for every step.
#include <algorithm>

#include "core/capture/expert_use.h"
#include "lessons/step_rows.h"
#include "lessons/trace.h"

namespace triescope::lessons {
namespace {

template <class Member>
double of_step(const StepRows& rows, Member member) {
  return rows.figures ? static_cast<double>((*rows.figures).*member) : 0;
}

template <class Member>
double of_memory(const StepRows& rows, Member member) {
  return rows.memory ? static_cast<double>((*rows.memory).*member) : 0;
}

double verdicts(const StepRows& rows, capture::Verdict verdict) {
  return static_cast<double>(
      std::count_if(rows.verdicts.begin(), rows.verdicts.end(),
                    [=](const capture::VerdictRow& row) { return row.verdict == verdict; }));
}

double slots(const StepRows& rows, capture::SlotAction action) {
  return static_cast<double>(
      std::count_if(rows.slots.begin(), rows.slots.end(),
                    [=](const capture::SlotRow& row) { return row.action == action; }));
}

// Experts of the step's rows a layer, on the mean of the layers that have any; 0 in other models.
double experts_a_layer(const StepRows& rows, double (capture::ExpertStep::*a_layer)() const) {
  const capture::ExpertStep step = capture::expert_step(rows.experts, rows.step);
  return step.layers > 0 ? (step.*a_layer)() : 0;
}

// Milliseconds of the phases that pass.
template <class Passes>
double milliseconds(const StepRows& rows, Passes passes) {
  std::int64_t sum = 0;
  for (const capture::PhaseRow& row : rows.phases)
    if (passes(capture::phase_of(row.tick))) sum += row.duration_us;
  return static_cast<double>(sum) / 1000;
}
template <capture::Phase phase>
double phase_ms(const StepRows& rows) {
  return milliseconds(rows, [](capture::Phase one) { return one == phase; });
}

using capture::MemoryRow;
using capture::SlotAction;
using capture::StepRow;
using capture::Verdict;

constexpr Series kSeries[] = {
    {"accepted", [](const StepRows& r) { return of_step(r, &StepRow::accepted); }},
    {"drafted", [](const StepRows& r) { return of_step(r, &StepRow::drafted); }},
    {"refused",
     [](const StepRows& r) {
       return of_step(r, &StepRow::drafted) - of_step(r, &StepRow::accepted);
     }},
    {"emitted", [](const StepRows& r) { return of_step(r, &StepRow::emitted); }},
    {"rows", [](const StepRows& r) { return of_step(r, &StepRow::forward_rows); }},
    {"forwards",
     [](const StepRows& r) {
       return r.inputs.empty() ? 0.0 : static_cast<double>(r.inputs.back().forward + 1);
     }},
    {"paths", [](const StepRows& r) { return of_step(r, &StepRow::frontier); }},
    {"pruned", [](const StepRows& r) { return verdicts(r, Verdict::kPruned); }},
    {"finished", [](const StepRows& r) { return verdicts(r, Verdict::kFinished); }},
    {"kv_live", [](const StepRows& r) { return of_memory(r, &MemoryRow::live); }},
    {"kv_garbage", [](const StepRows& r) { return of_memory(r, &MemoryRow::garbage); }},
    {"kv_held",
     [](const StepRows& r) {
       return of_memory(r, &MemoryRow::live) + of_memory(r, &MemoryRow::garbage);
     }},
    {"kv_greedy", [](const StepRows& r) { return of_memory(r, &MemoryRow::greedy); }},
    {"kv_batch", [](const StepRows& r) { return of_memory(r, &MemoryRow::batch_beam); }},
    {"kv_taken", [](const StepRows& r) { return slots(r, SlotAction::kAlloc); }},
    {"kv_reused", [](const StepRows& r) { return slots(r, SlotAction::kReuse); }},
    {"kv_freed", [](const StepRows& r) { return slots(r, SlotAction::kFree); }},
    {"kv_moved", [](const StepRows& r) { return slots(r, SlotAction::kMove); }},
    {"experts_read",
     [](const StepRows& r) { return experts_a_layer(r, &capture::ExpertStep::read_a_layer); }},
    {"experts_alone",
     [](const StepRows& r) { return experts_a_layer(r, &capture::ExpertStep::alone_a_layer); }},
    {"ms", [](const StepRows& r) { return milliseconds(r, [](capture::Phase) { return true; }); }},
    {"draft_ms", phase_ms<capture::Phase::kDraft>},
    {"forward_ms", phase_ms<capture::Phase::kForward>},
    {"accept_ms", phase_ms<capture::Phase::kAccept>},
    {"commit_ms", phase_ms<capture::Phase::kCommit>},
    {"observe_ms", phase_ms<capture::Phase::kObserve>},
};

}  // namespace

StepRows rows_of_step(const capture::Capture& capture, std::int32_t step) {
  StepRows rows = {.step = step,
                   .figures = capture.step(step),
                   .inputs = capture.inputs(step),
                   .verdicts = capture.verdicts(step),
                   .slots = capture.slot_events(step),
                   .experts = capture.experts(step)};
  const auto memory = capture.memory();
  const auto found = std::ranges::lower_bound(memory, step, {}, &MemoryRow::step);
  if (found != memory.end() && found->step == step) rows.memory = *found;
  const auto first =
      std::ranges::lower_bound(capture.phases(), capture::make_tick(step, capture::Phase::kDraft),
                               {}, &capture::PhaseRow::tick);
  auto end = first;
  while (end != capture.phases().end() && capture::step_of(end->tick) == step) ++end;
  rows.phases = {first, end};
  return rows;
}

std::span<const Series> series_list() { return kSeries; }

}  // namespace triescope::lessons

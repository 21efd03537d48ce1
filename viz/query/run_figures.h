// RunFigures: what a run did, took and held, counted from its capture up to a cursor: the table of
// runs, the Summary panel, the inspector and a comparison all show these. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/capture/capture.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

struct RunFigures {
  // Counts over finished steps.
  std::int64_t steps = 0;    // prefill included
  std::int64_t emitted = 0;  // tokens of the text, those of prefill included
  std::int64_t prefill_emitted = 0;
  std::int64_t drafted = 0, accepted = 0;  // drafts
  std::vector<std::int64_t> histogram;     // [k]: steps after prefill that accepted k drafts
  // All emitted tokens by forward; accepted drafts by step after prefill; the share of the drafts that
  // were accepted; tokens emitted after prefill by second of decoding. nullopt = none yet.
  std::optional<double> tokens_per_forward, accepted_per_step, acceptance, tokens_per_second;
  // Beams with drafts: levels of the search a step beyond its first. nullopt: no such run, or none yet.
  std::optional<double> levels_gained;
  // Times of the phases before the cursor, those of an unfinished step too.
  std::int64_t prefill_us = 0, decode_us = 0;
  std::array<std::int64_t, capture::kPhaseCount> phase_us = {};  // of decode_us, by phase
};
// Sums up the steps in `range`, as far as the cursor has seen them.
RunFigures run_figures(const capture::Capture& capture, capture::Tick cursor, StepRange range = {});

// The target's KV slots, in tokens.
struct KvFigures {
  std::int64_t peak_live = 0, peak_garbage = 0, peak_held = 0;  // each at its own tick
  std::int64_t peak_reserved = 0;
  std::int64_t moved_bytes = 0;
  std::int64_t greedy = 0, batch_beam = 0;  // what these would have held
};
KvFigures kv_figures(const capture::Capture& capture, capture::Tick cursor, StepRange range = {});

// The forwards of a draft model or head.
struct DrafterFigures {
  capture::Whose whose = capture::Whose::kDraft;
  std::int64_t forwards = 0, rows = 0;
  std::int64_t kv_peak = 0;  // most live tokens in its KV; 0 = not recorded
};
// nullopt: neither ran. Where both did, of the last one.
std::optional<DrafterFigures> drafter_figures(const capture::Capture& capture, capture::Tick cursor,
                                              StepRange range = {});

// The best text that the cursor has seen returned; nullptr = none yet.
const capture::SequenceRow* best_sequence(const capture::Capture& capture, capture::Tick cursor);

// A figure by the name that the table of runs has for it ("tokens_per_forward"); times in ms.
struct NamedFigure {
  const char* name = "";
  std::optional<double> value;  // nullopt = not known
  bool is_whole = false;        // a count
};
std::vector<NamedFigure> named_figures(const capture::Capture& capture, capture::Tick cursor,
                                       StepRange range = {});

}  // namespace triescope::viz

// What a study's runs say about drafting methods, by method and task: the figures that papers report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/study/study_store.h"
#include "viz/query/acceptance.h"

namespace triescope::app {

inline constexpr const char* kAllTasks = "all";

// Sums over the prompts of a task. A speed is emitted tokens over the time of prefill and all phases of
// the steps, drafting included; a ratio compares sums over the same prompts. Repeats of a run are one
// (their median). NaN = not known.
struct SpecCell {
  std::string method, task;
  nlohmann::json settings;  // those that a sweep varies: {"num_draft": 8}
  int prompts = 0;          // with a plain run beside them
  int equal = 0;            // of these, texts that are plain decoding's
  double emitted = 0, forwards = 0, steps = 0, accepted = 0;  // steps: after prefill
  double prefill_ms = 0, decode_ms = 0;
  double draft_ms = 0, forward_ms = 0, accept_ms = 0, commit_ms = 0,
         observe_ms = 0;  // of decode_ms
  double plain_prefill_ms = 0, plain_decode_ms = 0, plain_emitted = 0, plain_decoded = 0;
  double decoded = 0;  // tokens emitted after prefill
  // The drafter's time up to its first draft, in which it builds its trie or reads the prompt.
  double index_ms = 0;
  int indexed = 0;                               // runs that index_ms is of: those with a capture
  double kv_bytes = 0, draft_kv_bytes = 0;       // sums of the prompts' peaks
  std::vector<std::int64_t> accepted_histogram;  // [k] = steps that accepted k drafts
  viz::Acceptance by_depth, by_rank, by_source;  // without their cases

  double tokens_per_forward() const { return emitted / forwards; }
  double accepted_per_step() const { return accepted / steps; }
  double tokens_per_second() const { return 1000 * emitted / (prefill_ms + decode_ms); }
  double speed() const {  // over plain decoding, everything counted
    return tokens_per_second() / (1000 * plain_emitted / (plain_prefill_ms + plain_decode_ms));
  }
  double decode_speed() const {  // without prefill
    return (decoded / decode_ms) / (plain_decoded / plain_decode_ms);
  }
};

// `rows`: StudyStore::rows() of this folder. A cell for each method and task, and one over all tasks
// where there are several; of sweeps one for each combination of settings, over all tasks. Methods and
// tasks in the order of their first runs. Errors: those of Capture::open.
std::vector<SpecCell> spec_cells(const std::string& folder, const std::vector<StudyRow>& rows);

}  // namespace triescope::app

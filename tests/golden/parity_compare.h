// Runs of goldens (parity_models.h) beside transformers': tokens of all returned sequences equal,
// scores within 1e-4 (where length_penalty is below 0, their sums of log p); what is unequal must
// be listed as a tie.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "tests/golden/parity_models.h"
#include "tests/support/memory_recorder.h"

namespace triescope::test {

// A decision that fp32 sums in another order may take otherwise: its scores, as sums of log p, are
// nearer than 1e-5. What is unequal without such a decision is wrong.
struct Tie {
  const char* model;
  int prompt, eos;
  double gap;
};

struct Count {
  int runs = 0, sequences = 0, unequal = 0, too_long = 0;
  double largest_difference = 0;  // of a sum of log p
};

inline std::string describe(const std::string& name, const nlohmann::json& run) {
  nlohmann::json settings = run;
  settings.erase("tokens");
  settings.erase("scores");
  return name + " " + settings.dump();
}

// The closest decision of a run: the least difference of sums of log p between the last beam kept
// and the best one left out, over all steps, or between the worst finished text and one that found
// no place. (length_penalty makes sums into scores; the sum here is that of the longest text.)
inline double closest_decision(Model& model, const nlohmann::json& entry,
                               const nlohmann::json& run) {
  MemoryRecorder recorder(capture::Level::kTree);
  parity_decode(model, entry, run, "beam", "recycle", recorder);
  const double of_sum =
      std::pow(parity_max_new_tokens(entry), std::min(0.0, run["lp"].get<double>()));
  std::set<std::int32_t> finished;
  double least = std::numeric_limits<double>::infinity();
  for (const capture::VerdictRow& row : recorder.verdict_rows) {
    if (row.verdict == capture::Verdict::kFinished) finished.insert(row.node);
    const bool kept = row.verdict == capture::Verdict::kKept;
    const bool lost = row.verdict == capture::Verdict::kPruned && finished.contains(row.node);
    if ((kept || lost) && row.gap > 0)
      least = std::min(least, static_cast<double>(row.gap) * (lost ? of_sum : 1));
  }
  return least;
}

// `tolerance`: of a sum of log p.
inline void compare(Model& model, const std::string& name, const nlohmann::json& entry,
                    const nlohmann::json& run, const RunResult& result, std::span<const Tie> ties,
                    double tolerance, Count& count) {
  const auto expected = parity_sequences(run);
  ++count.runs;
  const std::string label = describe(name, run);
  CAPTURE(label);
  REQUIRE(result.sequences.size() == expected.size());
  bool equal = true;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ++count.sequences;
    equal = equal && result.sequences[i].tokens == expected[i];
  }
  if (!equal) {
    ++count.unequal;
    const double gap = closest_decision(model, entry, run);
    MESSAGE("not equal: " << label << ", closest decision " << gap);
    const bool listed = std::ranges::any_of(ties, [&](const Tie& tie) {
      return name == tie.model && run["prompt"] == tie.prompt && run["eos"] == tie.eos;
    });
    CHECK(listed);
    CHECK(gap < 1e-5);
    return;
  }
  if (!run.contains("scores")) return;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double score = run["scores"][i];
    const double rounded = std::max(0.0, std::abs(result.sequences[i].score - score) - 1e-6);
    const double difference =
        rounded * std::pow(static_cast<double>(expected[i].size()), run["lp"].get<double>());
    CHECK(difference <= tolerance);
    count.largest_difference = std::max(count.largest_difference, difference);
  }
}

inline void report(const std::string& what, const Count& count) {
  MESSAGE(what << ": " << count.runs << " runs, " << count.sequences << " sequences, "
               << count.unequal << " runs unequal, largest difference of a sum of log p "
               << count.largest_difference << ", " << count.too_long
               << " runs longer than the model's positions");
}

}  // namespace triescope::test

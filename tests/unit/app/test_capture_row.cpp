// A run's row from its capture has the figures that the study's table has of the same run.
#include "app/study/capture_row.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <string>

#include "app/study/study_figures.h"
#include "core/capture/capture.h"
#include "tests/support/skip.h"
#include "tests/unit/app/study_rig.h"

namespace triescope::app::test_capture_row {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Quiet final : public StudyWatcher {};

struct Rows : StudyRig {
  std::vector<StudyRow> made(const std::string& text) {
    Quiet watcher;
    const StudyFile study = read(text);
    const StudyOutcome outcome = run_study(study, study_runs(study), out, watcher, {}, "");
    REQUIRE(outcome.failed == 0);
    return StudyStore(out, /*writes=*/false).rows();
  }
  StudyRow of_capture(const StudyRow& row) const {
    const std::string path =
        (fs::path(out) / "captures" / row.at("capture").get<std::string>()).string();
    return row_of_capture(*capture::Capture::open(path), path);
  }
};

bool same(const json& a, const json& b) {
  if (!a.is_number() || !b.is_number()) return a == b;
  return std::abs(a.get<double>() - b.get<double>()) <=
         1e-4 * std::max(1.0, std::abs(b.get<double>()));
}

constexpr const char* kWithBeams = R"toml(
[study]
title = "All kinds"
models = ["MODEL"]
captures = "full"
max_new_tokens = 10
threads = 1

[[method]]
method = "greedy"
set = { eos_token_id = [-1] }

[[method]]
method = "prompt_lookup"
set = { eos_token_id = [-1] }

[[method]]
method = "beam"
set = { num_beams = 3, kv = "compact", gc_every = 2, eos_token_id = [-1] }

[[prompts]]
text = "ABCABCAB"
)toml";

TEST_CASE_FIXTURE(Rows, "capture row: every figure that a capture knows is the study's own") {
  // Times are the phases' here and the run's there; the two clocks differ by what lies between.
  const std::set<std::string> times = {"load_ms", "prefill_ms", "decode_ms", "tokens_per_second"};
  for (const StudyRow& row : made(kWithBeams)) {
    const StudyRow own = of_capture(row);
    CAPTURE(row.at("name").get<std::string>());
    for (const StudyMetric& metric : study_metrics()) {
      CAPTURE(metric.name);
      const json& expected = row.at(metric.name);
      const json& found = own.at(metric.name);
      CAPTURE(expected.dump());
      CAPTURE(found.dump());
      if (std::string_view(metric.name) == "lossless" || times.contains(metric.name)) continue;
      if (found.is_null()) {
        const bool unknown = expected.is_null() || expected == 0;
        CHECK(unknown);
        continue;
      }
      if (metric.is_time) {
        CHECK(std::abs(found.get<double>() - expected.get<double>()) < 5);
        continue;
      }
      CHECK(same(found, expected));
    }
    for (const char* name : {"method", "model", "seed", "max_new_tokens", "prompt_tokens",
                             "accepted_drafts", "accepted_per_step", "accepted_by_depth"}) {
      CAPTURE(name);
      CHECK(same(own.at(name), row.at(name)));
    }
  }
}

TEST_CASE_FIXTURE(
    Rows, "capture row: runs alike in all stay apart, and greedy is what speeds up are over") {
  const std::vector<StudyRow> runs = made(kWithBeams);
  std::vector<StudyRow> own;
  for (const StudyRow& row : runs) own.push_back(of_capture(row));
  own.push_back(own.front());
  own.back()["capture"] = "another.tscap";
  json key = json::parse(own.back().at("key").get<std::string>());
  key["settings"]["capture"] = "another.tscap";
  own.back()["key"] = key.dump();
  const std::vector<StudyRow> rows = folded_rows(own, "greedy");
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].at("speedup") == 1);
  CHECK(rows[1].at("speedup").is_number());
  CHECK(rows[1].at("same_text") == true);
}

}  // namespace
}  // namespace triescope::app::test_capture_row

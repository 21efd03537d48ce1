// The doctor finds nothing in our own runs: every method, with windows, sampling and every KV policy, the
// kept captures, the lessons' and those that docs/capture.md writes out.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/doctor/doctor.h"
#include "core/doctor/report.h"
#include "core/methods/registry.h"
#include "tests/support/documented_captures.h"
#include "tests/support/files.h"
#include "tests/support/fixtures.h"
#include "tests/support/sql.h"
#include "tests/unit/app/recorded_run.h"
#include "tests/unit/files/format_test_util.h"

namespace triescope::test::test_own_runs {
namespace {

std::string told(const std::string& path) {
  const auto diagnosis = doctor::diagnose(*Capture::open(path));
  return diagnosis.groups.empty() ? "" : doctor::report_text(diagnosis, path);
}

struct Case {
  const char* name;
  FakeOptions model;
};
std::vector<Case> models() {
  std::vector<Case> cases;
  cases.push_back({"chained", chained()});
  FakeOptions plain;
  plain.vocab_size = 14;
  plain.eos_token_ids = {0, 3};
  plain.eos_boost = 1;
  cases.push_back({"with end tokens", plain});
  FakeOptions window = chained();
  window.sliding_window = 6;
  cases.push_back({"window", window});
  window.all_layers_slide = true;
  cases.push_back({"window in all layers", window});
  FakeOptions ties = plain;
  ties.quantum = 1;
  ties.eos_boost = 0;
  cases.push_back({"ties", ties});
  FakeOptions lengthening = chained();
  lengthening.kv_valid_until = 14;
  cases.push_back({"a rope that changes with the length", lengthening});
  return cases;
}

std::vector<json> settings() {
  std::vector<json> all = {json::object()};
  for (const char* kv : {"recycle", "compact", "keep", "batch"})
    all.push_back({{"kv", kv}, {"gc_every", 3}, {"num_beams", 4}});
  for (const char* verify : {"sample", "chain", "multi_round", "typical", "top_k"})
    all.push_back({{"verify", verify}, {"temperature", 0.8}, {"accept_top_k", 2}});
  all.push_back(
      {{"verify", "multi_round"}, {"expansion", {3, 2, 1}}, {"kv", "compact"}, {"gc_every", 2}});
  all.push_back({{"verify", "sample"}, {"sampler", "gumbel"}, {"top_k", 5}});
  all.push_back({{"repetition_penalty", 1.3}, {"no_repeat_ngram_size", 2}, {"min_new_tokens", 4}});
  all.push_back({{"num_beams", 5},
                 {"length_penalty", 2.0},
                 {"early_stopping", "never"},
                 {"num_return_sequences", 3}});
  all.push_back({{"num_beams", 4}, {"prune_absolute", 1.0}, {"sampled_tokens", 2}});
  return all;
}

TEST_CASE("doctor: no finding in a run of any method, with any settings over any model") {
  int runs = 0;
  for (const MethodInfo& method : methods()) {
    CAPTURE(method.name);
    for (const Case& model : models()) {
      CAPTURE(std::string(model.name));
      for (json given : settings()) {
        CAPTURE(given.dump());
        const TempDir dir;
        if (method.name == "rest") {
          const std::string text = dir.path() / "datastore.txt";
          write_file(text, "<5><6><7><8><9><5><6><7>");
          given["datastore"] = text;
        }
        const std::string path = record({.method = method.name,
                                         .settings = settings_of(method, given),
                                         .model = model.model,
                                         .max_new_tokens = 14},
                                        dir);
        if (path.empty()) continue;  // refused
        ++runs;
        CHECK(told(path) == "");
      }
    }
  }
  CHECK(runs > 500);
}

TEST_CASE("doctor: no finding in a run that was stopped, or recorded at a lower level") {
  for (const MethodInfo& method : methods()) {
    if (method.name == "rest") continue;
    CAPTURE(method.name);
    for (const Level level : {Level::kSteps, Level::kTree, Level::kFull}) {
      const TempDir dir;
      const std::string path = record({.method = method.name,
                                       .settings = settings_of(method, json::object()),
                                       .model = chained(),
                                       .level = level,
                                       .steps = 3},
                                      dir);
      REQUIRE_FALSE(path.empty());
      CHECK(told(path) == "");
    }
  }
}

TEST_CASE("doctor: no finding in kept captures, the lessons' and the documented ones") {
  const TempDir dir;
  for (const char* name : kKeptCaptures) {
    CAPTURE(name);
    CHECK(told(copy_of_capture(name, dir)) == "");
  }
  const auto documented = documented_captures();
  CHECK(documented.size() == 3);
  for (std::size_t i = 0; i < documented.size(); ++i) {
    CAPTURE(i);
    const std::string path = dir.path() / (std::to_string(i) + ".tscap");
    run_sql(path, documented[i]);
    CHECK(told(path) == "");
  }
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "assets" / "lessons"))
    if (entry.path().extension() == ".tscap") {
      CAPTURE(entry.path().string());
      const std::string found = told(entry.path().string());
      // One is about a fault that somebody made.
      if (entry.path().stem() == "wrong-mask")
        CHECK(found.find("2 findings, gravest first\n\nmask.extra: a row sees its sibling") !=
              std::string::npos);
      else
        CHECK(found == "");
    }
}

}  // namespace
}  // namespace triescope::test::test_own_runs

// StudyFile: what a study's TOML file asks for: models, methods with settings, prompts, seeds and
// repeats. docs/study.md describes the file. Reading checks everything that can be checked without a
// model, and every refusal names line and column.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/study/study_prompts.h"
#include "core/capture/records.h"
#include "core/model/model.h"

namespace triescope::app {

// A setting of a method with the values that are tried, one or more.
struct StudySetting {
  std::string name;
  std::vector<nlohmann::json> values;
};

struct StudyMethod {
  std::string name;  // what tables call it; the method's own unless given
  std::string method;
  std::string draft, draft_device;  // "" = as for `decode`
  std::vector<StudySetting> settings;
};

struct StudyFile {
  std::string title;
  std::vector<std::string> models;  // as --model takes them; one "" = the default
  std::vector<StudyMethod> methods;
  std::vector<StudyPrompt> prompts;  // each with a number (BenchPrompt::id)
  std::vector<std::uint64_t> seeds = {0};
  std::vector<int> max_new_tokens = {128};
  int repeats = 1;
  std::string baseline;  // name of the method entry with which others are compared; "" = none
  capture::Level captures = capture::Level::kTree;
  std::string device = "cpu";
  std::optional<DType> dtype, kv_dtype;
  int threads = 0;  // 0 = all cores
  bool chat = false;
  std::string system;
};

// Prompt files are looked for in the study file's folder. Errors: kNotFound; kCorruption, "FILE:3:9:
// …": not TOML, an unknown key or name, a value that is not allowed, nothing to run.
StudyFile read_study(const std::string& path);

}  // namespace triescope::app

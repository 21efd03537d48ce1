// A study over two tiny models, in a folder of the test's own.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "app/study/run_study.h"
#include "tests/support/paths.h"
#include "tests/unit/app/tiny_model.h"

namespace triescope::app {

struct StudyRig {
  test::TempDir folder;
  std::string model = write_tiny_model(folder.path(), "one", {.seed = 1, .tokenizer = true});
  std::string out = (folder.path() / "runs").string();

  // Writes the text into study.toml; MODEL in it becomes the model's path.
  std::string file(std::string text) const {
    for (std::size_t at; (at = text.find("MODEL")) != std::string::npos;)
      text.replace(at, 5, model);
    const std::string path = (folder.path() / "study.toml").string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  StudyFile read(const std::string& text) const { return read_study(file(text)); }
};

// Two methods, one of them swept, over two prompts, twice.
inline constexpr const char* kSmallStudy = R"toml(
[study]
title = "Lookup against greedy"
models = ["MODEL"]
max_new_tokens = 12
repeats = 2
threads = 1

[[method]]
method = "greedy"
set = { eos_token_id = [-1] }

[[method]]
name = "lookup"
method = "prompt_lookup"
set = { prompt_lookup_num_tokens = [2, 4], eos_token_id = [-1] }

[[prompts]]
text = "ABCABCAB"
category = "letters"

[[prompts]]
text = "XYXYXY"
category = "more"
)toml";

// The small study, run.
struct MadeStudy : StudyRig {
  MadeStudy() {
    const StudyFile study = read(kSmallStudy);
    StudyWatcher watcher;
    run_study(study, study_runs(study), out, watcher, {}, "");
    rows = StudyStore(out, /*writes=*/false).rows();
  }
  std::vector<StudyRow> rows;
};

}  // namespace triescope::app

// Spec-Bench's questions, read from the test data: first turns, by category.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/bench/prompts.h"

namespace triescope::test {

// `per_category` of each of `categories` in the file's order; 0 = all; no categories = every one.
inline std::vector<app::BenchPrompt> spec_bench(const std::filesystem::path& data_dir,
                                                const std::vector<std::string>& categories = {},
                                                int per_category = 0) {
  return app::read_bench_prompts((data_dir / "prompts" / "spec_bench_question.jsonl").string(),
                                 categories, per_category);
}

}  // namespace triescope::test

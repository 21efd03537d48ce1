// Prompts for benchmarks and tests: out of a file in Spec-Bench's format, or a few of our own.
#pragma once

#include <string>
#include <vector>

namespace triescope::app {

struct BenchPrompt {
  std::string category;
  std::string text;
  int id = -1;  // "question_id"; -1 = none
};

// Spec-Bench's format: a JSON object a line with "category" and "turns" (or "prompt"), the first
// turn is taken. `per_category` of each in the file's order, 0 = all; no `categories` = every one.
// Errors: kNotFound; kCorruption (file:line, expected, found); kInvalidArgument: no such prompts.
std::vector<BenchPrompt> read_bench_prompts(const std::string& path,
                                            const std::vector<std::string>& categories,
                                            int per_category);
// For where no file is given: "story", "summarization", "rag".
std::vector<BenchPrompt> builtin_bench_prompts();

}  // namespace triescope::app

// Prompts for benchmarks and tests, from a file in the layout of Spec-Bench's question.jsonl or of
// HumanEval.jsonl, or from a few of our own.
#pragma once

#include <string>
#include <vector>

namespace triescope::app {

struct BenchPrompt {
  std::string category;
  std::string text;
  int id = -1;  // "question_id"; -1 = none
};

// Reads a JSON object a line with "category" and "turns" (Spec-Bench) or "prompt", of which the first
// turn is used. "task_id": "HumanEval/12" gives category and id. `per_category` of each category in the
// file's order, 0 = all; without `categories`, every category. Errors: kNotFound; kCorruption
// (file:line, expected, found); kInvalidArgument: there are no such prompts.
std::vector<BenchPrompt> read_bench_prompts(const std::string& path,
                                            const std::vector<std::string>& categories,
                                            int per_category);
// For use without a file: "story", "summarization", "rag".
std::vector<BenchPrompt> builtin_bench_prompts();

}  // namespace triescope::app

// The plan of `triescope bench --only spec`: drafting methods and sweeps over tasks, as a study
// (app/study), which makes the runs and keeps them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/study/study_file.h"

namespace triescope::app {

struct SpecOptions {
  std::string model, device = "cpu";  // as `decode` takes them
  std::optional<DType> dtype;
  int threads = 0;
  bool chat = false;  // the model has a chat template
  // Beside greedy decoding, as bench_spec() takes them; empty = default_spec_methods().
  std::vector<std::string> methods;
  // "eagle2:draft_tokens=8,16:draft_levels=2,4": one or two settings with several values, others with one.
  std::vector<std::string> sweeps;
  std::vector<std::string> drafts;  // draft models and heads, each for the methods that take it
  std::vector<BenchPrompt> prompts;
  int max_new_tokens = 128;
};

// The task of a published category: Spec-Bench counts MT-bench's eight categories as "dialogue".
std::string spec_task(const std::string& category);
// Prompts of files in the layouts of Spec-Bench's question.jsonl and HumanEval.jsonl, with their task
// as category: `per_task` of each at most (0 = all), a task's categories in turn, and the tasks in turn,
// so that an interrupted benchmark has runs of every task. Without files: the program's own. Errors:
// those of read_bench_prompts.
std::vector<BenchPrompt> spec_prompts(const std::vector<std::string>& files,
                                      const std::vector<std::string>& categories, int per_task);

// Every drafting method that needs nothing, or for which the program has a draft model or head that
// fits this model; those that look drafts up also with the number of drafts that was published.
// `model`: its path.
std::vector<std::string> default_spec_methods(const std::string& model,
                                              const std::vector<std::string>& drafts);
// Sweeps over num_draft, n, L_p, N and the size of trees, of the methods that the list names.
std::vector<std::string> standard_spec_sweeps(const std::vector<std::string>& methods);

// Errors: those of bench_spec, find_method, validate_settings and resolve_draft; kInvalidArgument: a
// sweep over more than two settings, or over none.
StudyFile spec_study(const SpecOptions& options);
// Whether the study's method of this name is a sweep.
bool is_spec_sweep(const std::string& name);
// The entry of SpecOptions::sweeps that a sweep's name stands for.
std::string swept_text(const std::string& name);

}  // namespace triescope::app

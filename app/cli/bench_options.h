// The options of `triescope bench`.
#pragma once

#include <string>
#include <vector>

namespace triescope::app {

struct BenchOptions {
  std::vector<std::string> models, companions, prompts, sweeps;
  std::string device = "cpu", dtype, categories, only, methods, beams = "3,6,9,15", lengths = "64",
              folder = "bench-spec", plots;
  int per_category = 2, max_new_tokens = 96, max_prompt_tokens = 1024, repeats = 15, threads = 0;
  bool as_json = false, as_csv = false, folder_given = false;
};
// Measures and prints what was asked for. Errors: those of the benchmarks; kInvalidArgument: a name that
// --only does not know, options that do not go together.
int run_bench(const BenchOptions& options, bool quiet);

}  // namespace triescope::app

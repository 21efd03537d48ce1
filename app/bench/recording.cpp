// Measures the cost of recording a capture.
#include <algorithm>
#include <filesystem>
#include <random>

#include "app/bench/benchmarks.h"
#include "app/bench/runs.h"
#include "core/capture/writer.h"

namespace triescope::app {
namespace {

struct TemporaryFolder {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("triescope-bench-" + std::to_string(std::random_device()()));
  TemporaryFolder() { std::filesystem::create_directories(path); }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

}  // namespace

std::vector<RecordingCost> measure_recording(Model& model, const Tokenizer& tokenizer,
                                             const std::vector<BenchPrompt>& prompts,
                                             const RecordingBenchOptions& options,
                                             const ProgressSink& progress) {
  using capture::Level;
  struct Rival {
    const char* name;
    Level level;
  };
  static constexpr Rival kRivals[] = {{"off", Level::kOff},
                                      {"steps", Level::kSteps},
                                      {"tree", Level::kTree},
                                      {"full", Level::kFull}};
  const TemporaryFolder folder;

  std::vector<RecordingCost> table(std::size(kRivals));
  std::vector<std::vector<double>> ratios(std::size(kRivals));
  std::vector<double> ms(std::size(kRivals)), bytes(std::size(kRivals));
  const auto runs = static_cast<double>(prompts.size()) * options.repeats * std::size(kRivals);
  double done = 0;
  for (const BenchPrompt& prompt : prompts) {
    RunConfig config;
    config.method = "beam";
    config.settings = {{"num_beams", options.num_beams}};
    config.prompt_tokens = bench_tokens(tokenizer, prompt, options.max_prompt_tokens);
    config.max_new_tokens = options.max_new_tokens;
    for (int repeat = 0; repeat < options.repeats; ++repeat) {
      double off_ms = 0;
      for (std::size_t r = 0; r < std::size(kRivals); ++r) {
        const std::string path = folder.path / "run.tscap";
        std::unique_ptr<capture::Recorder> recorder;
        if (kRivals[r].level == Level::kOff)
          recorder = std::make_unique<capture::NullRecorder>();
        else
          recorder = capture::open_recorder(path, {.level = kRivals[r].level});
        const auto start = BenchClock::now();
        const RunResult result = run_recorded(model, tokenizer, config, *recorder);
        recorder.reset();  // closing is part of the price
        const double wall = ms_since(start) - result.time.prefill_ms;
        if (r == 0) off_ms = wall;
        ms[r] += wall;
        ratios[r].push_back(wall / off_ms);
        table[r].steps += static_cast<int>(result.steps);
        if (r > 0) bytes[r] += static_cast<double>(std::filesystem::file_size(path));
        if (progress) progress("recording", ++done, runs);
      }
    }
  }
  for (std::size_t r = 0; r < std::size(kRivals); ++r) {
    const double steps = std::max(1, table[r].steps);
    table[r].level = kRivals[r].name;
    table[r].num_beams = options.num_beams;
    table[r].prompts = static_cast<int>(prompts.size());
    table[r].ms_per_step = ms[r] / steps;
    table[r].over_off = median(ratios[r]);
    table[r].bytes_per_step = bytes[r] / steps;
  }
  return table;
}

}  // namespace triescope::app

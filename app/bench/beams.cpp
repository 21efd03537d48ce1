// Beam search by KV policy: memory, speed, equality.
#include <algorithm>
#include <string>

#include "app/bench/benchmarks.h"
#include "app/bench/runs.h"

namespace triescope::app {
namespace {

// Keeps the rows of a run's memory and phases.
class StepRecorder final : public capture::Recorder {
 public:
  capture::Level level() const override { return capture::Level::kSteps; }
  void write(const capture::RowTables& rows) override {
    for (const capture::MemoryRow& row : rows.memory)
      if (row.whose == capture::Whose::kTarget) memory.push_back(row);
    phases.insert(phases.end(), rows.phases.begin(), rows.phases.end());
  }
  void flush() override {}

  std::vector<capture::MemoryRow> memory;
  std::vector<capture::PhaseRow> phases;
};

struct PhaseMean {
  double ms = 0, count = 0;
  void add(const capture::PhaseRow& phase) {
    ms += static_cast<double>(phase.duration_us) / 1000;
    ++count;
  }
  double mean() const { return ms / count; }
};

struct CollectionTimes {
  PhaseMean collections, forwards;  // after prefill

  void add(const StepRecorder& run, bool frees_always) {
    std::vector<std::int32_t> steps;
    std::int32_t garbage = 0;
    for (const capture::MemoryRow& row : run.memory) {
      if (row.step > 0 && (frees_always || row.moved_bytes > 0 || row.garbage < garbage))
        steps.push_back(row.step);
      garbage = row.garbage;
    }
    for (const capture::PhaseRow& phase : run.phases) {
      const std::int32_t step = capture::step_of(phase.tick);
      const capture::Phase which = capture::phase_of(phase.tick);
      if (step > 0 && which == capture::Phase::kForward) forwards.add(phase);
      if (which == capture::Phase::kCommit && std::binary_search(steps.begin(), steps.end(), step))
        collections.add(phase);
    }
  }
};

}  // namespace

std::vector<BeamCost> measure_beams(Model& model, const Tokenizer& tokenizer,
                                    const std::vector<BenchPrompt>& prompts,
                                    const BeamBenchOptions& options, const ProgressSink& progress) {
  static constexpr const char* kPolicies[] = {"batch", "keep", "compact", "recycle"};
  const auto count = static_cast<double>(prompts.size());
  std::vector<BeamCost> table;
  const double total = count * static_cast<double>(options.num_beams.size() *
                                                   options.lengths.size() * std::size(kPolicies));
  double done = 0;
  for (const int length : options.lengths) {
    for (const int beams : options.num_beams) {
      std::vector<BeamCost> rows(std::size(kPolicies));
      std::vector<double> decode_ms(std::size(kPolicies)), steps(std::size(kPolicies));
      std::vector<CollectionTimes> times(std::size(kPolicies));
      for (const BenchPrompt& prompt : prompts) {
        const std::vector<std::int32_t> tokens =
            bench_tokens(tokenizer, prompt, options.max_prompt_tokens);
        RunResult batch;
        for (std::size_t p = 0; p < std::size(kPolicies); ++p) {
          RunConfig config;
          const bool is_batch = p == 0;
          config.method = is_batch ? "batch_beam" : "beam";
          config.settings = {{"num_beams", beams}};
          if (!is_batch) config.settings["kv"] = kPolicies[p];
          config.prompt_tokens = tokens;
          config.max_new_tokens = length;
          StepRecorder recorder;
          const RunResult result = run_recorded(model, tokenizer, std::move(config), recorder);
          times[p].add(recorder, kPolicies[p] == std::string("recycle"));
          if (is_batch) batch = result;
          BeamCost& row = rows[p];
          row.num_beams = beams;
          row.max_new_tokens = length;
          row.policy = kPolicies[p];
          ++row.prompts;
          row.prompt_tokens += static_cast<double>(tokens.size()) / count;
          row.peak_live += static_cast<double>(result.peak_live_tokens) / count;
          row.peak_garbage += static_cast<double>(result.peak_garbage_tokens) / count;
          row.peak_reserved += static_cast<double>(result.peak_reserved_bytes) /
                               static_cast<double>(result.kv_bytes_per_token) / count;
          row.moved += static_cast<double>(result.moved_tokens) / count;
          row.over_batch += static_cast<double>(result.peak_held_tokens) /
                            static_cast<double>(batch.batch_beam_tokens) / count;
          row.saved +=
              static_cast<double>(batch.batch_beam_tokens - result.peak_held_tokens) / count;
          if (row.prompts == 1) row.memory = std::move(recorder.memory);
          row.equal_to_batch &= same_tokens(result, batch);
          // Decode steps: prefill's time is not in decode_ms. Each emits one token a beam.
          steps[p] += static_cast<double>(result.steps - 1);
          decode_ms[p] += result.time.decode_ms;
          if (progress) progress("beam search", ++done, total);
        }
      }
      for (std::size_t p = 0; p < std::size(kPolicies); ++p) {
        rows[p].tokens_per_second = decode_ms[p] > 0 ? 1000 * steps[p] / decode_ms[p] : 0;
        rows[p].ms_per_step = steps[p] > 0 ? decode_ms[p] / steps[p] : 0;
        rows[p].collections = times[p].collections.count / count;
        rows[p].gc_ms = times[p].collections.mean();
        rows[p].forward_ms = times[p].forwards.mean();
        table.push_back(std::move(rows[p]));
      }
    }
  }
  return table;
}

}  // namespace triescope::app

// Every family beside transformers, on the tiny models of tests/golden/parity_goldens.json: the
// largest difference of the first logits, the share of runs whose texts are all equal in fp32 and
// in bf16, time to write and load, tokens a second (one beam and four, prompt of 200 tokens
// included).
//
//   build/bench/bench_families
//
// The models have 4 layers of 32 numbers: the seconds are the cost of a step, not of arithmetic.
// TRIESCOPE_TEST_DEVICE=cuda: on that device.
#include <chrono>
#include <cstdio>
#include <exception>

#include "tests/golden/parity_models.h"

namespace triescope::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Shares {
  int runs = 0, equal = 0;
  double percent() const { return runs == 0 ? 0 : 100.0 * equal / runs; }
};

// Every fifth run of a model.
Shares equal_runs(Model& model, const nlohmann::json& entry) {
  Shares shares;
  std::size_t at = 0;
  for (const auto& run : entry["runs"]) {
    if (++at % 5 != 0) continue;
    const auto expected = parity_sequences(run);
    RunResult result;
    try {
      result = parity_decode(model, entry, run);
    } catch (const Error&) {
      continue;  // longer than the model's positions
    }
    bool same = result.sequences.size() == expected.size();
    for (std::size_t i = 0; same && i < expected.size(); ++i)
      same = result.sequences[i].tokens == expected[i];
    ++shares.runs;
    shares.equal += same;
  }
  return shares;
}

// Emitted tokens of the best text a second; 0: no run fits.
double tokens_per_second(Model& model, const nlohmann::json& entry, int beams) {
  const nlohmann::json run = {
      {"prompt", 3}, {"eos", 0}, {"beams", beams}, {"stop", "true"}, {"lp", 1.0}};
  nlohmann::json without_eos = entry;
  without_eos["eos"] = {{-1}};
  double tokens = 0;
  const auto start = Clock::now();
  try {
    for (int turn = 0; turn < 20; ++turn)
      tokens +=
          static_cast<double>(parity_decode(model, without_eos, run).sequences[0].tokens.size());
  } catch (const Error&) {
    return 0;
  }
  return tokens / seconds_since(start);
}

int main_of() {
  std::printf("%-30s %12s %9s %11s %11s %9s %11s %11s\n", "model", "logits diff", "runs",
              "fp32 equal", "bf16 equal", "load ms", "tok/s 1", "tok/s 4");
  for (const auto& [name, entry] : parity_file()["models"].items()) {
    const auto start = Clock::now();
    const auto model = load_parity_model(entry);
    const double load = seconds_since(start);
    const double difference = first_logits_difference(*model, entry);
    const Shares fp32 = equal_runs(*model, entry);
    const Shares bf16 = equal_runs(*load_parity_model(entry, DType::kBF16), entry);
    std::printf("%-30s %12.1e %9d %9.1f %% %9.1f %% %9.1f %11.0f %11.0f\n", name.c_str(),
                difference, fp32.runs, fp32.percent(), bf16.percent(), 1000 * load,
                tokens_per_second(*model, entry, 1), tokens_per_second(*model, entry, 4));
  }
  return 0;
}

}  // namespace
}  // namespace triescope::test

int main() {
  try {
    return triescope::test::main_of();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_families: %s\n", error.what());
    return 1;
  }
}

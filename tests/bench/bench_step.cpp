// Where a step of greedy decoding on the CPU spends its time, on SmolLM2 or a model of yours: the
// linear layers and the output head, attention, what else a forward does (norms, rope, activations,
// keys and values into their slots), and what the program does beside the forward.
//
//   build/bench/bench_step [MODEL] [threads] [prompt tokens] [repeats]
//
// Linear layers and attention are run alone, in the model's order, from weights and KV of their
// own, in turn with the whole forward; a figure is the shortest of its repeats, because what else
// the machine does only ever adds. Beside the forward: the phases of `triescope decode`, with a
// capture at full detail and without.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/timing.h"
#include "core/kernels/linear.h"
#include "core/kernels/tree_attention.h"
#include "core/model/cpu_weights.h"
#include "tests/support/paths.h"

namespace triescope::bench {
namespace {

using kernels::PackedLinear;

struct Parts {
  double forward = 0, linear = 0, attention = 0;
};

Parts parts_of_a_forward(const std::string& path, int threads, int prompt, int repeats) {
  const LoadOptions options{.threads = threads};
  const std::unique_ptr<Model> model = load_model(path, options);
  const auto source = formats::WeightSource::open(path);
  const CpuWeights weights(*source, options, {}, {});
  const formats::ModelConfig& config = source->config();
  ThreadPool pool(threads);

  const std::unique_ptr<KvStorage> kv = model->make_kv(prompt + 1);
  std::vector<std::int32_t> order(static_cast<std::size_t>(prompt));
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::int32_t> tokens(order.size(), 5);
  const std::vector<std::int32_t> none, last = {prompt - 1}, own = {prompt}, offsets = {0, 1},
                                        row = {0}, token = {7};
  ForwardBatch text;
  text.tokens = tokens;
  text.positions = text.slots = order;
  text.logit_rows = last;
  model->forward(text, *kv);
  ForwardBatch step;
  step.tokens = token;
  step.positions = step.slots = step.own_slots = own;
  step.own_offsets = offsets;
  step.prefix_slots = order;
  step.logit_rows = row;

  std::vector<const PackedLinear*> matrices;
  for (const CpuWeights::Layer& layer : weights.layers) {
    for (const PackedLinear* matrix : {&layer.qkv, &layer.output, &layer.gate_up, &layer.down})
      matrices.push_back(matrix);
  }
  matrices.push_back(weights.head.empty() ? &weights.embedding : &weights.head);
  std::int64_t widest = 0, deepest = 0;
  for (const PackedLinear* matrix : matrices) {
    widest = std::max(widest, matrix->outputs());
    deepest = std::max(deepest, matrix->inputs());
  }
  const std::vector<float> x(static_cast<std::size_t>(deepest), 0.5f);
  std::vector<float> y(static_cast<std::size_t>(widest));

  const kernels::AttentionShape shape{.heads = config.heads,
                                      .kv_heads = config.kv_heads,
                                      .head_dim = config.head_dim,
                                      .scale = 0.125f};
  const auto kv_size =
      static_cast<std::size_t>(prompt + 1) * static_cast<std::size_t>(config.kv_dims());
  const std::vector<float> keys(kv_size * config.layers.size(), 0.25f), values = keys;
  const std::vector<float> query(static_cast<std::size_t>(config.query_dims()), 0.5f);
  std::vector<float> mixed(query.size());
  const auto width = static_cast<std::int64_t>(query.size());

  const auto linear = [&] {
    for (const PackedLinear* matrix : matrices)
      kernels::linear(*matrix, x.data(), matrix->inputs(), 1, y.data(), matrix->outputs(), pool);
  };
  const auto attention = [&] {
    for (std::size_t layer = 0; layer < config.layers.size(); ++layer) {
      kernels::tree_attention(query.data(), width, 1,
                              {keys.data() + layer * kv_size, values.data() + layer * kv_size,
                               kernels::Precision::kF32},
                              shape, {.prefix = order, .own = own, .offsets = offsets},
                              mixed.data(), width, pool);
    }
  };
  Parts best;
  for (int i = 0; i <= repeats; ++i) {
    const Parts now{.forward = seconds([&] { model->forward(step, *kv); }),
                    .linear = seconds(linear),
                    .attention = seconds(attention)};
    if (i < 2) {  // the first warms up
      best = now;
      continue;
    }
    best.forward = std::min(best.forward, now.forward);
    best.linear = std::min(best.linear, now.linear);
    best.attention = std::min(best.attention, now.attention);
  }
  return best;
}

// Seconds a step beside the forward.
double beside_the_forward(const std::string& path, int threads, const std::string& more) {
  constexpr int kNew = 129;
  const std::string command = std::string(TRIESCOPE_TEST_PROGRAM) +
                              " decode --json --quiet --method greedy --prompt-ids 5,6,7,8 --set "
                              "eos_token_id=-1 --max-new-tokens " +
                              std::to_string(kNew) + " --threads " + std::to_string(threads) +
                              " --model '" + path + "'" + more;
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return 0;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  if (pclose(pipe) != 0) return 0;
  const auto times = nlohmann::json::parse(output)["time_ms"];
  return (times["decode"].get<double>() - times["forward"].get<double>()) * 1e-3 / (kNew - 1);
}

void line(const char* what, double part, double whole) {
  std::printf("%-34s %8.3f ms  %5.1f %%\n", what, part * 1e3, 100 * part / whole);
}

}  // namespace
}  // namespace triescope::bench

int main(int argc, char** argv) try {
  using namespace triescope::bench;
  const auto installed = triescope::test::model_path();
  if (argc < 2 && !installed) {
    std::printf("SmolLM2 is not installed: name a model\n");
    return 0;
  }
  const std::string model = argc > 1 ? argv[1] : installed->string();
  const int threads = argc > 2 ? std::atoi(argv[2]) : triescope::ThreadPool::available_cores();
  const int prompt = argc > 3 ? std::atoi(argv[3]) : 128,
            repeats = argc > 4 ? std::atoi(argv[4]) : 200;
  const Parts parts = parts_of_a_forward(model, threads, prompt, repeats);
  const double plain = beside_the_forward(model, threads, "");
  const triescope::test::TempDir folder;
  const double recorded = beside_the_forward(
      model, threads, " --capture '" + (folder.path() / "step.tscap").string() + "'");
  const double whole = parts.forward + plain;
  std::printf("%d threads, %d slots\n", threads, prompt + 1);
  line("a greedy step", whole, whole);
  line("linear layers and output head", parts.linear, whole);
  line("attention", parts.attention, whole);
  line("norms, rope, activations, the rest", parts.forward - parts.linear - parts.attention, whole);
  line("choosing the token, the session", plain, whole);
  line("recording, at full detail (more)", std::max(0.0, recorded - plain), whole);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

// Where a step on the CPU spends its time, on SmolLM2 or a model of yours: the linear layers and the
// output head, attention, what else a forward does (norms, rope, activations, keys and values into
// their slots), and what the program does beside the forward. Of greedy decoding; of more rows, of
// beam search with that many, each with a text of 24 tokens below the prompt, half of it common to
// all.
//
//   build/bench/bench_step [MODEL] [threads] [prompt tokens] [repeats] [rows]
//
// Linear layers and attention are run alone, in the model's order, from weights and KV of their
// own, in turn with the whole forward; a figure is the shortest of its repeats, because what else
// the machine does only ever adds. Beside the forward: the phases of `triescope decode`, with a
// capture at full detail and without.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/count_up.h"
#include "core/base/timing.h"
#include "core/kernels/linear.h"
#include "core/kernels/tree_attention.h"
#include "core/model/cpu/cpu_weights.h"
#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace triescope::bench {
namespace {

using kernels::PackedLinear;

struct Parts {
  double forward = 0, linear = 0, attention = 0;
};

// The slots that `rows` rows see below a prompt of so many, the last of each its own.
struct OwnSlots {
  std::vector<std::int32_t> slots, offsets = {0}, last;
  int end = 0;  // of all slots
};

OwnSlots own_slots(int prompt, int rows) {
  const int common = rows > 1 ? 12 : 0, own = rows > 1 ? 12 : 1;
  OwnSlots seen;
  seen.end = prompt + common;
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < common; ++i) seen.slots.push_back(prompt + i);
    for (int i = 0; i < own; ++i) seen.slots.push_back(seen.end++);
    seen.offsets.push_back(static_cast<std::int32_t>(seen.slots.size()));
    seen.last.push_back(seen.slots.back());
  }
  return seen;
}

Parts parts_of_a_forward(const std::string& path, int threads, int prompt, int rows, int repeats) {
  const LoadOptions options{.threads = threads};
  const std::unique_ptr<Model> model = load_model(path, options);
  const auto source = formats::WeightSource::open(path);
  const CpuWeights weights(*source, options, {}, {});
  const formats::ModelConfig& config = source->config();
  ThreadPool pool(threads);

  const OwnSlots own = own_slots(prompt, rows);
  const std::unique_ptr<KvStorage> kv = model->make_kv(own.end);
  std::vector<std::int32_t> order = count_up(static_cast<std::size_t>(own.end));
  const std::vector<std::int32_t> text_tokens(order.size(), 5), text_end = {own.end - 1};
  ForwardBatch text;
  text.tokens = text_tokens;
  text.positions = text.slots = order;
  text.logit_rows = text_end;
  model->forward(text, *kv);
  const std::span<const std::int32_t> prefix =
      std::span(order).first(static_cast<std::size_t>(prompt));
  const auto count = static_cast<std::size_t>(rows);
  const std::vector<std::int32_t> tokens(count, 7), positions(count, prompt + own.offsets[1] - 1);
  ForwardBatch step;
  step.tokens = tokens;
  step.positions = positions;
  step.slots = own.last;
  step.own_slots = own.slots;
  step.own_offsets = own.offsets;
  step.prefix_slots = prefix;
  step.logit_rows = std::span(order).first(count);

  std::vector<const PackedLinear*> matrices;
  for (const CpuWeights::Layer& layer : weights.layers) {
    matrices.push_back(&layer.qkv);
    matrices.push_back(&layer.output);
    // Of a mixture of experts, as many as one row goes through.
    const std::size_t mlps =
        layer.router.empty() ? 1 : static_cast<std::size_t>(config.experts.used);
    for (std::size_t i = 0; i < mlps; ++i)
      for (const PackedLinear* matrix : {&layer.mlps[i].gate_up, &layer.mlps[i].down})
        matrices.push_back(matrix);
  }
  matrices.push_back(weights.head.empty() ? &weights.embedding : &weights.head);
  std::int64_t widest = 0, deepest = 0;
  for (const PackedLinear* matrix : matrices) {
    widest = std::max(widest, matrix->outputs());
    deepest = std::max(deepest, matrix->inputs());
  }
  const std::vector<float> x(count * static_cast<std::size_t>(deepest), 0.5f);
  std::vector<float> y(count * static_cast<std::size_t>(widest));

  const kernels::AttentionShape shape{.heads = config.heads,
                                      .kv_heads = config.kv_heads,
                                      .head_dim = config.head_dim,
                                      .scale = 0.125f};
  const auto kv_size =
      static_cast<std::size_t>(own.end) * static_cast<std::size_t>(config.kv_dims());
  const std::vector<float> keys(kv_size * config.layers.size(), 0.25f), values = keys;
  const auto width = static_cast<std::int64_t>(config.query_dims());
  const std::vector<float> query(count * static_cast<std::size_t>(width), 0.5f);
  std::vector<float> mixed(query.size());

  const auto linear = [&] {
    for (const PackedLinear* matrix : matrices)
      kernels::linear(*matrix, x.data(), matrix->inputs(), rows, y.data(), matrix->outputs(), pool);
  };
  const auto attention = [&] {
    for (std::size_t layer = 0; layer < config.layers.size(); ++layer) {
      kernels::tree_attention(query.data(), width, rows,
                              {keys.data() + layer * kv_size, values.data() + layer * kv_size,
                               kernels::Precision::kF32},
                              shape, {.prefix = prefix, .own = own.slots, .offsets = own.offsets},
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
double beside_the_forward(const std::string& path, int threads, int rows, const std::string& more) {
  constexpr int kNew = 129;
  const std::string method =
      rows > 1 ? "beam --set num_beams=" + std::to_string(rows) : std::string("greedy");
  const std::string command = std::string(TRIESCOPE_TEST_PROGRAM) +
                              " decode --json --quiet --prompt-ids 5,6,7,8 --set eos_token_id=-1 "
                              "--max-new-tokens " +
                              std::to_string(kNew) + " --threads " + std::to_string(threads) +
                              " --method " + method + " --model '" + path + "'" + more;
  const test::CommandAnswer answer = test::run_command(command);
  if (answer.status != 0) return 0;
  const auto times = nlohmann::json::parse(answer.output)["time_ms"];
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
            repeats = argc > 4 ? std::atoi(argv[4]) : 200, rows = argc > 5 ? std::atoi(argv[5]) : 1;
  const Parts parts = parts_of_a_forward(model, threads, prompt, rows, repeats);
  const double plain = beside_the_forward(model, threads, rows, "");
  const triescope::test::TempDir folder;
  const double recorded = beside_the_forward(
      model, threads, rows, " --capture '" + (folder.path() / "step.tscap").string() + "'");
  const double whole = parts.forward + plain;
  std::printf("%d threads, a prompt of %d tokens\n", threads, prompt);
  line(rows > 1 ? ("a step of " + std::to_string(rows) + " beams").c_str() : "a greedy step", whole,
       whole);
  line("linear layers and output head", parts.linear, whole);
  line("attention", parts.attention, whole);
  line("norms, rope, activations, the rest", parts.forward - parts.linear - parts.attention, whole);
  line("choosing tokens, the session", plain, whole);
  line("recording, at full detail (more)", std::max(0.0, recorded - plain), whole);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

// Encoding and decoding speed in MB/s of text: make bench, or bench_tokenizer
// [--benchmark_filter=...]. Texts: the children's classics and the Spec-Bench prompts of the test
// data.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "core/text/tokenizer/tokenizer.h"
#include "tests/support/paths.h"
#include "tests/support/spec_bench.h"

namespace {

using namespace triescope;
constexpr std::size_t kTextBytes = 8u << 20;

// Stories, and what prompts look like (news, code, tables, other languages).
const std::string& text_of(bool prompts) {
  static const auto read = [](bool from_prompts) {
    const auto data = test::data_dir();
    std::string text;
    if (!data) return text;
    if (from_prompts) {
      for (const auto& prompt : test::spec_bench(*data)) text += prompt.text + "\n";
      return text;
    }
    std::ifstream file(*data / "corpus" / "classics_children.txt", std::ios::binary);
    std::stringstream all;
    all << file.rdbuf();
    text = all.str().substr(0, kTextBytes);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80)) text.pop_back();
    return text;
  };
  static const std::string stories = read(false), questions = read(true);
  return prompts ? questions : stories;
}

std::filesystem::path path_of(int which) {
  const auto data = test::data_dir();
  if (which == 0) return test::model_path().value_or("");
  if (!data) return "";
  return *data / (which == 1   ? "tokenizers/gpt2"
                  : which == 2 ? "tokenizers/phi3"
                               : "models/TinyStories-656K");
}

void encode(benchmark::State& state) {
  const auto path = path_of(static_cast<int>(state.range(0)));
  const std::string& text = text_of(state.range(1) != 0);
  if (path.empty() || text.empty()) {
    state.SkipWithError("no tokenizer or no text");
    return;
  }
  const auto tokenizer = load_tokenizer(path.string());
  std::size_t tokens = 0;
  for (auto _ : state) tokens = tokenizer->encode(text).size();
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  state.counters["tokens"] = static_cast<double>(tokens);
  state.SetLabel(tokenizer->description());
}

void decode(benchmark::State& state) {
  const auto path = path_of(static_cast<int>(state.range(0)));
  const std::string& text = text_of(true);
  if (path.empty() || text.empty()) {
    state.SkipWithError("no tokenizer or no text");
    return;
  }
  const auto tokenizer = load_tokenizer(path.string());
  const auto ids = tokenizer->encode(text);
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer->decode(ids));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  state.SetLabel(tokenizer->description());
}

void load(benchmark::State& state) {
  const auto path = path_of(static_cast<int>(state.range(0)));
  if (path.empty()) {
    state.SkipWithError("no tokenizer");
    return;
  }
  for (auto _ : state) benchmark::DoNotOptimize(load_tokenizer(path.string()));
}

// tokenizer: 0 SmolLM2, 1 GPT-2, 2 Phi-3, 3 TinyStories; text: 0 stories, 1 prompts
BENCHMARK(encode)->ArgsProduct({{0, 1, 2, 3}, {0, 1}})->Unit(benchmark::kMillisecond);
BENCHMARK(decode)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);
BENCHMARK(load)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

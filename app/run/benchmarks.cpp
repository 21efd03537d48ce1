#include "app/run/benchmarks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>

#include "app/run/loaded_model.h"
#include "app/run/request.h"
#include "core/base/error.h"
#include "core/capture/writer.h"

namespace triescope::app {
namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

RunResult run_recorded(Model& model, const Tokenizer& tokenizer, RunConfig config,
                       capture::Recorder& recorder) {
  Session session(model, tokenizer, std::move(config), recorder);
  session.run();
  return session.result();
}

RunResult run_once(Model& model, const Tokenizer& tokenizer, RunConfig config) {
  capture::NullRecorder recorder;
  return run_recorded(model, tokenizer, std::move(config), recorder);
}

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

// The prompt in the model's chat format where it has one, its middle cut out where it is too long.
std::vector<std::int32_t> bench_tokens(const Tokenizer& tokenizer, const BenchPrompt& prompt,
                                       int max_tokens) {
  RunRequest request;
  request.prompt = prompt.text;
  request.chat = tokenizer.has_chat_template();
  std::vector<std::int32_t> tokens = make_run_config(request, tokenizer).prompt_tokens;
  if (static_cast<int>(tokens.size()) > max_tokens) {
    const auto half = static_cast<std::ptrdiff_t>(max_tokens / 2);
    tokens.erase(tokens.begin() + half, tokens.end() - (max_tokens - half));
  }
  return tokens;
}

// Tokens without sense, spread over the vocabulary.
std::vector<std::int32_t> spread_tokens(int count, int vocabulary) {
  std::vector<std::int32_t> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back((i * 7919 + 13) % vocabulary);
  return tokens;
}

// Position i into slots[i] = i. The logits of the last one.
std::vector<float> prefill(Model& model, KvStorage& kv, std::span<const std::int32_t> tokens,
                           std::span<const std::int32_t> slots) {
  const auto last = static_cast<std::int32_t>(tokens.size()) - 1;
  ForwardBatch batch;
  batch.tokens = tokens;
  batch.positions = slots;
  batch.slots = slots;
  batch.logit_rows = {&last, 1};
  batch.text_length = last + 1;
  const std::span<const float> logits = model.forward(batch, kv).logits;
  return {logits.begin(), logits.end()};
}

// "ngram_trie:num_draft=32" -> {"num_draft": "32"}.
nlohmann::json settings_of(const std::string& method) {
  nlohmann::json settings = nlohmann::json::object();
  const auto colon = method.find(':'), equals = method.find('=');
  if (colon != std::string::npos && equals != std::string::npos)
    settings[method.substr(colon + 1, equals - colon - 1)] = method.substr(equals + 1);
  return settings;
}

bool same_tokens(const RunResult& a, const RunResult& b) {
  return std::equal(
      a.sequences.begin(), a.sequences.end(), b.sequences.begin(), b.sequences.end(),
      [](const ReturnedSequence& x, const ReturnedSequence& y) { return x.tokens == y.tokens; });
}

}  // namespace

std::vector<BenchPrompt> read_bench_prompts(const std::string& path,
                                            const std::vector<std::string>& categories,
                                            int per_category) {
  std::ifstream file(path);
  if (!file)
    throw Error(ErrorCode::kNotFound, path +
                                          ": cannot be read; expected a .jsonl file with "
                                          "\"category\" and \"turns\" or \"prompt\" a line");
  std::vector<BenchPrompt> prompts;
  std::map<std::string, int> taken;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    BenchPrompt prompt;
    if (json.is_object()) {
      prompt.category = json.value("category", "all");
      if (json.contains("turns") && json["turns"].is_array() && !json["turns"].empty() &&
          json["turns"][0].is_string())
        prompt.text = json["turns"][0];
      else if (json.contains("prompt") && json["prompt"].is_string())
        prompt.text = json["prompt"];
    }
    if (prompt.text.empty())
      throw Error(
          ErrorCode::kCorruption,
          path + ":" + std::to_string(number) +
              ": expected a JSON object with \"turns\": [text, …] or \"prompt\": text, found " +
              line.substr(0, 60));
    if (!categories.empty() &&
        std::find(categories.begin(), categories.end(), prompt.category) == categories.end())
      continue;
    if (++taken[prompt.category] > per_category) continue;
    prompts.push_back(std::move(prompt));
  }
  if (prompts.empty()) {
    std::string names;
    for (const std::string& name : categories) names += (names.empty() ? "" : ", ") + name;
    throw Error(ErrorCode::kInvalidArgument,
                path + ": no prompts of the categories asked for (" + names + ")");
  }
  return prompts;
}

std::vector<BenchPrompt> builtin_bench_prompts() {
  static const char* kPassage =
      "The lighthouse at Cape Morrow was built in 1871 by a crew of forty masons. Its lamp burned "
      "whale oil until 1889, when the keeper, "
      "Ada Lindqvist, had it changed to kerosene. The lamp was changed to electric light in 1932. "
      "The lighthouse stands 41 metres tall "
      "and its light can be seen from 32 kilometres away. Ada Lindqvist kept the light for 36 "
      "years and wrote a diary of every storm she "
      "saw; the diary is shown in the museum at the foot of the tower. The museum opens every day "
      "from May to September. In winter the "
      "road to the cape is closed, and the lighthouse can only be reached by boat.";
  return {
      {"story", "Write a short story about a fox who learns to swim."},
      {"story", "Tell me about a morning in a small harbour town."},
      {"summarization",
       std::string("Summarize the following text in three sentences, using its own words:\n\n") +
           kPassage},
      {"rag", std::string("Answer from the text, quoting the sentence that says it.\n\nText: ") +
                  kPassage + "\n\nQuestion: Who changed the lamp to kerosene, and when?"},
      {"rag", std::string("Answer from the text, quoting the sentence that says it.\n\nText: ") +
                  kPassage + "\n\nQuestion: How can the lighthouse be reached in winter?"}};
}

std::vector<ModelCost> measure_models(const std::vector<std::string>& paths,
                                      const LoadOptions& options, int prompt_tokens,
                                      int max_new_tokens, const ProgressSink& progress) {
  std::vector<std::int32_t> slots(static_cast<std::size_t>(prompt_tokens));
  std::iota(slots.begin(), slots.end(), 0);
  std::vector<ModelCost> table;
  for (const std::string& path : paths) {
    LoadedModel opened;
    const auto start = Clock::now();
    opened.load(path, options, progress, {});
    const ModelInfo& info = opened.model->info();
    ModelCost& cost = table.emplace_back();
    cost.load_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    cost.name = info.name;
    cost.family = info.family;
    cost.prompt_tokens = prompt_tokens;
    const std::vector<std::int32_t> tokens = spread_tokens(prompt_tokens, info.vocab_size);
    const auto first_logits = [&] {
      return prefill(*opened.model, *opened.model->make_kv(prompt_tokens), tokens, slots);
    };
    const std::vector<float> logits = first_logits();

    RunConfig config;
    config.method = "greedy";
    config.settings = {{"eos_token_id", {-1}}};  // none: every model writes as much
    config.prompt_tokens = tokens;
    config.max_new_tokens = max_new_tokens;
    run_once(*opened.model, *opened.tokenizer, config);  // warm-up
    const RunResult result = run_once(*opened.model, *opened.tokenizer, config);
    cost.emitted = static_cast<int>(result.emitted_tokens);
    cost.prefill_per_second = 1000 * prompt_tokens / result.time.prefill_ms;
    cost.tokens_per_second = 1000 * cost.emitted / result.time.decode_ms;

    LoadOptions reference = options;
    reference.reference_kernels = true;
    opened.load(path, reference, progress, {});
    const std::vector<float> expected = first_logits();
    for (std::size_t i = 0; i < logits.size(); ++i)
      cost.logits_difference =
          std::max(cost.logits_difference, std::abs(static_cast<double>(logits[i]) - expected[i]));
  }
  return table;
}

std::vector<ForwardCost> measure_forward_rows(Model& model, int prompt_tokens,
                                              const std::vector<int>& rows, int repeats,
                                              const ProgressSink& progress) {
  const int most = *std::max_element(rows.begin(), rows.end());
  const auto kv = model.make_kv(prompt_tokens + most);
  const int vocabulary = model.info().vocab_size;
  std::vector<std::int32_t> slots(static_cast<std::size_t>(prompt_tokens));
  std::iota(slots.begin(), slots.end(), 0);
  prefill(model, *kv, spread_tokens(prompt_tokens, vocabulary), slots);

  std::vector<std::vector<double>> times(rows.size());
  const auto step = [&](int count) {
    std::vector<std::int32_t> tokens, at, where, own, offsets{0}, wanted;
    for (int r = 0; r < count; ++r) {
      tokens.push_back((r * 104729 + 7) % vocabulary);
      at.push_back(prompt_tokens);
      where.push_back(prompt_tokens + r);
      own.push_back(prompt_tokens + r);
      offsets.push_back(r + 1);
      wanted.push_back(r);
    }
    ForwardBatch batch;
    batch.tokens = tokens;
    batch.positions = at;
    batch.slots = where;
    batch.prefix_slots = slots;
    batch.own_slots = own;
    batch.own_offsets = offsets;
    batch.logit_rows = wanted;
    const auto start = Clock::now();
    model.forward(batch, *kv);
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  };
  for (const int count : rows) step(count);  // warm-up
  for (int repeat = 0; repeat < repeats; ++repeat) {
    // In turn, so that a machine that slows down slows all of them.
    for (std::size_t i = 0; i < rows.size(); ++i) times[i].push_back(step(rows[i]));
    if (progress) progress("forward rows", repeat + 1, repeats);
  }
  std::vector<ForwardCost> result;
  double one = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ForwardCost cost{rows[i], prompt_tokens, median(times[i]), 0};
    if (rows[i] == 1) one = cost.ms;
    result.push_back(cost);
  }
  for (ForwardCost& cost : result) cost.over_one = one > 0 ? cost.ms / one : 0;
  return result;
}

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
      std::vector<double> generated(std::size(kPolicies)), decode_ms(std::size(kPolicies)),
          steps(std::size(kPolicies));
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
          const RunResult result = run_once(model, tokenizer, std::move(config));
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
          const double held =
              static_cast<double>(result.peak_live_tokens + result.peak_garbage_tokens);
          row.over_batch += held / static_cast<double>(batch.batch_beam_tokens) / count;
          row.equal_to_batch &= same_tokens(result, batch);
          steps[p] += static_cast<double>(result.steps);
          decode_ms[p] += result.time.decode_ms;
          generated[p] += static_cast<double>(result.steps);  // one token a beam a step
          if (progress) progress("beam search", ++done, total);
        }
      }
      for (std::size_t p = 0; p < std::size(kPolicies); ++p) {
        rows[p].tokens_per_second = decode_ms[p] > 0 ? 1000 * generated[p] / decode_ms[p] : 0;
        rows[p].ms_per_step = steps[p] > 0 ? decode_ms[p] / steps[p] : 0;
        table.push_back(rows[p]);
      }
    }
  }
  return table;
}

std::vector<DraftCost> measure_drafting(Model& model, const Tokenizer& tokenizer,
                                        const std::vector<BenchPrompt>& prompts,
                                        const DraftBenchOptions& options,
                                        const ProgressSink& progress) {
  struct Sum {
    double emitted = 0, forwards = 0, steps = 0, ms = 0, draft = 0, forward = 0, accept = 0,
           other = 0;
    int prompts = 0, equal = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;  // (category, method)
  std::vector<std::string> categories;
  double done = 0;
  const double total = static_cast<double>(prompts.size() * options.methods.size());
  for (const BenchPrompt& prompt : prompts) {
    if (std::find(categories.begin(), categories.end(), prompt.category) == categories.end())
      categories.push_back(prompt.category);
    const std::vector<std::int32_t> tokens =
        bench_tokens(tokenizer, prompt, options.max_prompt_tokens);
    RunResult plain;
    for (std::size_t m = 0; m < options.methods.size(); ++m) {
      RunConfig config;
      config.method = options.methods[m].substr(0, options.methods[m].find(':'));
      config.settings = settings_of(options.methods[m]);
      config.prompt_tokens = tokens;
      config.max_new_tokens = options.max_new_tokens;
      config.draft = options.draft;
      const RunResult result = run_once(model, tokenizer, std::move(config));
      if (m == 0) plain = result;
      Sum& sum = sums[{prompt.category, options.methods[m]}];
      ++sum.prompts;
      sum.equal += same_tokens(result, plain);
      sum.emitted += static_cast<double>(result.emitted_tokens);
      sum.forwards += static_cast<double>(result.target_forwards);
      sum.steps += static_cast<double>(result.steps);
      sum.ms += result.time.prefill_ms + result.time.decode_ms;
      sum.draft += result.time.draft_ms;
      sum.forward += result.time.forward_ms;
      sum.accept += result.time.accept_ms;
      sum.other += result.time.commit_ms + result.time.observe_ms;
      if (progress) progress("drafting", ++done, total);
    }
  }
  std::vector<DraftCost> table;
  for (const std::string& category : categories) {
    const Sum& plain = sums[{category, options.methods.front()}];
    for (const std::string& method : options.methods) {
      const Sum& sum = sums[{category, method}];
      DraftCost row;
      row.method = method;
      row.category = category;
      row.prompts = sum.prompts;
      row.equal = sum.equal;
      row.tokens_per_forward = sum.forwards > 0 ? sum.emitted / sum.forwards : 0;
      row.tokens_per_second = sum.ms > 0 ? 1000 * sum.emitted / sum.ms : 0;
      const double plain_rate = plain.ms > 0 ? 1000 * plain.emitted / plain.ms : 0;
      row.speedup = plain_rate > 0 ? row.tokens_per_second / plain_rate : 0;
      const double steps = std::max(1.0, sum.steps);
      row.draft_ms = sum.draft / steps;
      row.forward_ms = sum.forward / steps;
      row.accept_ms = sum.accept / steps;
      row.other_ms = sum.other / steps;
      table.push_back(row);
    }
  }
  return table;
}

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
        const auto start = Clock::now();
        const RunResult result = run_recorded(model, tokenizer, config, *recorder);
        recorder.reset();  // closing is part of the price
        const double wall =
            std::chrono::duration<double, std::milli>(Clock::now() - start).count() -
            result.time.prefill_ms;
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

// Drafting methods beside greedy decoding on Spec-Bench prompts: are the texts equal, tokens a
// forward, tokens a second with prefill included, and where the time goes. The methods take turns
// on each prompt, so that a busy machine hits all alike.
//
//   build/bench/bench_drafting MODEL.gguf DATA [--per-category N] [--new N] [--max-prompt N]
//   [--categories a,b]
//       [--methods "ngram_trie;ngram_trie num_draft=64;prompt_lookup"] [--device cpu] [--json
//       rows.jsonl]
//
// DATA holds prompts/spec_bench_question.jsonl. --max-prompt leaves out the middle of longer
// prompts. The default is 50 prompts: 12 rag, 12 summarization, 13 qa, 13 translation. Exit code 1
// where a text differs from greedy decoding's.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>

#include "core/model/model.h"
#include "core/session/session.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/support/spec_bench.h"

namespace triescope {
namespace {

struct Options {
  std::string model, data, device = "cpu", json;
  std::map<std::string, int> per_category = {
      {"rag", 12}, {"summarization", 12}, {"qa", 13}, {"translation", 13}};
  int new_tokens = 64, max_prompt = 512;
  std::vector<std::string> methods = {"ngram_trie", "prompt_lookup", "suffix_automaton"};
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, at);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

struct Sum {
  int prompts = 0, equal = 0;
  std::int64_t tokens = 0, forwards = 0, prompt_tokens = 0;
  PhaseTimes time;

  double seconds() const { return (time.prefill_ms + time.decode_ms) / 1e3; }
};

RunResult run(Model& model, const Tokenizer& tokenizer, const std::vector<std::int32_t>& prompt,
              const std::string& method, const Options& options) {
  const auto words = split(method, ' ');
  RunConfig config;
  config.method = words.at(0);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    config.settings[words[i].substr(0, equals)] = words[i].substr(equals + 1);
  }
  // The display's figures are left out on both sides.
  config.settings["candidates"] = 0;
  config.prompt_tokens = prompt;
  config.max_new_tokens = options.new_tokens;
  capture::NullRecorder recorder;
  Session session(model, tokenizer, std::move(config), recorder);
  session.run();
  return session.result();
}

void add(Sum& sum, const RunResult& result, const RunResult& greedy, std::size_t prompt_tokens) {
  ++sum.prompts;
  const bool equal = result.sequences.at(0).tokens == greedy.sequences.at(0).tokens;
  sum.equal += equal;
  sum.tokens += result.emitted_tokens;
  sum.forwards += result.target_forwards;
  sum.prompt_tokens += static_cast<std::int64_t>(prompt_tokens);
  auto& t = sum.time;
  const auto& r = result.time;
  t.prefill_ms += r.prefill_ms;
  t.decode_ms += r.decode_ms;
  t.draft_ms += r.draft_ms;
  t.forward_ms += r.forward_ms;
  t.accept_ms += r.accept_ms;
  t.commit_ms += r.commit_ms;
  t.observe_ms += r.observe_ms;
}

void print(const std::string& category, const std::string& method, const Sum& s,
           const Sum& greedy) {
  std::printf(
      "%-14s %-34s %3d/%-3d %7.0f %8.2f %8.1f %8.2f %8.2f   %6.1f %7.1f %6.2f %6.2f %6.2f\n",
      category.c_str(), method.c_str(), s.equal, s.prompts,
      static_cast<double>(s.prompt_tokens) / s.prompts,
      static_cast<double>(s.tokens) / static_cast<double>(s.forwards),
      static_cast<double>(s.tokens) / s.seconds(), greedy.seconds() / s.seconds(),
      greedy.time.decode_ms / s.time.decode_ms, s.time.prefill_ms / s.prompts,
      s.time.forward_ms / s.prompts, s.time.draft_ms / s.prompts, s.time.accept_ms / s.prompts,
      (s.time.commit_ms + s.time.observe_ms) / s.prompts);
}

int compare(const Options& options) {
  LoadOptions load;
  load.device = options.device;
  const auto model = load_model(options.model, load);
  const auto tokenizer = load_tokenizer(options.model);
  std::ofstream json;
  if (!options.json.empty()) json.open(options.json);

  std::map<std::string, std::map<std::string, Sum>> sums;  // category, method
  std::map<std::string, int> taken;
  std::vector<std::string> methods = options.methods;
  methods.insert(methods.begin(), "greedy");
  bool warm = false;
  for (const auto& prompt : test::spec_bench(options.data)) {
    const auto wanted = options.per_category.find(prompt.category);
    if (wanted == options.per_category.end() || taken[prompt.category] >= wanted->second) continue;
    ++taken[prompt.category];
    const std::vector<ChatMessage> chat{{"user", prompt.text}};
    auto ids = tokenizer->encode(tokenizer->apply_chat_template(chat, true), false);
    const auto most = static_cast<std::size_t>(options.max_prompt);
    if (ids.size() > most)
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(most / 2),
                ids.end() - static_cast<std::ptrdiff_t>(most - most / 2));
    if (!warm) run(*model, *tokenizer, ids, "greedy", options);
    warm = true;
    const auto greedy = run(*model, *tokenizer, ids, "greedy", options);
    for (const auto& method : methods) {
      const auto result =
          method == "greedy" ? greedy : run(*model, *tokenizer, ids, method, options);
      for (const std::string& category : {prompt.category, std::string("all")})
        add(sums[category][method], result, greedy, ids.size());
      const bool equal = result.sequences.at(0).tokens == greedy.sequences.at(0).tokens;
      if (!equal)
        std::printf("question %d: %s differs from greedy decoding\n", prompt.id, method.c_str());
      if (json)
        json << nlohmann::json{{"question", prompt.id},
                               {"category", prompt.category},
                               {"method", method},
                               {"equal", equal},
                               {"prompt_tokens", ids.size()},
                               {"tokens", result.emitted_tokens},
                               {"forwards", result.target_forwards},
                               {"prefill_ms", result.time.prefill_ms},
                               {"decode_ms", result.time.decode_ms},
                               {"draft_ms", result.time.draft_ms},
                               {"forward_ms", result.time.forward_ms},
                               {"accept_ms", result.time.accept_ms}}
                    .dump()
             << std::endl;
    }
  }

  std::printf("%s on %s, %d new tokens, prompts of at most %d tokens\n", model->info().name.c_str(),
              model->info().device.c_str(), options.new_tokens, options.max_prompt);
  std::printf("%-14s %-34s %7s %7s %8s %8s %8s %8s   %s\n", "category", "method", "equal", "prompt",
              "tok/fwd", "tok/s", "speedup", "decode",
              "ms a prompt: prefill forward draft accept commit");
  bool equal = true;
  for (const auto& [category, by_method] : sums)
    for (const auto& method : methods) {
      const Sum& sum = by_method.at(method);
      print(category, method, sum, by_method.at("greedy"));
      equal = equal && sum.equal == sum.prompts;
    }
  return equal ? 0 : 1;
}

int main_of(int argc, char** argv) {
  Options options;
  std::vector<std::string> places;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] {
      if (i + 1 >= argc) throw std::runtime_error(word + " wants a value");
      return std::string(argv[++i]);
    };
    if (word == "--per-category") {
      const int count = std::stoi(value());
      for (auto& [category, wanted] : options.per_category) wanted = count;
    } else if (word == "--categories") {
      const int count = options.per_category.begin()->second;
      options.per_category.clear();
      for (const auto& category : split(value(), ',')) options.per_category[category] = count;
    } else if (word == "--new") {
      options.new_tokens = std::stoi(value());
    } else if (word == "--max-prompt") {
      options.max_prompt = std::stoi(value());
    } else if (word == "--methods") {
      options.methods = split(value(), ';');
    } else if (word == "--device") {
      options.device = value();
    } else if (word == "--json") {
      options.json = value();
    } else {
      places.push_back(word);
    }
  }
  if (places.size() != 2)
    throw std::runtime_error(
        "usage: bench_drafting MODEL.gguf DATA [options]; see the head of this file");
  options.model = places[0];
  options.data = places[1];
  return compare(options);
}

}  // namespace
}  // namespace triescope

int main(int argc, char** argv) {
  try {
    return triescope::main_of(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_drafting: %s\n", error.what());
    return 2;
  }
}

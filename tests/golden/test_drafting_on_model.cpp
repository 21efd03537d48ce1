// Drafting methods on the real model, short texts: a few prompts of Spec-Bench, or of our own where
// its file is missing. The whole comparison, 50 prompts, is `triescope bench --only drafts`.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "core/model/model.h"
#include "core/session/session.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/golden/golden_share.h"
#include "tests/support/device.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/support/spec_bench.h"

namespace triescope {
namespace {

RunResult run(Model& model, const Tokenizer& tokenizer, const std::vector<std::int32_t>& prompt,
              const std::string& method, nlohmann::json settings, int max_new_tokens) {
  RunConfig config;
  config.method = method;
  config.settings = std::move(settings);
  config.prompt_tokens = prompt;
  config.max_new_tokens = max_new_tokens;
  config.seed = 7;
  config.draft = {&model, &tokenizer};  // it drafts for itself
  capture::NullRecorder recorder;
  Session session(model, tokenizer, std::move(config), recorder);
  session.run();
  return session.result();
}

TEST_CASE(
    "drafting on model: drafting methods write greedy decoding's and sampling's text on the real model") {
  const auto path = test::model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed; scripts/setup installs it");
  const auto model = load_model(path->string(), {.device = test::test_device()});
  const auto tokenizer = load_tokenizer(path->string());
  std::int64_t forwards = 0, tokens = 0;
  std::size_t seen = 0;
  const auto data = test::data_dir();
  const auto prompts =
      data ? test::spec_bench(*data, {"rag", "writing", "translation"}, 1)
           : app::read_bench_prompts((test::source_dir() / "tests/fixtures/prompts.jsonl").string(),
                                     {}, 0);
  for (const auto& prompt : prompts) {
    if (test::is_left_out(seen++)) continue;
    CAPTURE(prompt.id);
    const std::vector<ChatMessage> chat{{"user", prompt.text}};
    auto ids = tokenizer->encode(tokenizer->apply_chat_template({chat}, true), false);
    // A hundred and twenty tokens of a document are enough to copy from.
    if (ids.size() > 120) ids.erase(ids.begin() + 60, ids.end() - 60);
    const nlohmann::json none = nlohmann::json::object();
    const nlohmann::json sampled = {{"temperature", 0.7}, {"top_p", 0.9}};
    const auto greedy = run(*model, *tokenizer, ids, "greedy", none, 16);
    const auto sample = run(*model, *tokenizer, ids, "sample", sampled, 16);
    for (const char* method : {"ngram_trie", "prompt_lookup", "suffix_automaton", "draft_model"}) {
      CAPTURE(method);
      const auto drafted = run(*model, *tokenizer, ids, method, none, 16);
      CHECK(drafted.sequences.at(0).tokens == greedy.sequences.at(0).tokens);
      forwards += drafted.target_forwards;
      tokens += drafted.emitted_tokens;
      // Its drafts take random numbers of their own: the same distribution, another draw.
      if (std::string_view(method) == "draft_model") {
        CHECK(drafted.tokens_per_forward > 3);
        continue;
      }
      auto settings = sampled;
      settings["verify"] = "sample";
      CHECK(run(*model, *tokenizer, ids, method, settings, 16).sequences.at(0).tokens ==
            sample.sequences.at(0).tokens);
    }
  }
  CHECK(tokens > forwards);
}

}  // namespace
}  // namespace triescope

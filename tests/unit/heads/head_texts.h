// Whole runs with the small heads of tests/fixtures/draft_heads: what a target writes with a head
// that runs where it does, against greedy decoding on the CPU kernels.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/session/session.h"
#include "tests/support/fake_model.h"
#include "tests/unit/heads/head_goldens.h"

namespace triescope::test {

inline RunResult text_of(Model& model, const std::string& method, DraftHead* head, int tokens) {
  RunConfig config;
  config.method = method;
  config.settings = {{"eos_token_id", {-1}}};  // none
  // As many drafts on every executor.
  if (method == "eagle2" || method == "eagle3") config.settings["draft_tokens"] = 24;
  if (method == "eagle" || method == "medusa" || method == "hydra")
    config.settings["tree"] = "0;1;2;3;0,0;0,1;1,0;2,0;0,0,0;0,0,1;0,1,0;1,0,0";
  config.prompt_tokens = {1, 17, 42, 5};
  config.max_new_tokens = tokens;
  config.draft.head = head;
  const FakeTokenizer tokenizer(model.info().vocab_size, {});
  capture::NullRecorder recorder;
  Session session(model, tokenizer, std::move(config), recorder);
  session.run();
  return session.result();
}

// Token for token greedy decoding's text on the CPU kernels, in as many steps as with the head on
// them: it drafts the same. `target` is of fp32.
inline void check_texts_with_heads(const HeadTarget& target, int tokens) {
  const HeadTarget cpu(load_model(head_folder() + "target", {.threads = 1}));
  const RunResult greedy = text_of(*cpu.model, "greedy", nullptr, tokens);
  REQUIRE(greedy.sequences.at(0).tokens.size() == static_cast<std::size_t>(tokens));
  std::int64_t steps = 0, runs = 0;
  using Strings = std::pair<std::string, std::string>;
  for (const auto& [method, name] : {Strings{"eagle2", "eagle"},
                                     {"eagle2", "eagle-no-bias"},
                                     {"eagle", "eagle"},
                                     {"eagle3", "eagle3"},
                                     {"eagle3", "eagle3-two-layers"},
                                     {"hydra", "hydra"},
                                     {"hydra", "hydra-mlp"},
                                     {"medusa", "medusa"},
                                     {"medusa", "medusa-v2"}}) {
    CAPTURE(method);
    CAPTURE(name);
    const auto head = target.head(name), cpu_head = cpu.head(name);
    const RunResult found = text_of(*target.model, method, head.get(), tokens),
                    expected = text_of(*cpu.model, method, cpu_head.get(), tokens);
    CHECK(found.sequences.at(0).tokens == greedy.sequences.at(0).tokens);
    CHECK(found.steps == expected.steps);
    CHECK(found.accepted_histogram == expected.accepted_histogram);
    steps += found.steps;
    runs += 1;
  }
  CHECK(steps < runs * greedy.steps);  // some drafts came true
}

}  // namespace triescope::test

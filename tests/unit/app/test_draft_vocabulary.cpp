// A head with fewer tokens than its target says so in the capture.
#include <doctest/doctest.h>

#include "core/capture/capture.h"
#include "tests/unit/app/recorded_run.h"
#include "viz/query/drafter_view.h"

namespace triescope::test::test_draft_vocabulary {
namespace {

TEST_CASE("draft vocabulary: a capture knows which tokens the head can propose") {
  for (const bool is_limited : {false, true}) {
    CAPTURE(is_limited);
    const TempDir dir;
    const std::string path = dir.path() / "run.tscap";
    const FakeOptions options = chained();
    FakeModel model(options);
    FakeTokenizer tokenizer(options.vocab_size, options.eos_token_ids);
    const MethodInfo& method = find_method("medusa");
    const auto head = fake_head(method.heads.front(), options.vocab_size, options.context,
                                options.seed + 4, options.chain);
    if (is_limited) head->vocabulary = {0, 5, 8, 13};
    RunConfig config;
    config.method = "medusa";
    config.prompt_tokens = {5, 6, 7};
    config.max_new_tokens = 4;
    config.draft = {nullptr, nullptr, head.get()};
    {
      const auto recorder = open_recorder(path, {.level = Level::kFull});
      Session session(model, tokenizer, std::move(config), *recorder);
      while (!session.done()) session.step();
    }
    const auto run = Capture::open(path);
    const viz::DraftVocabulary vocabulary(run->run());
    CHECK(vocabulary.size() == (is_limited ? 4 : 0));
    for (std::int32_t token = 0; token < options.vocab_size; ++token) {
      CAPTURE(token);
      CHECK(vocabulary.has(token) ==
            (!is_limited || token == 0 || token == 5 || token == 8 || token == 13));
    }
  }
}

}  // namespace
}  // namespace triescope::test::test_draft_vocabulary

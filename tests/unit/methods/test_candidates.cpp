// The drafts of transformers' candidate generators, state by state (tests/golden/candidates.py): prompt lookup,
// an assistant model, early exit, and an assistant of another tokenizer.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/methods/registry.h"
#include "core/model/model.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/support/draft_rig.h"
#include "tests/support/paths.h"

namespace triescope::test::test_candidates {
namespace {

using nlohmann::json;

const json& golden() {
  static const json file =
      json::parse(std::ifstream(source_dir() / "tests" / "golden" / "candidates.json"));
  return file;
}

TEST_CASE("candidates: what transformers' generators draft for the same state, token by token") {
  const std::string folder = (source_dir() / "tests" / "fixtures" / "tiny_llama").string();
  const auto model = load_model(folder, {.dtype = DType::kF32});
  const auto own = load_tokenizer(folder);
  const TempDir dir;
  std::ofstream(dir.path() / "tokenizer.json") << golden()["other_tokenizer"].dump();
  const auto other = load_tokenizer(dir.path().string());
  struct Count {
    int states = 0, with_drafts = 0, true_drafts = 0;
  };
  std::map<std::string, Count> counts;
  for (const json& one : golden()["cases"]) {
    const std::string method = one["method"];
    CAPTURE(method);
    CAPTURE(one["settings"].dump());
    Count& count = counts[method];
    DraftRig::Options options;
    options.draft_model = options.target = model.get();
    options.tokenizer = other.get();
    options.draft_tokenizer = own.get();
    const bool through_text = method == "universal_draft";
    options.vocab = through_text ? other->vocab_size() : own->vocab_size();
    // The models' generation ends there; prompt lookup was made without an EOS.
    if (method == "draft_model" || method == "layer_skip") options.eos = own->eos_token_ids();
    for (const json& text : one["texts"]) {
      const Tokens ids = text["ids"];
      std::size_t length = one["from"];
      for (const Tokens drafts : text["drafts"]) {
        CAPTURE(length);
        DraftRig rig(find_method(method),
                     {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(length)},
                     one["settings"], options);
        const std::vector<Tokens> found = rig.draft();
        CHECK((found.empty() ? Tokens{} : found.back()) == drafts);
        CHECK(found.size() == drafts.size());  // a chain
        ++count.states;
        count.with_drafts += !drafts.empty();
        count.true_drafts += !drafts.empty() && drafts.front() == ids[length];
        ++length;
      }
    }
  }
  REQUIRE(counts.size() == 4);
  for (const auto& [method, count] : counts) {
    CAPTURE(method);
    CHECK(count.states >= 200);
    CHECK(count.with_drafts >= 200);
    CHECK(count.true_drafts > 10);
  }
}

}  // namespace
}  // namespace triescope::test::test_candidates

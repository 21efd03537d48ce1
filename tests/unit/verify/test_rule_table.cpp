// Which drafts go with which verification rule, pair by pair, and why the others do not.
#include <doctest/doctest.h>

#include "core/methods/registry.h"
#include "core/verify/rule_table.h"
#include "tests/support/refusal.h"

namespace triescope::test::test_rule_table {
namespace {

TEST_CASE(
    "rule table: every pair of drafts and rule is either one rule or refused with the reason") {
  CHECK((rule_for("greedy", Drafted::kChosen) == verify_greedy));
  CHECK((rule_for("sample", Drafted::kChosen) == verify_deterministic));
  CHECK((rule_for("sample", Drafted::kDrawnChain) == verify_chain));
  CHECK((rule_for("sample", Drafted::kDrawnTree) == verify_multi_round));
  CHECK((rule_for("chain", Drafted::kDrawnChain) == verify_chain));
  for (const Drafted drafted : {Drafted::kChosen, Drafted::kDrawnChain, Drafted::kDrawnTree})
    CHECK((rule_for("multi_round", drafted) == verify_multi_round));
  CHECK((rule_for("typical", Drafted::kChosen) == verify_typical));
  CHECK((rule_for("top_k", Drafted::kChosen) == verify_top_k));
  const auto why = [](const char* verify, Drafted drafted) {
    return refusal(ErrorCode::kInvalidArgument, [&] { rule_for(verify, drafted); });
  };
  CHECK(why("chain", Drafted::kChosen)
            .starts_with("verify=chain: min(1, p/q) is for drafts drawn from q"));
  CHECK(why("chain", Drafted::kDrawnTree)
            .starts_with("verify=chain: min(1, p/q) settles one draft a node"));
  CHECK((rule_for("block", Drafted::kDrawnChain) == verify_block));
  CHECK(why("block", Drafted::kChosen)
            .starts_with("verify=block: a block is judged by what its drafts were drawn from"));
  CHECK(why("block", Drafted::kDrawnTree)
            .starts_with("verify=block: a block is a chain, one draft a node"));
  CHECK((rule_for("published", Drafted::kDrawnChain) == verify_published));
  CHECK(why("published", Drafted::kChosen)
            .starts_with("verify=published: min(1, p/q) is for drafts"));
  CHECK(why("published", Drafted::kDrawnTree)
            .starts_with("verify=published: min(1, p/q) settles one draft a node"));
  for (const char* verify : {"greedy", "typical", "top_k"})
    for (const Drafted drafted : {Drafted::kDrawnChain, Drafted::kDrawnTree})
      CHECK(why(verify, drafted) == "verify=" + std::string(verify) +
                                        ": expected chosen drafts, found drafts drawn at random, "
                                        "for which verify=sample is exact");
  CHECK(
      why("best", Drafted::kChosen) ==
      "verify: expected one of greedy, sample, chain, block, published, multi_round, typical, top_k, "
      "found "
      "\"best\"");
}

TEST_CASE(
    "rule table: a method's choices of verify are the table's, and exactly two of them are lossy, for SPACE three") {
  for (const MethodInfo& method : methods()) {
    CAPTURE(method.name);
    Settings settings(validate_settings(method, nlohmann::json::object()));
    CHECK(is_lossless(method, settings) == method.lossless);
    if (!settings.has("verify")) continue;
    for (const Parameter& parameter : method.parameters) {
      if (parameter.name != "verify") continue;
      std::vector<std::string> lossy, draws;
      for (const std::string& verify : parameter.choices) {
        if (is_lossy(verify)) lossy.push_back(verify);
        if (verify_draws(verify)) draws.push_back(verify);
        settings.set("verify", verify);
        CHECK(is_lossless(method, settings) == (method.lossless && !is_lossy(verify)));
      }
      std::vector<std::string> lossy_ones = {"typical", "top_k"},
                               drawing_ones = {"sample", "chain", "block", "multi_round"};
      if (method.name == "space")  // its own rule
        for (auto* ones : {&lossy_ones, &drawing_ones}) ones->push_back("published");
      CHECK(lossy == lossy_ones);
      CHECK(draws == drawing_ones);
    }
  }
}

}  // namespace
}  // namespace triescope::test::test_rule_table

#include <doctest/doctest.h>

#include <set>

#include "app/session/parameter_groups.h"
#include "core/method/settings.h"
#include "core/methods/registry.h"

namespace triescope::app::test_parameter_groups {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

Names titles(const std::string& method) {
  Names names;
  for (const ParameterGroup& group : parameter_groups(find_method(method)))
    names.push_back(group.title);
  return names;
}

Names in_group(const std::string& method, const std::string& title) {
  Names names;
  for (const ParameterGroup& group : parameter_groups(find_method(method)))
    if (group.title == title)
      for (const Parameter& parameter : group.parameters) names.push_back(parameter.name);
  return names;
}

TEST_CASE("parameter groups: every parameter of every method is in one group") {
  for (const MethodInfo& method : methods()) {
    CAPTURE(method.name);
    std::multiset<std::string> grouped, declared;
    for (const ParameterGroup& group : parameter_groups(method)) {
      CHECK_FALSE(group.parameters.empty());
      for (const Parameter& parameter : group.parameters) grouped.insert(parameter.name);
    }
    for (const Parameter& parameter : method.parameters) declared.insert(parameter.name);
    for (const Parameter& parameter : common_parameters()) declared.insert(parameter.name);
    CHECK(grouped == declared);
  }
}

TEST_CASE("parameter groups: groups are named for what they hold") {
  const Names common = {"Logits processors", "KV cache", "End of text and recording"};
  CHECK(titles("beam") == Names{"Search", common[0], common[1], common[2]});
  CHECK(titles("ngram_trie") ==
        Names{"Drafting", "Verification", "Sampling", common[0], common[1], common[2]});
  CHECK(titles("greedy") == common);
  CHECK(in_group("ngram_trie", "Verification") ==
        Names{"verify", "typical_epsilon", "typical_delta", "accept_top_k"});
  CHECK(in_group("draft_model", "Verification").front() == "replacement");
  CHECK(in_group("ngram_trie", "Sampling") == Names{"temperature", "top_h", "top_k", "top_p",
                                                    "min_p", "typical_p", "epsilon_cutoff",
                                                    "eta_cutoff", "sampler"});
  CHECK(in_group("beam", "KV cache") == Names{"kv", "gc_every"});
  for (const ParameterGroup& group : parameter_groups(find_method("ngram_trie"))) {
    CHECK(group.folded == (group.title == common[0] || group.title == common[2]));
    for (const Parameter& parameter : group.parameters)
      if (parameter.name == "kv") CHECK(parameter.choices == Names{"recycle", "compact", "keep"});
  }
}

TEST_CASE("parameter groups: what has no effect says why") {
  const MethodInfo& trie = find_method("ngram_trie");
  const auto why = [&](const std::string& name, const json& settings) {
    return no_effect_because(trie, name, settings);
  };
  for (const std::string& name : in_group("ngram_trie", "Sampling")) {
    CAPTURE(name);
    CHECK(why(name, json::object()) ==
          "verify=greedy takes the most likely token: nothing is drawn");
    CHECK(why(name, {{"verify", "top_k"}}) ==
          "verify=top_k takes the most likely token: nothing is drawn");
    for (const char* verify : {"sample", "multi_round", "typical"})
      CHECK(why(name, {{"verify", verify}}) == "");
    CHECK(no_effect_because(find_method("sample_then_beam"), name, json::object()) == "");
  }
  CHECK(why("verify", json::object()) == "");
  CHECK(why("num_draft", json::object()) == "");
  CHECK(why("typical_delta", json::object()) == "only verify=typical uses it; verify is greedy");
  CHECK(why("typical_epsilon", {{"verify", "typical"}}) == "");
  CHECK(why("accept_top_k", {{"verify", "sample"}}) ==
        "only verify=top_k uses it; verify is sample");
  CHECK(why("accept_top_k", {{"verify", "top_k"}}) == "");
  CHECK(why("gc_every", json::object()) == "only kv=compact collects garbage; kv is recycle");
  CHECK(why("gc_every", {{"kv", "compact"}}) == "");
  CHECK(why("min_length", {{"min_new_tokens", 3}}) == "min_new_tokens takes its place");
  CHECK(why("min_length", json::object()) == "");
  CHECK(why("min_length", {{"min_new_tokens", "off"}}) == "");  // as typed: 0
  CHECK(why("min_length", {{"min_new_tokens", "x"}}) == "min_new_tokens takes its place");
  const MethodInfo& draft = find_method("draft_model");
  CHECK(no_effect_because(draft, "replacement", json::object()) ==
        "verify=greedy takes chosen drafts: none is drawn");
  CHECK(no_effect_because(draft, "replacement", {{"verify", "sample"}}) == "");
  CHECK(no_effect_because(draft, "num_assistant_tokens", json::object()) == "");
  CHECK(no_effect_because(draft, "num_assistant_tokens", {{"expansion", "2,2"}}) ==
        "expansion says how long the drafts are");
  const auto of_beams = [](const std::string& name, const json& settings) {
    return no_effect_because(find_method("speculative_beam"), name, settings);
  };
  CHECK(of_beams("draft_width", json::object()) == "");
  CHECK(of_beams("draft_width", {{"do_sample", true}}) == "do_sample drafts num_beams a level");
  CHECK(of_beams("draft_margin", json::object()) == "only dynamic_width uses it");
  CHECK(of_beams("draft_margin", {{"dynamic_width", true}}) == "");
  CHECK(of_beams("pass_chance", {{"dynamic_width", true}}) == "only do_sample uses it");
  CHECK(of_beams("least_beams", {{"dynamic_width", true}, {"do_sample", true}}) == "");
  CHECK(no_effect_because(find_method("batch_beam"), "gc_every", json::object()) ==
        "only kv=compact collects garbage; kv is batch");
}

TEST_CASE(
    "parameter groups: a field says why a run would refuse its value, in the words of the command line") {
  const auto parameter = [](const std::string& method, const std::string& name) {
    const auto& all = find_method(method).parameters;
    return *std::ranges::find(all, name, &Parameter::name);
  };
  const Parameter temperature = parameter("sample", "temperature");
  CHECK(why_refused(temperature, 0.5) == "");
  CHECK(
      why_refused(temperature, 0) ==
      "expected a number from 0.01 to 100; found 0 (0 is greedy decoding: take the method greedy, or "
      "verify=greedy where drafts are checked)");
  CHECK(why_refused(temperature, 1000) == "expected a number from 0.01 to 100; found 1000");
  const Parameter beams = parameter("beam", "num_beams");
  CHECK(why_refused(beams, 3) == "");
  CHECK(why_refused(beams, 999999999).ends_with("found 999999999"));
  // 0 has a word, which can be typed too.
  const Parameter drafts = parameter("ngram_trie", "num_draft");
  CHECK(why_refused(drafts, 0) == "");
  CHECK(why_refused(drafts, "auto") == "");
  CHECK(why_refused(drafts, -1).find("(0 = auto)") != std::string::npos);
  for (const MethodInfo& method : methods())
    for (const ParameterGroup& group : parameter_groups(method))
      for (const Parameter& one : group.parameters) {
        CAPTURE(one.name);
        CHECK(why_refused(one, one.default_value) == "");
      }
}

}  // namespace
}  // namespace triescope::app::test_parameter_groups

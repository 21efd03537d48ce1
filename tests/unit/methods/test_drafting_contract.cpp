// What every drafting method owes, whatever it drafts: greedy decoding's text with greedy verification and
// sampling's with verify=sample, under every KV policy and window; nothing beyond the cap or the context,
// and of a model or head nothing below an EOS; a prompt of one token; steps without drafts. A method in the registry is tested here by
// being there.
#include <doctest/doctest.h>

#include "core/methods/registry.h"
#include "tests/support/fake_head.h"
#include "tests/support/session_run.h"
#include "tests/support/text_loop.h"

namespace triescope::test::test_drafting_contract {
namespace {

using nlohmann::json;

constexpr int kVocab = 14;

std::vector<const MethodInfo*> drafting_methods() {
  std::vector<const MethodInfo*> all;
  for (const MethodInfo& method : methods())
    if (method.drafts()) all.push_back(&method);
  return all;
}

// Its drafts are drawn at random with verify=sample and chain.
bool draws(const MethodInfo& method) {
  return (method.needs == Need::kDraftModel && !method.any_vocabulary) || method.name == "space" ||
         method.name == "layer_skip" || method.name == "mtp" || method.name == "dflash";
}

// What drafts beside the model, where the method needs it: often right where the model likes a chain.
void add_companion(Rig& rig, const MethodInfo& method, const FakeOptions& target,
                   std::uint64_t seed) {
  if (method.needs == Need::kDraftModel) {
    FakeOptions draft = target;
    draft.seed = seed;
    rig.draft_with(draft);
  }
  if (method.needs == Need::kDraftHead)
    rig.draft_head =
        fake_head(method.heads.front(), target.vocab_size, target.context, seed, target.chain);
}

struct Run {
  Tokens tokens;
  std::string finish;
  bool operator==(const Run&) const = default;
};
Run run_of(const Session& session) {
  const RunResult result = session.result();
  return {result.sequences.at(0).tokens, result.sequences[0].finish};
}

// Runs it, looking at every draft that was sent or withdrawn. Returns the text.
Run run_checked(Rig& rig, const MethodInfo& method, const json& settings, const Tokens& prompt,
                int max_new_tokens, const FakeOptions& options, std::int64_t& drafts,
                std::int64_t& accepted) {
  Session& session = rig.start(method.name, settings, prompt, max_new_tokens);
  session.run();
  const TokenTree& tree = session.tree();
  const auto is_eos = [&](NodeId id) {
    return id != TokenTree::root() &&
           std::ranges::find(options.eos_token_ids, tree[id].token.value) !=
               options.eos_token_ids.end();
  };
  for (std::int32_t i = 1; i < tree.size(); ++i) {
    const NodeId id(i);
    if (method.needs != Need::kNothing) CHECK_FALSE(is_eos(tree[id].parent));
    // A row that never becomes text may stand behind the cap.
    CHECK((tree[id].depth <= max_new_tokens || tree[id].is_probe()));
    CHECK(tree.position(id) < options.context);
    CHECK((tree[id].token.value < options.vocab_size || tree[id].is_probe()));
    CHECK(tree[id].status != NodeStatus::kPending);
    if (!capture::is_drafted(tree[id].source) || tree[id].is_probe()) continue;
    ++drafts;
    // The token after the last draft must fit too.
    CHECK(tree[id].depth < max_new_tokens);
  }
  for (const auto& row : rig.recorder.verdict_rows)
    accepted += row.verdict == capture::Verdict::kAccepted;
  const RunResult result = session.result();
  CHECK(result.emitted_tokens == static_cast<std::int64_t>(result.sequences[0].tokens.size()));
  return run_of(session);
}

struct Case {
  const char* name;
  FakeOptions options;
  Tokens prompt;
  int max_new_tokens;
};

std::vector<Case> cases() {
  const Tokens prompt = {5, 6, 7, 3, 5, 6, 4, 7, 3};
  const Tokens chain = {5, 6, 7, 8, 9, 5};
  std::vector<Case> all = {
      {"plain", {.vocab_size = kVocab, .eos_token_ids = {}, .chain = chain}, prompt, 30},
      {"many ties", {.vocab_size = kVocab, .eos_boost = -2, .quantum = 1}, prompt, 30},
      {"EOS inside drafts",
       {.vocab_size = kVocab, .eos_token_ids = {8}, .chain = chain},
       prompt,
       30},
      {"EOS often", {.vocab_size = kVocab, .eos_boost = 1.5f}, prompt, 30},
      {"a prompt of one token", {.vocab_size = kVocab, .eos_boost = -9, .chain = chain}, {5}, 20},
      {"a context that is full at the end",
       {.vocab_size = kVocab, .context = 21, .eos_token_ids = {}, .chain = chain},
       prompt,
       12},
      {"one sliding window",
       {.vocab_size = kVocab, .sliding_window = 4, .eos_token_ids = {}, .chain = chain},
       prompt,
       24},
      {"windows in all layers",
       {.vocab_size = kVocab,
        .sliding_window = 4,
        .all_layers_slide = true,
        .eos_token_ids = {},
        .chain = chain},
       prompt,
       24},
      {"a rope that changes",
       {.vocab_size = kVocab, .kv_valid_until = 15, .eos_token_ids = {}, .chain = chain},
       prompt,
       24},
      {"the shortest text", {.vocab_size = kVocab, .eos_token_ids = {}, .chain = chain}, prompt, 1},
  };
  // The cap falls inside runs that would be accepted.
  for (int cap = 2; cap <= 7; ++cap)
    all.push_back(
        {"a cap", {.vocab_size = kVocab, .eos_token_ids = {}, .chain = chain}, prompt, cap});
  return all;
}

TEST_CASE("every drafting method: greedy decoding's text, token by token, under every KV policy") {
  for (const MethodInfo* method : drafting_methods()) {
    CAPTURE(method->name);
    std::int64_t drafts = 0, accepted = 0;
    for (Case& one : cases()) {
      CAPTURE(one.name);
      CAPTURE(one.max_new_tokens);
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        CAPTURE(seed);
        one.options.seed = seed;
        Rig plain(one.options, capture::Level::kOff);
        const Run expected = run_of(
            (plain.start("greedy", {}, one.prompt, one.max_new_tokens).run(), *plain.session));
        for (const char* kv : {"recycle", "compact", "keep"}) {
          CAPTURE(kv);
          Rig rig(one.options);
          add_companion(rig, *method, one.options, seed + 3);
          const Run found = run_checked(rig, *method, {{"kv", kv}, {"gc_every", 3}}, one.prompt,
                                        one.max_new_tokens, one.options, drafts, accepted);
          CHECK(found == expected);
        }
      }
    }
    if (method->name == "rest") continue;  // needs a text file
    CHECK(drafts > 500);
    CHECK(accepted > 100);
  }
}

TEST_CASE(
    "drafting contract: every method whose drafts are not drawn: with one seed, verify=sample writes sampling's text") {
  for (const MethodInfo* method : drafting_methods()) {
    if (draws(*method)) continue;
    CAPTURE(method->name);
    for (const Case& one : cases()) {
      CAPTURE(one.name);
      for (const json& warpers :
           {json{{"temperature", 0.7}, {"top_k", 4}},
            json{{"top_p", 0.8}, {"sampler", "gumbel"}, {"repetition_penalty", 1.2}}}) {
        Rig plain(one.options, capture::Level::kOff);
        const Run expected = run_of(
            (plain.start("sample", warpers, one.prompt, one.max_new_tokens).run(), *plain.session));
        json settings = warpers;
        settings["verify"] = "sample";
        Rig rig(one.options, capture::Level::kOff);
        add_companion(rig, *method, one.options, 4);
        rig.start(method->name, settings, one.prompt, one.max_new_tokens).run();
        CHECK(run_of(*rig.session) == expected);
      }
    }
  }
}

TEST_CASE(
    "drafting contract: every drafting method refuses a rule that its drafts do not go with, and runs with the others") {
  for (const MethodInfo* method : drafting_methods()) {
    CAPTURE(method->name);
    const FakeOptions options{.vocab_size = kVocab, .eos_token_ids = {}, .chain = {5, 6, 7, 5}};
    for (const char* verify :
         {"greedy", "sample", "chain", "block", "multi_round", "typical", "top_k"}) {
      CAPTURE(verify);
      Rig rig(options);
      add_companion(rig, *method, options, 4);
      const bool refused =
          (std::string(verify) == "chain" || std::string(verify) == "block") && !draws(*method);
      try {
        rig.start(method->name, {{"verify", verify}}, {5, 6, 7, 5, 6}, 9).run();
        CHECK_FALSE(refused);
        CHECK(rig.session->result().emitted_tokens == 9);
        CHECK(rig.session->result().lossless ==
              (std::string(verify) != "typical" && std::string(verify) != "top_k"));
      } catch (const Error& error) {
        CHECK(refused);
        CHECK(std::string(error.what())
                  .starts_with(std::string(verify) == "chain"
                                   ? "verify=chain: min(1, p/q) is for drafts drawn"
                                   : "verify=block: a block is judged by what its drafts"));
      }
    }
  }
}

TEST_CASE(
    "every method with a draft head: a branch that chooses what was chosen writes the same text") {
  for (const MethodInfo* method : drafting_methods()) {
    if (method->needs != Need::kDraftHead) continue;
    CAPTURE(method->name);
    const FakeOptions options{.vocab_size = kVocab, .eos_token_ids = {}, .chain = {5, 6, 7, 5}};
    Rig rig(options);
    add_companion(rig, *method, options, 4);
    Session& session = rig.start(method->name, {}, {5, 6, 7}, 20);
    session.run();
    const Run whole = run_of(session);
    // A branch that makes the choice that was made writes the same text.
    std::vector<NodeId> path;
    for (std::int32_t id = 0; id < session.tree().size(); ++id)
      if (session.tree()[NodeId(id)].status == NodeStatus::kFinished)
        path = session.tree().path_to(NodeId(id));
    REQUIRE(path.size() == 20);
    path.insert(path.begin(), TokenTree::root());
    for (std::size_t i = 0; i < 19; i += 3) {
      MemoryRecorder recorder;
      const auto branch = Session::branch(session, path[i], whole.tokens[i], recorder);
      branch->run();
      CHECK(run_of(*branch) == whole);
    }
  }
}

}  // namespace
}  // namespace triescope::test::test_drafting_contract

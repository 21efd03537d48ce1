// Drafting methods in whole sessions, on a model whose logits depend on what it reads through its
// KV slots: texts equal to plain decoding's under every KV policy, and a capture that accounts for
// every draft.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/support/session_run.h"

namespace triescope::test_ngram_trie_session {
namespace {

using test::FakeOptions;
using test::Rig;
using Tokens = std::vector<std::int32_t>;

const char* const kDrafting[] = {"ngram_trie", "prompt_lookup", "suffix_automaton", "lookahead"};
const char* const kPolicies[] = {"recycle", "compact", "keep"};

// Half the texts run in a circle that drafts catch, half are noise that drafts mostly miss.
FakeOptions model_options(std::uint64_t seed) {
  FakeOptions options;
  options.vocab_size = 14;
  options.seed = seed;
  options.eos_token_ids = {0};
  if (seed % 2 == 0) options.chain = {5, 6, 7, 8, 9, 5};
  if (seed % 3 == 0) options.quantum = 1;  // many level logits
  return options;
}

RunResult run(std::uint64_t seed, const std::string& method, nlohmann::json settings,
              int max_new_tokens = 40, Tokens prompt = {5, 6, 7, 3, 5, 6, 4, 7, 3}) {
  Rig rig(model_options(seed), capture::Level::kOff);
  auto& session = rig.start(method, std::move(settings), std::move(prompt), max_new_tokens, seed);
  session.run();
  return session.result();
}

TEST_CASE(
    "ngram trie session: greedy verification equals greedy decoding in a session, under every KV policy") {
  std::int64_t forwards = 0, tokens = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const auto plain = run(seed, "greedy", {});
    for (const char* method : kDrafting) {
      for (const char* kv : kPolicies) {
        CAPTURE(method);
        CAPTURE(kv);
        CAPTURE(seed);
        const auto drafted = run(seed, method, {{"kv", kv}, {"gc_every", 3}});
        REQUIRE(test::tokens_of(drafted) == test::tokens_of(plain));
        CHECK(drafted.sequences[0].finish == plain.sequences[0].finish);
        CHECK(drafted.emitted_tokens ==
              static_cast<std::int64_t>(plain.sequences[0].tokens.size()));
        CHECK(drafted.target_forwards <= plain.target_forwards);
        forwards += drafted.target_forwards;
        tokens += drafted.emitted_tokens;
      }
    }
  }
  CHECK(tokens > forwards * 3 / 2);
}

TEST_CASE(
    "ngram trie session: sampling verification equals sampling with the same seed in a session") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    for (const char* sampler : {"softmax", "gumbel"}) {
      const auto plain = run(seed, "sample", {{"temperature", 0.7}, {"sampler", sampler}});
      for (const char* method : kDrafting) {
        const auto drafted =
            run(seed, method, {{"verify", "sample"}, {"temperature", 0.7}, {"sampler", sampler}});
        CHECK(test::tokens_of(drafted) == test::tokens_of(plain));
      }
    }
  }
}

TEST_CASE(
    "ngram trie session: every rule runs to the cap or an EOS with every drafter, from a prompt of one token too") {
  for (const char* method : kDrafting) {
    for (const char* verify : {"greedy", "sample", "typical", "top_k"}) {
      for (const int cap : {1, 2, 7, 30}) {
        for (const auto& prompt : {Tokens{5}, Tokens{5, 6, 7, 5, 6}}) {
          const auto result =
              run(2, method, {{"verify", verify}, {"accept_top_k", 3}}, cap, prompt);
          REQUIRE(result.sequences.size() == 1);
          const auto& tokens = result.sequences[0].tokens;
          const bool eos = tokens.back() == 0;
          CHECK(result.sequences[0].finish == (eos ? "eos" : "length"));
          CHECK(static_cast<int>(tokens.size()) <= cap);
          if (!eos) CHECK(static_cast<int>(tokens.size()) == cap);
          CHECK(result.emitted_tokens == static_cast<std::int64_t>(tokens.size()));
        }
      }
    }
  }
}

TEST_CASE(
    "ngram trie session: the capture holds a verdict for every draft, and the verdicts spell out the text") {
  for (const char* method : kDrafting) {
    for (const char* verify : {"greedy", "sample"}) {
      CAPTURE(method);
      CAPTURE(verify);
      Rig rig(model_options(2));
      auto& session =
          rig.start(method, {{"verify", verify}, {"temperature", 0.5}}, {5, 6, 7, 8, 9, 5, 6}, 30);
      session.run();
      const auto& tree = session.tree();

      std::map<std::int32_t, capture::Verdict> verdicts;
      std::map<std::int32_t, const capture::VerdictRow*> row_of;
      for (const auto& row : rig.recorder.verdict_rows) {
        if (row.verdict == capture::Verdict::kFinished) continue;
        CHECK(verdicts.emplace(row.node, row.verdict).second);  // one decision a node
        row_of[row.node] = &row;
        CHECK(row.reason != capture::Reason::kNone);
        CHECK(row.p >= 0);
      }
      Tokens text;
      std::set<capture::Source> sources;
      const auto result = session.result();
      for (std::int32_t id = 1; id < tree.size(); ++id) {
        const Node& node = tree[NodeId(id)];
        sources.insert(node.source);
        REQUIRE(verdicts.contains(id));
        const bool emitted = verdicts[id] != capture::Verdict::kRejected;
        CHECK(capture::is_drafted(node.source) == (verdicts[id] == capture::Verdict::kAccepted ||
                                                   verdicts[id] == capture::Verdict::kRejected));
        if (emitted) CHECK(node.depth <= 30);
      }
      std::int64_t accepted = 0, drafted = 0, emitted = 0;
      for (const auto& step : rig.recorder.steps) {
        accepted += step.accepted;
        drafted += step.drafted;
        emitted += step.emitted;
      }
      CHECK(accepted > 0);
      CHECK(drafted >= accepted);
      CHECK(emitted == result.emitted_tokens);
      CHECK(sources.contains(capture::Source::kBonus));
      // The text is the path of nodes that were not refused.
      const auto& tokens = result.sequences.at(0).tokens;
      NodeId at = TokenTree::root();
      for (const std::int32_t token : tokens) {
        NodeId next;
        for (NodeId child = tree[at].first_child; child.valid(); child = tree[child].next_sibling)
          if (verdicts[child.value] != capture::Verdict::kRejected) {
            CHECK_FALSE(next.valid());  // one child alone goes on
            next = child;
          }
        REQUIRE(next.valid());
        CHECK(tree[next].token.value == token);
        at = next;
      }
    }
  }
}

TEST_CASE(
    "ngram trie session: a branch of a drafting session decodes on as greedy decoding would from there") {
  for (const char* method : kDrafting) {
    Rig rig(model_options(4));
    auto& session = rig.start(method, {}, {5, 6, 7, 8, 5}, 20);
    session.run();
    const auto tokens = session.result().sequences.at(0).tokens;
    REQUIRE(tokens.size() > 6);
    // Another token after the third one.
    NodeId node = TokenTree::root();
    for (int i = 0; i < 3; ++i)
      node =
          session.tree().path_to(NodeId(session.tree().size() - 1)).at(static_cast<std::size_t>(i));
    test::MemoryRecorder recorder(capture::Level::kFull);
    auto branch = Session::branch(session, node, 12, recorder);
    branch->run();
    const auto branched = branch->result().sequences.at(0).tokens;
    // An oracle over the same path.
    Tokens text{5, 6, 7, 8, 5};
    Tokens expected;
    for (const TokenId token : session.tree().tokens_to(node)) expected.push_back(token.value);
    expected.push_back(12);
    text.insert(text.end(), expected.begin(), expected.end());
    while (expected.size() < 20 && expected.back() != 0) {
      const auto logits = rig.model.logits_of(text);
      const auto best = static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) -
                                                  logits.begin());
      expected.push_back(best);
      text.push_back(best);
    }
    CHECK(branched == expected);
  }
}

}  // namespace
}  // namespace triescope::test_ngram_trie_session

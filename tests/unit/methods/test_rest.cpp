// The datastore of REST, and the method.
#include <doctest/doctest.h>

#include <fstream>
#include <map>

#include "core/base/error.h"
#include "core/lookup/suffix_array.h"
#include "core/methods/text_methods.h"
#include "tests/support/draft_rig.h"
#include "tests/support/paths.h"
#include "tests/support/session_run.h"

namespace triescope::test_rest {
namespace {

using test::DraftRig;
using test::LoopConfig;
using test::Tokens;

constexpr std::int32_t kEnd = -2;

// Frequencies of everything that follows the key within its document, to `depth` tokens.
std::map<Tokens, int> brute_force(const Tokens& text, const Tokens& key, int depth) {
  std::map<Tokens, int> found;
  for (std::size_t at = 0; at + key.size() <= text.size(); ++at) {
    if (!std::equal(key.begin(), key.end(), text.begin() + static_cast<long>(at))) continue;
    Tokens path;
    for (std::size_t i = at + key.size(); i < text.size() && text[i] != kEnd; ++i) {
      if (static_cast<int>(path.size()) == depth) break;
      path.push_back(text[i]);
      ++found[path];
    }
  }
  return found;
}

std::map<Tokens, int> paths(const NgramTrie::Answer& answer) {
  std::map<Tokens, int> out;
  std::vector<Tokens> of;
  for (const auto& node : answer.nodes) {
    Tokens path = node.parent < 0 ? Tokens{} : of[static_cast<std::size_t>(node.parent)];
    path.push_back(node.token);
    CHECK(static_cast<int>(path.size()) == node.depth);
    CHECK(out.emplace(path, node.frequency).second);
    of.push_back(path);
  }
  return out;
}

TEST_CASE("rest: a datastore answers with all that follows the longest suffix, and how often") {
  Rng rng(4);
  for (int round = 0; round < 40; ++round) {
    Tokens text;
    for (int i = 0; i < 200; ++i)
      text.push_back(rng.next() % 15 == 0 ? kEnd : static_cast<std::int32_t>(rng.next() % 3));
    const SuffixArray store(text, kEnd);
    for (int tries = 0; tries < 10; ++tries) {
      Tokens context;
      for (int i = 0; i < 6; ++i) context.push_back(static_cast<std::int32_t>(rng.next() % 3));
      std::map<Tokens, int> expected;
      int matched = 0;
      for (int length = 5; length >= 2 && expected.empty(); --length) {
        expected = brute_force(text, Tokens(context.end() - length, context.end()), 7);
        if (!expected.empty()) matched = length;
      }
      const auto answer = store.continuations(context, 2, 5, 1 << 20, 7);
      CHECK(answer.matched_tokens == matched);
      CHECK(paths(answer) == expected);
      // Pruned: the most frequent ones.
      const auto few = paths(store.continuations(context, 2, 5, 4, 7));
      int rarest = 1 << 30;
      for (const auto& [path, frequency] : few) rarest = std::min(rarest, frequency);
      for (const auto& [path, frequency] : expected)
        if (!few.contains(path)) CHECK(frequency <= rarest);
    }
  }
}

TEST_CASE(
    "rest: long repeats, an empty datastore and a context shorter than the key are no trouble") {
  const SuffixArray same(Tokens(500, 7));
  CHECK(same.continuations(Tokens{7, 7, 7}, 2, 16, 100, 10).nodes.size() == 10);
  CHECK(same.continuations(Tokens{7}, 2, 16, 100, 10).nodes.empty());
  CHECK(SuffixArray({}).continuations(Tokens{1, 2}, 1, 16, 100, 10).nodes.empty());
}

std::vector<std::int32_t> letters(std::string_view text) {
  Tokens ids;
  for (const char c : text)
    if (c >= 'a' && c <= 'z') ids.push_back(c - 'a');
  return ids;
}

TEST_CASE("rest: it drafts from the user's file and leaves greedy decoding's text as it is") {
  const test::TempDir dir;
  const auto path = (dir.path() / "store.txt").string();
  std::int64_t forwards = 0, tokens = 0, accepted = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto logits = test::markov_logits(12, 2, 3, seed);
    LoopConfig config{.prompt = {1, 2}, .max_new_tokens = 60, .vocab = 12};
    const auto plain = test::plain_greedy(config, logits);
    {
      // The text that will be written, in two overlapping documents, and one that has nothing to do
      // with it.
      std::ofstream file(path);
      file << "bc";
      for (std::size_t i = 0; i < 40; ++i) file << static_cast<char>('a' + plain[i]);
      file << "\n<|endoftext|>\nabcabcabc\n<|endoftext|>\n";
      for (std::size_t i = 30; i < 60; ++i) file << static_cast<char>('a' + plain[i]);
    }
    config.settings = {{"datastore", path}};
    RunContext run = test::run_context(config, rest_method());
    run.encode = letters;
    auto parts = rest_method().make(run);
    Rng rng(1);
    const auto loop =
        test::run_loop(config, logits, parts.drafter.get(), *parts.acceptor, run, rng);
    CHECK(loop.text == plain);
    forwards += static_cast<std::int64_t>(loop.steps.size());
    tokens += static_cast<std::int64_t>(loop.text.size());
    for (const auto& step : loop.steps) accepted += step.result.accepted;
  }
  CHECK(accepted > 0);
  CHECK(tokens > 4 * forwards);
}

TEST_CASE(
    "rest: a datastore that is not there is an error that names it; none at all drafts nothing") {
  for (const std::string path :
       {"/no/such/file.txt", "/tmp"}) {  // a folder cannot be read as a file
    LoopConfig config{.vocab = 5, .settings = {{"datastore", path}}};
    RunContext run = test::run_context(config, rest_method());
    run.encode = letters;
    try {
      rest_method().make(run);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kNotFound);
      CHECK(std::string(error.what()).find("datastore: " + path) != std::string::npos);
    }
  }
  const auto logits = test::markov_logits(12, 2, 3, 1);
  LoopConfig without{.max_new_tokens = 10, .vocab = 12};
  const auto loop = test::run_method(rest_method(), without, logits);
  CHECK(loop.text == test::plain_greedy(without, logits));
  CHECK(loop.steps.size() == 10);
}

// Keeps everything: 'a' to 'z' are 0 to 25, a newline 26, a blank 27. Separators must not get here.
constexpr int kLetters = 28;
std::vector<std::int32_t> all_letters(std::string_view text) {
  Tokens ids;
  for (const char c : text) {
    const bool known = (c >= 'a' && c <= 'z') || c == '\n' || c == ' ';
    CHECK(known);
    ids.push_back(c == '\n' ? 26 : c == ' ' ? 27 : c - 'a');
  }
  return ids;
}
std::string spelled(std::span<const std::int32_t> tokens) {
  std::string text;
  for (const std::int32_t token : tokens)
    text += token == 26 ? '\n' : token == 27 ? ' ' : static_cast<char>('a' + token);
  return text;
}

// A drafter over a datastore of this text; the pending token is the last of `text`.
struct Store {
  explicit Store(std::string_view content) : path((dir.path() / "store.txt").string()) {
    std::ofstream(path, std::ios::binary) << content;
  }
  nlohmann::json with(nlohmann::json settings) const {
    settings["datastore"] = path;
    return settings;
  }
  std::vector<std::string> drafts(std::string_view text, const nlohmann::json& settings = {},
                                  int room = 1000, std::string_view eos = "",
                                  int cheap_rows = 33) const {
    DraftRig rig(rest_method(), all_letters(text), with(settings),
                 {.eos = all_letters(eos),
                  .vocab = kLetters,
                  .cheap_rows = cheap_rows,
                  .encode = all_letters});
    std::vector<std::string> out;
    for (const Tokens& path_below : rig.draft(room)) out.push_back(spelled(path_below));
    for (const NodeId node : rig.drafts.sent)
      CHECK(rig.tree[node].source == capture::Source::kDraft);
    return out;
  }
  test::TempDir dir;
  std::string path;
};
using Strings = std::vector<std::string>;

TEST_CASE("rest: it drafts the most frequent nodes of what followed, parents first") {
  // "ab" is followed by c three times and by d once; "abc" twice by a, once by e.
  const Store store("abcabcabdabce");
  CHECK(store.drafts("ab", {{"num_draft", 1}}) == Strings{"c"});
  CHECK(store.drafts("ab", {{"num_draft", 3}}) == Strings{"c", "ca", "cab"});
  CHECK(store.drafts("ab", {{"num_draft", 5}}) == Strings{"c", "ca", "cab", "cabc", "cabca"});
  CHECK(store.drafts("ab", {{"num_draft", 64}, {"max_depth", 2}}) ==
        Strings{"c", "ca", "ce", "d", "da"});
  CHECK(store.drafts("ab", {{"num_draft", 64}, {"max_depth", 1}}) == Strings{"c", "d"});
  // 0: as many as fill a cheap forward beside the pending row.
  CHECK(store.drafts("ab", {{"num_draft", 0}}, 1000, "", 4) == Strings{"c", "ca", "cab"});
  CHECK(store.drafts("ab", {{"num_draft", 0}}, 1000, "", 2) == Strings{"c"});
  CHECK(store.drafts("ab", {{"num_draft", 2}}, 1000, "", 9) == Strings{"c", "ca"});
}

TEST_CASE("rest: it drafts no deeper than the room, and nothing below an EOS") {
  const Store store("abcdefgh");
  CHECK(store.drafts("ab", {}, 0).empty());
  CHECK(store.drafts("ab", {}, 1) == Strings{"c"});
  CHECK(store.drafts("ab", {}, 3) == Strings{"c", "cd", "cde"});
  CHECK(store.drafts("ab", {{"max_depth", 2}}, 3) == Strings{"c", "cd"});
  CHECK(store.drafts("ab", {{"max_depth", 3}}, 2) == Strings{"c", "cd"});
  CHECK(store.drafts("ab", {}, 1000, "d") == Strings{"c", "cd"});
  CHECK(store.drafts("ab", {}, 1000, "c") == Strings{"c"});
  CHECK(Store("abcxabd").drafts("ab", {}, 1000, "c") == Strings{"c", "d"});
}

TEST_CASE("rest: it looks for the longest suffix that something followed, within its two limits") {
  const Store store("xabqwabrvabr");
  CHECK(store.drafts("xab", {{"max_depth", 1}}) == Strings{"q"});
  CHECK(store.drafts("xab", {{"max_depth", 1}, {"longest_suffix", 3}}) == Strings{"q"});
  CHECK(store.drafts("xab", {{"max_depth", 1}, {"longest_suffix", 2}}) == Strings{"r", "q"});
  // "zb" is nowhere: "b" alone may be looked for, or may not.
  CHECK(store.drafts("zb", {{"max_depth", 1}}).empty());
  CHECK(store.drafts("zb", {{"max_depth", 1}, {"shortest_suffix", 1}}) == Strings{"r", "q"});
  CHECK(store.drafts("zab", {{"max_depth", 1}, {"shortest_suffix", 2}}) == Strings{"r", "q"});
  CHECK(store.drafts("zab", {{"max_depth", 1}, {"shortest_suffix", 3}}).empty());
  // The whole text is shorter than the key.
  CHECK(store.drafts("b", {{"max_depth", 1}}).empty());
}

TEST_CASE(
    "rest: it keeps a datastore's newlines, and no draft crosses from one document to the next") {
  CHECK(Store("ab\ncd").drafts("ab") == Strings{"\n", "\nc", "\ncd"});
  CHECK(Store("ab\n\ncd").drafts("ab", {{"max_depth", 3}}) == Strings{"\n", "\n\n", "\n\nc"});
  CHECK(Store("ab\ncd\n").drafts("b\nc") == Strings{"d", "d\n"});
  for (const char* content :
       {"ab\n<|endoftext|>\ncd", "<|endoftext|>\nab\n<|endoftext|>\ncd\n<|endoftext|>",
        "ab\n<|endoftext|>\n<|endoftext|>\ncd\n<|endoftext|>\n",
        "\n<|endoftext|>\nab\n<|endoftext|>\ncd"}) {
    CAPTURE(content);
    const Store store(content);
    CHECK(store.drafts("ab") == Strings{"\n"});
    // The separator's own newline belongs to no document: nothing ever follows a newline here.
    CHECK(store.drafts("ab\n", {{"shortest_suffix", 1}}).empty());
    CHECK(store.drafts("c", {{"shortest_suffix", 1}, {"max_depth", 1}}) == Strings{"d"});
  }
  CHECK(Store("ab<|endoftext|>cd").drafts("ab", {{"shortest_suffix", 1}}).empty());
  // One newline goes with the separator, a second one begins the document.
  CHECK(Store("ab<|endoftext|>\n\ncd").drafts("\n", {{"shortest_suffix", 1}}) ==
        Strings{"c", "cd"});
  CHECK(Store("").drafts("ab").empty());
  CHECK(Store("<|endoftext|>\n").drafts("ab", {{"shortest_suffix", 1}}).empty());
}

TEST_CASE("rest: it drafts again after every step, from the text as it then is") {
  const Store store("abcd efgh");
  DraftRig rig(rest_method(), all_letters("ab"), store.with({{"max_depth", 2}}),
               {.vocab = kLetters, .encode = all_letters});
  CHECK(rig.draft() == std::vector<Tokens>{{2}, {2, 3}});
  rig.write(all_letters("cd"));  // both came true: they become text
  CHECK(rig.draft() == std::vector<Tokens>{all_letters(" "), all_letters(" e")});
  rig.write(all_letters("zef"));
  CHECK(rig.draft() == std::vector<Tokens>{all_letters("g"), all_letters("gh")});
  // A path that the tree holds already is shared, not sent again.
  rig.write(all_letters("abc"));
  const NodeId there = rig.tree.hang(rig.pending, TokenId(3), capture::Source::kDraft, 0).node;
  CHECK(rig.draft() == std::vector<Tokens>{all_letters("d ")});
  CHECK(rig.tree[rig.drafts.sent.at(0)].parent == there);
}

struct LetterTokenizer final : test::FakeTokenizer {
  LetterTokenizer() : FakeTokenizer(kLetters, {}) {}
  std::vector<std::int32_t> encode(std::string_view text, bool) const override {
    return all_letters(text);
  }
};

TEST_CASE("rest in a session: near the cap and where the rope changes no draft is too deep") {
  const Store store("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
  struct Case {
    int max_new_tokens, max_depth, kv_valid_until;
    std::vector<int> drafted, emitted;  // by step
  };
  // The model says the alphabet, and so does the store: every draft comes true.
  for (const Case& c : {
           Case{12, 10, 0, {0, 10}, {1, 11}},
           Case{11, 10, 0, {0, 9}, {1, 10}},
           Case{8, 10, 0, {0, 6}, {1, 7}},
           Case{8, 4, 0, {0, 4, 1}, {1, 5, 2}},
           Case{7, 4, 0, {0, 4, 0}, {1, 5, 1}},
           Case{2, 10, 0, {0, 0}, {1, 1}},
           Case{1, 10, 0, {0}, {1}},
           // The prompt ends at position 2; drafts stop before position 8, then before the cap.
           Case{12, 10, 8, {0, 4, 5}, {1, 5, 6}},
           Case{12, 10, 4, {0, 0, 9}, {1, 1, 10}},
       }) {
    CAPTURE(c.max_new_tokens);
    CAPTURE(c.max_depth);
    CAPTURE(c.kv_valid_until);
    test::FakeOptions options{.vocab_size = kLetters, .context = 3 + c.max_new_tokens};
    options.kv_valid_until = c.kv_valid_until;
    options.eos_token_ids = {};
    for (int i = 0; i <= 26; ++i) options.chain.push_back(i % 26);
    test::FakeModel model(options);
    LetterTokenizer tokenizer;
    test::MemoryRecorder recorder;
    RunConfig config;
    config.method = "rest";
    config.settings =
        store.with({{"max_depth", c.max_depth}, {"num_draft", 64}, {"longest_suffix", 3}});
    config.prompt_tokens = all_letters("abc");
    config.max_new_tokens = c.max_new_tokens;
    Session session(model, tokenizer, config, recorder);
    session.run();
    CHECK(spelled(session.result().sequences.at(0).tokens) ==
          std::string("defghijklmno").substr(0, static_cast<std::size_t>(c.max_new_tokens)));
    std::vector<int> drafted, emitted;
    for (const auto& step : recorder.steps) {
      drafted.push_back(step.drafted);
      emitted.push_back(step.emitted);
    }
    CHECK(drafted == c.drafted);
    CHECK(emitted == c.emitted);
    for (std::int32_t id = 1; id < session.tree().size(); ++id)
      CHECK(session.tree()[NodeId(id)].depth <= c.max_new_tokens);
  }
}

}  // namespace
}  // namespace triescope::test_rest

// Nodes that never become text. A drafter with probes in SPACE's shape, whose tokens are those of the
// drafts beside them and an EOS, writes what the method writes without it, for texts and for beams;
// nothing is decided or counted about a probe, its row is the model's, its slot is free after the
// step, and the capture says what it is.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/kernels/row_ops.h"
#include "core/methods/registry.h"
#include "core/verify/beam.h"
#include "core/verify/text_acceptor.h"
#include "tests/support/session_run.h"

namespace triescope::test::test_probes {
namespace {

using nlohmann::json;
using Tokens = std::vector<std::int32_t>;

constexpr int kVocab = 14, kMasks = 2;
constexpr std::int32_t kEos = 0;
const Tokens kPrompt = {5, 6, 7, 3, 5, 6, 4, 7, 3};

Tokens text_to(const TokenTree& tree, NodeId node) {
  Tokens text = kPrompt;
  for (const TokenId token : tree.tokens_to(node)) text.push_back(token.value);
  return text;
}

struct Notes {
  std::int64_t probes = 0, drafts = 0, rows_read = 0;
};

// Two drafts below every frontier node, the model's best (every third one is wrong); the frontier
// node and each draft carry a chain of probes: the best token, which a draft carries too, then EOS.
class ProbingDrafter final : public Drafter {
 public:
  ProbingDrafter(const FakeModel& model, Notes& notes) : model_(model), notes_(notes) {}

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    for (const NodeId pending : context.frontier) {
      NodeId at = pending;
      for (int level = 0; level <= kMasks; ++level) {
        const std::int32_t best = kernels::argmax(model_.logits_of(text_to(context.tree, at)));
        NodeId above = at;
        for (int mask = 1; mask <= kMasks && level + mask <= context.probe_room; ++mask) {
          const TokenId token(mask == 1 ? best : kEos);
          above = context.tree.hang_probe(above, token, capture::Source::kDraft).node;
          drafts.sent.push_back(above);
          ++notes_.probes;
        }
        if (level == kMasks || level >= context.room || best == kEos) break;
        const TokenId drafted(notes_.drafts % 3 == 2 ? 1 + best % (kVocab - 1) : best);
        const Hung hung = context.tree.hang(at, drafted, capture::Source::kDraft, kUnknownLogprob);
        at = hung.node;
        if (!hung.is_new) break;
        drafts.sent.push_back(at);
        ++notes_.drafts;
      }
    }
    return drafts;
  }

  void observe(const StepView& view) override {
    for (std::size_t i = 0; i < view.rows.size(); ++i) {
      if (!view.tree[view.rows[i]].is_probe()) continue;
      CHECK(std::ranges::equal(view.logits(static_cast<int>(i)),
                               model_.logits_of(text_to(view.tree, view.rows[i]))));
      ++notes_.rows_read;
    }
  }

 private:
  const FakeModel& model_;
  Notes& notes_;
};

template <class Acceptor>
MethodInfo probing(const std::string& as, const FakeModel& model, Notes& notes,
                   std::function<std::unique_ptr<Acceptor>(const RunContext&)> acceptor) {
  MethodInfo method = find_method(as);
  method.name = "probing";
  method.make = [&model, &notes, acceptor](const RunContext& run) {
    return MethodParts{std::make_unique<ProbingDrafter>(model, notes), acceptor(run)};
  };
  return method;
}

MethodInfo probing_text(const FakeModel& model, Notes& notes) {
  return probing<TextAcceptor>("prompt_lookup", model, notes, [](const RunContext& run) {
    return std::make_unique<TextAcceptor>(run, deterministic_rule(run.settings));
  });
}
MethodInfo probing_beams(const FakeModel& model, Notes& notes) {
  return probing<BeamAcceptor>("beam", model, notes, [](const RunContext& run) {
    return std::make_unique<BeamAcceptor>(run);
  });
}

RunConfig config_of(const json& settings, int max_new_tokens) {
  RunConfig config;
  config.settings = settings;
  config.prompt_tokens = kPrompt;
  config.max_new_tokens = max_new_tokens;
  return config;
}

// What holds of every run with probes; the session is over.
void check_probes(const Session& session, const MemoryRecorder& recorder, const json& settings) {
  const TokenTree& tree = session.tree();
  std::vector<std::int32_t> drafted(recorder.steps.size());
  for (const capture::InputRow& row : recorder.input_rows) {
    const auto step = static_cast<std::size_t>(row.step);
    if (step == 0 || step >= drafted.size() || row.node < 0) continue;
    CHECK(row.position == tree.position(NodeId(row.node)));
    const bool pending =
        std::ranges::any_of(recorder.frontier_rows, [&](const capture::FrontierRow& frontier) {
          return frontier.step == row.step - 1 && frontier.node == row.node;
        });
    if (!pending && !tree[NodeId(row.node)].is_probe()) ++drafted[step];
  }
  for (std::size_t i = 0; i < drafted.size(); ++i) CHECK(recorder.steps[i].drafted == drafted[i]);

  REQUIRE(recorder.node_rows.size() == static_cast<std::size_t>(tree.size()));
  for (const capture::NodeRow& row : recorder.node_rows) {
    const Node& node = tree[NodeId(row.node)];
    CHECK(row.role == node.role);
    if (node.is_probe()) CHECK(node.status == NodeStatus::kDead);
    CHECK((node.is_probe() || !tree[NodeId(std::max(row.parent, 0))].is_probe()));
  }
  const auto is_probe = [&](std::int32_t node) { return tree[NodeId(node)].is_probe(); };
  for (const auto& row : recorder.verdict_rows) CHECK_FALSE(is_probe(row.node));
  for (const auto& row : recorder.frontier_rows) CHECK_FALSE(is_probe(row.node));
  for (const auto& row : recorder.sequence_rows) CHECK_FALSE(is_probe(row.node));
  for (const auto& row : recorder.score_rows) CHECK_FALSE(is_probe(row.node));

  // A slot is free again after the step: with recycle the very slot, else it is garbage.
  std::set<std::int32_t> held;  // probes
  for (const capture::SlotRow& row : recorder.slot_rows) {
    if (row.node < 0 || !is_probe(row.node)) continue;
    using capture::SlotAction;
    if (row.action == SlotAction::kAlloc || row.action == SlotAction::kReuse) held.insert(row.node);
    if ((row.action == SlotAction::kFree || row.action == SlotAction::kGarbage) &&
        held.erase(row.node) == 1)
      CHECK(capture::step_of(row.tick) ==
            capture::step_of(recorder.node_rows[static_cast<std::size_t>(row.node)].tick));
  }
  CHECK(held.empty());
  if (settings.value("kv", "recycle") == "recycle" && !settings.contains("num_beams"))
    for (std::size_t i = 0; i + 1 < recorder.memory_rows.size(); ++i)
      CHECK(recorder.memory_rows[i].live == recorder.memory_rows[i].greedy);
}

struct Case {
  const char* name;
  FakeOptions options;
  int max_new_tokens;
};
std::vector<Case> cases() {
  const Tokens chain = {5, 6, 7, 8, 9, 5};
  const auto context = static_cast<int>(kPrompt.size()) + 12;
  std::vector<Case> all = {
      {"plain", {.vocab_size = kVocab, .eos_boost = -9, .chain = chain}, 24},
      {"EOS often", {.vocab_size = kVocab, .eos_boost = 1.5f}, 24},
      {"a full context",
       {.vocab_size = kVocab, .context = context, .eos_boost = -9, .chain = chain},
       12},
      {"windows in all layers",
       {.vocab_size = kVocab,
        .sliding_window = 4,
        .all_layers_slide = true,
        .eos_boost = -9,
        .chain = chain},
       20},
  };
  for (int cap = 1; cap <= 5; ++cap)
    all.push_back({"a cap", {.vocab_size = kVocab, .eos_boost = -9, .chain = chain}, cap});
  return all;
}

TEST_CASE(
    "probes change no text: greedy's token by token, sampling's draw by draw, on every policy") {
  Notes notes;
  for (Case& one : cases()) {
    CAPTURE(one.name);
    CAPTURE(one.max_new_tokens);
    for (const char* verify : {"greedy", "sample"})
      for (const char* kv : {"recycle", "compact", "keep"})
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          CAPTURE(verify);
          CAPTURE(kv);
          CAPTURE(seed);
          one.options.seed = seed;
          Rig plain(one.options, capture::Level::kOff);
          plain
              .start(std::string(verify) == "greedy" ? "greedy" : "sample", json::object(), kPrompt,
                     one.max_new_tokens, /*seed=*/0)
              .run();
          Rig rig(one.options);
          const MethodInfo method = probing_text(rig.model, notes);
          const json settings = {{"kv", kv}, {"gc_every", 3}, {"verify", verify}};
          Session session(rig.model, rig.tokenizer, method, config_of(settings, one.max_new_tokens),
                          rig.recorder);
          session.run();
          CHECK(tokens_of(session.result()) == tokens_of(plain.session->result()));
          check_probes(session, rig.recorder, settings);
        }
  }
  CHECK(notes.probes > 1000);
  CHECK(notes.rows_read == notes.probes);
  CHECK(notes.drafts > 500);
}

TEST_CASE("probes below beams change no beam: texts and scores are plain beam search's") {
  Notes notes;
  for (Case& one : cases()) {
    CAPTURE(one.name);
    CAPTURE(one.max_new_tokens);
    for (const int beams : {1, 3})
      for (const char* kv : {"recycle", "compact", "keep"}) {
        CAPTURE(beams);
        CAPTURE(kv);
        const json settings = {
            {"num_beams", beams}, {"num_return_sequences", beams}, {"kv", kv}, {"gc_every", 3}};
        Rig plain(one.options, capture::Level::kOff);
        plain.start("beam", settings, kPrompt, one.max_new_tokens).run();
        Rig rig(one.options);
        const MethodInfo method = probing_beams(rig.model, notes);
        Session session(rig.model, rig.tokenizer, method, config_of(settings, one.max_new_tokens),
                        rig.recorder);
        session.run();
        CHECK(tokens_of(session.result()) == tokens_of(plain.session->result()));
        CHECK(scores_of(session.result()) == scores_of(plain.session->result()));
        check_probes(session, rig.recorder, settings);
      }
  }
  CHECK(notes.probes > 500);
  CHECK(notes.rows_read == notes.probes);
}

TEST_CASE("probes: they go as deep as the context lets them, whatever max_new_tokens says") {
  Notes notes;
  Rig rig({.vocab_size = kVocab, .eos_boost = -9, .chain = {5, 6, 7, 8, 9, 5}});
  const MethodInfo method = probing_text(rig.model, notes);
  Session session(rig.model, rig.tokenizer, method, config_of({}, 2), rig.recorder);
  session.run();
  std::int32_t deepest = 0;
  for (const capture::NodeRow& row : rig.recorder.node_rows) {
    deepest = std::max(deepest, row.depth);
    if (row.role == capture::NodeRole::kCandidate) CHECK(row.depth <= 2);
  }
  CHECK(deepest == 1 + kMasks);  // below the second token: no draft, a chain of probes
}

// Says that a probe goes on, ends a text or was refused.
class Mistaken final : public Acceptor {
 public:
  explicit Mistaken(int how) : how_(how) {}
  AcceptResult accept(const StepView& view, Rng&) override {
    AcceptResult result;
    if (view.step == 0) {
      result.frontier = {
          view.tree.hang(view.frontier[0], TokenId(3), capture::Source::kGreedy, 0).node};
      result.emitted = {3};
      return result;
    }
    const auto probe =
        std::ranges::find_if(view.rows, [&](NodeId node) { return view.tree[node].is_probe(); });
    REQUIRE(probe != view.rows.end());
    if (how_ == 0) result.frontier = {*probe};
    if (how_ == 1) result.finished = {{*probe}};
    if (how_ == 2)
      result.verdicts = {{.node = probe->value, .verdict = capture::Verdict::kRejected}};
    return result;
  }
  std::vector<FinishedSequence> results(const TokenTree&) const override { return {}; }

 private:
  int how_;
};

TEST_CASE("probes: an acceptor that decides about a probe ends the run with the node's number") {
  const char* const said[] = {"the next frontier", "a text's last node", "a node with a verdict"};
  for (int how = 0; how < 3; ++how) {
    Notes notes;
    Rig rig({.vocab_size = kVocab});
    const MethodInfo method =
        probing<Mistaken>("prompt_lookup", rig.model, notes,
                          [how](const RunContext&) { return std::make_unique<Mistaken>(how); });
    Session session(rig.model, rig.tokenizer, method, config_of({}, 5), rig.recorder);
    const std::string message = std::string("method probing: expected ") + said[how] +
                                " to be a candidate; found node 2 to be a probe, which never "
                                "becomes text. Its acceptor must skip probes";
    CHECK_THROWS_WITH_AS(session.run(), message.c_str(), Error);
    CHECK(session.done());
    CHECK(rig.recorder.status == capture::RunStatus::kFailed);
  }
}

TEST_CASE("probes: a run does not branch from a probe") {
  Notes notes;
  Rig rig({.vocab_size = kVocab, .eos_boost = -9});
  const MethodInfo method = probing_text(rig.model, notes);
  Session session(rig.model, rig.tokenizer, method, config_of({}, 8), rig.recorder);
  session.run();
  MemoryRecorder recorder;
  REQUIRE(session.tree()[NodeId(2)].is_probe());
  CHECK_THROWS_WITH_AS(Session::branch(session, NodeId(2), 4, recorder),
                       "branch: expected a node that may become text; found node 2, which is a "
                       "probe. Branch from the node it hangs below",
                       Error);
  CHECK_NOTHROW(Session::branch(session, NodeId(1), 4, recorder)->run());
}

}  // namespace
}  // namespace triescope::test::test_probes

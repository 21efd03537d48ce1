// Drives a method's drafter by hand, without a model or a session: the test says how the text goes
// on and what each row's logits are, and sees every draft as the tokens below the pending node.
#pragma once

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/method/method.h"
#include "tests/support/text_loop.h"

namespace triescope::test {

struct DraftRig {
  struct Options {
    Tokens eos = {};
    int vocab = 100;
    int cheap_rows = 33;
    std::uint64_t seed = 1;
    std::function<std::vector<std::int32_t>(std::string_view)> encode = {};
    Model* draft_model = nullptr;
    Model* target = nullptr;
    const Tokenizer* tokenizer = nullptr;
    const Tokenizer* draft_tokenizer = nullptr;
  };

  // The last token of `text` is the pending one, the tokens before it are the prompt.
  DraftRig(const MethodInfo& method, const Tokens& text, nlohmann::json settings)
      : DraftRig(method, text, std::move(settings), Options()) {}
  DraftRig(const MethodInfo& method, const Tokens& text, nlohmann::json settings, Options options)
      : prompt(text.begin(), text.end() - 1),
        tree(static_cast<std::int32_t>(prompt.size())),
        rng(options.seed) {
    LoopConfig config{.max_new_tokens = 1 << 20,
                      .eos = std::move(options.eos),
                      .vocab = options.vocab,
                      .seed = options.seed,
                      .cheap_rows = options.cheap_rows};
    if (!settings.is_null()) config.settings = std::move(settings);
    run = run_context(config, method);
    run.prompt = prompt;
    run.encode = std::move(options.encode);
    run.draft_model = options.draft_model;
    run.target = options.target;
    run.tokenizer = options.tokenizer;
    run.draft_tokenizer = options.draft_tokenizer;
    parts = method.make(run);
    write({text.back()});
  }
  DraftRig(const DraftRig&) = delete;
  DraftRig& operator=(const DraftRig&) = delete;

  // The text goes on: drafts on its way become text, all others die.
  void write(const Tokens& tokens) {
    std::vector<NodeId> kept;
    for (const std::int32_t token : tokens) {
      pending = tree.hang(pending, TokenId(token), capture::Source::kGreedy, -1).node;
      kept.push_back(pending);
    }
    for (const NodeId node : drafts.sent)
      if (std::ranges::find(kept, node) == kept.end()) tree[node].status = NodeStatus::kDead;
    drafts = {};
  }

  // One draft phase: the tokens below the pending node of every node that was sent, in their order.
  std::vector<Tokens> draft(int room = 1000) {
    const std::vector<NodeId> frontier{pending};
    DraftContext context{tree, frontier, run, rng, room};
    drafts = parts.drafter->draft(context);
    return below(drafts.sent);
  }
  std::vector<Tokens> below(const std::vector<NodeId>& nodes) const {
    std::vector<Tokens> paths;
    for (NodeId node : nodes) {
      Tokens path;
      for (; node != pending; node = tree[node].parent)
        path.insert(path.begin(), tree[node].token.value);
      paths.push_back(std::move(path));
    }
    return paths;
  }

  // The step's rows, as observe() sees them: the pending node's and those of what was sent.
  void read(const LogitsOf& logits_of) {
    std::vector<NodeId> rows{pending};
    rows.insert(rows.end(), drafts.sent.begin(), drafts.sent.end());
    std::vector<std::vector<float>> logits;
    for (const NodeId node : rows) logits.push_back(logits_of(text_to(node)));
    const std::vector<NodeId> frontier{pending};
    const LogitsFrom computed(
        [&](int row) { return LogitsRow(logits[static_cast<std::size_t>(row)]); });
    parts.drafter->observe({.tree = tree,
                            .run = run,
                            .rows = rows,
                            .frontier = frontier,
                            .step = 1,
                            .computed = computed});
  }
  Tokens text_to(NodeId node) const {
    Tokens text = prompt;
    for (const TokenId token : tree.tokens_to(node)) text.push_back(token.value);
    return text;
  }

  Tokens prompt;
  TokenTree tree;
  Rng rng;
  RunContext run;
  MethodParts parts;
  NodeId pending = TokenTree::root();
  Drafts drafts;  // of the last draft()
};

}  // namespace triescope::test

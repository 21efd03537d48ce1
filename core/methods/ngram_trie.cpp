// N-gram-trie speculation: drafts are the tree of what followed the last tokens earlier in the text
// (core/lookup/ngram_trie.h).
#include <limits>

#include "core/accept/text_acceptor.h"
#include "core/base/error.h"
#include "core/lookup/ngram_trie.h"
#include "core/methods/draft_text.h"
#include "core/methods/text_methods.h"

namespace triescope {
namespace {

class NgramTrieDrafter final : public Drafter {
 public:
  explicit NgramTrieDrafter(const RunContext& run)
      : num_draft_(draft_budget(run)),
        index_generated_(run.settings.value("index_generated", true)),
        prefix_length_(run.settings.value("prefix_length", 3)),
        trie_(run.settings.value("ngram_size", 13), prefix_length_,
              run.settings.value("index_tail", true)) {}

  std::vector<NodeId> draft(DraftContext& context) override {
    std::vector<NodeId> hung;
    if (context.frontier.empty()) return hung;
    const bool first = text_.tokens().empty();
    const auto news = text_.update(context);
    if (index_generated_) {
      trie_.append(news);
    } else if (first) {
      trie_.append(news.first(text_.prompt_tokens()));
    }
    const auto answer =
        trie_.continuations(text_.tokens(), num_draft_, context.room, context.run.eos_token_ids);
    std::vector<NodeId> nodes;
    nodes.reserve(answer.nodes.size());
    for (const auto& found : answer.nodes) {
      const NodeId parent = found.parent < 0 ? context.frontier.front()
                                             : nodes[static_cast<std::size_t>(found.parent)];
      const NodeId node =
          context.tree.add(parent, TokenId(found.token), capture::Source::kNgramTrie,
                           std::numeric_limits<float>::quiet_NaN());
      nodes.push_back(node);
      hung.push_back(node);
    }
    return hung;
  }

 private:
  int num_draft_;
  bool index_generated_;
  int prefix_length_;
  NgramTrie trie_;
  DraftText text_;
};

}  // namespace

MethodInfo ngram_trie_method() {
  MethodInfo info;
  info.name = "ngram_trie";
  info.title = "N-gram trie speculation";
  info.summary =
      "Drafts a tree of what followed the last tokens earlier in the text and checks it in one "
      "forward. Pays where "
      "the output repeats its prompt: summaries, answers from documents, code edits.";
  info.paper =
      "Faster In-Context Learning for LLMs via N-Gram Trie Speculative Decoding, Chen et al., "
      "EMNLP 2025";
  info.lossless = true;
  info.drafts = true;
  info.parameters = {
      {.name = "ngram_size",
       .kind = ParameterKind::kInteger,
       .default_value = 13,
       .minimum = 2,
       .maximum = 256,
       .choices = {},
       .help = "Tokens of a window: up to prefix_length of them are the key, the rest its "
               "continuation."},
      {.name = "prefix_length",
       .kind = ParameterKind::kInteger,
       .default_value = 3,
       .minimum = 1,
       .maximum = 32,
       .choices = {},
       .help = "Longest key: the last tokens of the text are looked up from this many down to 1. "
               "Less than ngram_size."},
      {.name = "num_draft",
       .kind = ParameterKind::kInteger,
       .default_value = 0,
       .minimum = 0,
       .maximum = 1024,
       .choices = {},
       .help = "At most this many draft nodes a step: the most frequent ones, of equals those seen "
               "last. 0: the paper's 32 on a GPU; on a CPU, where rows are dearer, 11."},
      {.name = "index_tail",
       .kind = ParameterKind::kBoolean,
       .default_value = true,
       .choices = {},
       .help = "Also index windows that the end of the text cuts short."},
      {.name = "index_generated",
       .kind = ParameterKind::kBoolean,
       .default_value = true,
       .choices = {},
       .help = "Also index generated tokens as they come; off = the prompt alone."},
  };
  for (auto& p : verify_parameters()) info.parameters.push_back(std::move(p));
  info.make = [](const RunContext& run) {
    const int n = run.settings.value("ngram_size", 13),
              prefix = run.settings.value("prefix_length", 3);
    if (prefix >= n)
      throw Error(ErrorCode::kInvalidArgument, "prefix_length: expected less than ngram_size (" +
                                                   std::to_string(n) + "), found " +
                                                   std::to_string(prefix));
    return MethodParts{std::make_unique<NgramTrieDrafter>(run),
                       std::make_unique<TextAcceptor>(run, deterministic_rule(run.settings))};
  };
  return info;
}

}  // namespace triescope

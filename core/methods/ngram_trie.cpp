// N-gram-trie speculation: the drafts are the tree of what followed the last tokens earlier in the
// text (core/lookup/ngram_trie.h).
#include "core/lookup/ngram_trie.h"
#include "core/base/error.h"
#include "core/methods/draft_budget.h"
#include "core/methods/draft_text.h"
#include "core/methods/drafts_one_text.h"
#include "core/methods/text_methods.h"

namespace triescope {
namespace {

constexpr int kPublishedDrafts = 32;  // as in the paper

class NgramTrieDrafter final : public Drafter {
 public:
  explicit NgramTrieDrafter(const RunContext& run)
      : budget_(run, "num_draft", kPublishedDrafts),
        index_generated_(run.settings.boolean("index_generated")),
        trie_(run.settings.integer("ngram_size"), run.settings.integer("prefix_length"),
              run.settings.boolean("index_tail")) {}

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    const bool first = text_.tokens().empty();
    const auto news = text_.update(context);
    if (index_generated_) {
      trie_.append(news);
    } else if (first) {
      trie_.append(news.first(text_.prompt_tokens()));
    }
    auto answer = trie_.continuations(text_.tokens(), budget_.most(), context.room,
                                      context.run.eos_token_ids);
    budget_.limit(text_.tokens(), answer);
    hang_answer(context, answer, drafts);
    return drafts;
  }

 private:
  DraftBudget budget_;
  bool index_generated_;
  NgramTrie trie_;
  DraftText text_;
};

}  // namespace

MethodInfo ngram_trie_method() {
  MethodInfo info;
  info.name = "ngram_trie";
  info.title = "N-gram trie speculation";
  info.summary =
      "Drafts a tree of what followed the last tokens earlier in the text and checks it "
      "in one forward. Pays where the output repeats its prompt: summaries, answers from "
      "documents, code edits.";
  info.paper =
      "Faster In-Context Learning for LLMs via N-Gram Trie Speculative Decoding, Chen et "
      "al., EMNLP 2025";
  info.drafter_name = "n-gram trie";
  info.drafter_title = "N-gram trie";
  info.drafter_kind = capture::DrafterKind::kText;
  info.parameters = {
      integer("ngram_size", "N-gram Size", 13, 2, 256,
              "Tokens of a window: up to prefix_length of them are the key, the rest its "
              "continuation."),
      integer("prefix_length", "Longest Key", 3, 1, 32,
              "The last tokens of the text are looked up from this many down to 1; less than "
              "ngram_size."),
      zero_is(
          "auto",
          integer(
              "num_draft", "Drafts per Step", 0, 0, 1024,
              "At most this many draft nodes a step: the most frequent ones, among ties those "
              "seen last. 0: as many as pay, by what came true before, at most the paper's 32; to begin "
              "with 32 on a GPU; on a CPU, where rows are dearer, 11, with 16-bit weights 7, with "
              "quantised ones 4.")),
      boolean("index_tail", "Index the Tail", true,
              "Also index windows that the end of the text cuts short."),
      boolean("index_generated", "Index New Tokens", true,
              "Also index generated tokens as they come; off = the prompt alone."),
  };
  drafts_one_text(info, [](const RunContext& run) {
    const int n = run.settings.integer("ngram_size"),
              prefix = run.settings.integer("prefix_length");
    if (prefix >= n)
      throw Error(ErrorCode::kInvalidArgument, "prefix_length: expected less than ngram_size (" +
                                                   std::to_string(n) + "), found " +
                                                   std::to_string(prefix));
    return std::make_unique<NgramTrieDrafter>(run);
  });
  return info;
}

}  // namespace triescope

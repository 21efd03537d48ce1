// Prompt lookup decoding: the draft is a copy of what followed the last few tokens where they stood
// before. Source: A. Saxena, "Prompt Lookup Decoding", 2023; transformers 5.17.0,
// PromptLookupCandidateGenerator.
#include <algorithm>

#include "core/methods/draft_budget.h"
#include "core/methods/draft_text.h"
#include "core/methods/drafts_one_text.h"
#include "core/methods/text_methods.h"

namespace triescope {
namespace {

constexpr int kLookupTokens = 10;

class PromptLookupDrafter final : public Drafter {
 public:
  explicit PromptLookupDrafter(const RunContext& run)
      : max_ngram_(run.settings.integer("max_matching_ngram_size")),
        budget_(run, "prompt_lookup_num_tokens", kLookupTokens),
        latest_(run.settings.text("match") == "latest") {}

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    text_.update(context);
    NgramTrie::Answer answer = look_up(context);
    budget_.limit(text_.tokens(), answer);
    hang_answer(context, answer, drafts);
    return drafts;
  }

 private:
  // Returns what followed an earlier occurrence of the longest suffix that has one. That takes a
  // few thousand comparisons, so no index is needed.
  NgramTrie::Answer look_up(const DraftContext& context) const {
    const auto text = text_.tokens();
    const std::size_t size = text.size();
    for (std::size_t n = std::min(static_cast<std::size_t>(max_ngram_), size > 0 ? size - 1 : 0);
         n >= 1; --n) {
      const auto suffix = text.last(n);
      // An occurrence that starts at i is followed by text[i + n]; the suffix itself starts at size
      // - n.
      for (std::size_t k = 0; k < size - n; ++k) {
        const std::size_t i = latest_ ? size - n - 1 - k : k;
        if (text[i + n - 1] != suffix.back() || !std::ranges::equal(text.subspan(i, n), suffix))
          continue;
        return chain_answer(
            context, static_cast<int>(n),
            text.subspan(i + n, std::min(static_cast<std::size_t>(budget_.most()), size - i - n)));
      }
    }
    return {};
  }

  int max_ngram_;
  DraftBudget budget_;
  bool latest_;
  DraftText text_;
};

}  // namespace

MethodInfo prompt_lookup_method() {
  MethodInfo info;
  info.name = "prompt_lookup";
  info.title = "Prompt lookup";
  info.summary =
      "Looks for the last few tokens earlier in the text and drafts what followed them "
      "there. The simplest drafter: no model, no index.";
  info.paper = "Prompt Lookup Decoding, Apoorv Saxena, 2023";
  info.drafter_name = "prompt lookup";
  info.drafter_kind = capture::DrafterKind::kText;
  info.parameters = {
      integer("max_matching_ngram_size", "Longest Match", 3, 1, 64,
              "The last tokens of the text are looked for from this many down to 1."),
      zero_is(
          "auto",
          integer(
              "prompt_lookup_num_tokens", "Drafts per Step", 0, 0, 512,
              "Tokens to draft a step; fewer where the match stands near the end of the text. 0: as many "
              "as pay, by what came true before, at most 10; to begin with 10, on a CPU, where rows are "
              "dearer, with 16-bit weights 7, with quantised ones 4.")),
      choice("match", "Match", "latest", {"latest", "first"},
             "Which earlier occurrence to copy from; first is what transformers does."),
  };
  drafts_one_text<PromptLookupDrafter>(info);
  return info;
}

}  // namespace triescope

// Suffix-automaton speculation: prompt lookup with the longest match that exists, found at O(1) a
// token.
#include "core/lookup/suffix_automaton.h"

#include <algorithm>

#include "core/methods/draft_budget.h"
#include "core/methods/draft_text.h"
#include "core/methods/drafts_one_text.h"
#include "core/methods/text_methods.h"

namespace triescope {
namespace {

constexpr int kSuffixDrafts = 16;

class SuffixAutomatonDrafter final : public Drafter {
 public:
  explicit SuffixAutomatonDrafter(const RunContext& run)
      : budget_(run, "num_draft", kSuffixDrafts),
        min_match_(run.settings.integer("min_match_tokens")) {}

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    automaton_.append(text_.update(context));
    const auto match = automaton_.match();
    NgramTrie::Answer answer;
    if (match.length >= min_match_) {
      const auto after = text_.tokens().subspan(static_cast<std::size_t>(match.end));
      answer = chain_answer(
          context, match.length,
          after.first(std::min(after.size(), static_cast<std::size_t>(budget_.most()))));
    }
    budget_.limit(text_.tokens(), answer);
    hang_answer(context, answer, drafts);
    return drafts;
  }

 private:
  DraftBudget budget_;
  int min_match_;
  SuffixAutomaton automaton_;
  DraftText text_;
};

}  // namespace

MethodInfo suffix_automaton_method() {
  MethodInfo info;
  info.name = "suffix_automaton";
  info.title = "Suffix automaton";
  info.summary =
      "Drafts what followed the longest suffix of the text that stood in it before, of "
      "any length, where it stood last. A suffix automaton finds it at O(1) a token.";
  info.paper = "SAM Decoding: Speculative Decoding via Suffix Automaton, Hu et al., 2024";
  info.drafter_name = "suffix automaton";
  info.drafter_kind = capture::DrafterKind::kText;
  info.parameters = {
      zero_is(
          "auto",
          integer(
              "num_draft", "Drafts per Step", 0, 0, 1024,
              "Tokens to draft a step; fewer where the match stands near the end of the text. 0: as many "
              "as pay, by what came true before, at most 16; to begin with 16, on a CPU, where rows are "
              "dearer, 11, with 16-bit weights 7, with quantised ones 4.")),
      integer("min_match_tokens", "Shortest Match", 2, 1, 1024,
              "Shorter matches draft nothing: they are right too rarely to be worth their rows."),
  };
  drafts_one_text<SuffixAutomatonDrafter>(info);
  return info;
}

}  // namespace triescope

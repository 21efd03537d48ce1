// SuffixDecoding: two suffix trees with counts, one of this request (prompt and output) and one of past
// answers, say what may follow and how likely it is. The number of drafts follows that evidence: at most so
// many as tokens matched, and none that is too unlikely. Source: Oliaro et al., "SuffixDecoding: Extreme
// Speculative Decoding for Emerging AI Applications", 2024.
#include <memory>

#include "core/base/error.h"
#include "core/lookup/suffix_counts.h"
#include "core/methods/draft_budget.h"
#include "core/methods/draft_text.h"
#include "core/methods/drafts_one_text.h"
#include "core/methods/past_answers.h"
#include "core/methods/text_methods.h"

namespace triescope {
namespace {

constexpr int kSuffixDecodingDrafts = 32;

SuffixCounts past_answers_of(const RunContext& run) {
  SuffixCounts counts;
  const std::string path = run.settings.text("past_answers");
  if (path.empty() || !run.encode) return counts;
  try {
    const auto most = static_cast<std::size_t>(run.settings.integer("past_tokens"));
    for (const auto& answer : read_past_answers(path, most, run.encode)) {
      counts.append(answer);
      counts.append(std::vector<std::int32_t>{SuffixCounts::kEnd});
    }
  } catch (const Error& error) {
    throw Error(error.code(), std::string("past_answers: ") + error.what());
  }
  return counts;
}

class SuffixDecodingDrafter final : public Drafter {
 public:
  explicit SuffixDecodingDrafter(const RunContext& run)
      : budget_(run, "num_draft", kSuffixDecodingDrafts), past_(past_answers_of(run)) {
    question_.max_nodes = budget_.most();
    question_.factor = run.settings.number("max_spec_factor");
    question_.least_product = run.settings.number("min_token_prob");
    question_.tree = run.settings.text("shape") == "tree";
  }

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    request_.append(text_.update(context));
    SuffixCounts::Question question = question_;
    question.max_depth = context.room;
    question.last_tokens = context.run.eos_token_ids;
    SuffixCounts::Found found = request_.best(text_.tokens(), question);
    if (past_.tokens() > 0) {
      SuffixCounts::Found from_past = past_.best(text_.tokens(), question);
      if (from_past.score > found.score) found = std::move(from_past);
    }
    budget_.limit(text_.tokens(), found.answer);
    hang_answer(context, found.answer, drafts);
    return drafts;
  }

 private:
  DraftBudget budget_;
  SuffixCounts::Question question_;
  SuffixCounts request_, past_;
  DraftText text_;
};

}  // namespace

MethodInfo suffix_decoding_method() {
  MethodInfo info;
  info.name = "suffix_decoding";
  info.title = "Suffix decoding";
  info.summary =
      "Drafts what followed endings of the text before, in it or in past answers, and as much of it as the "
      "counts of two suffix trees make likely. A long match drafts far, a short one hardly.";
  info.paper =
      "SuffixDecoding: Extreme Speculative Decoding for Emerging AI Applications, Oliaro et al., NeurIPS "
      "2025";
  info.drafter_name = "suffix decoding";
  info.drafter_kind = capture::DrafterKind::kText;
  info.parameters = {
      zero_is(
          "auto",
          integer(
              "num_draft", "Drafts per Step", 0, 0, 1024,
              "At most this many draft nodes a step, whatever the evidence. 0: as many as pay, by "
              "what came true before, at most 32; to begin with 32 on a GPU; on a CPU, where rows are "
              "dearer, 11, with 16-bit weights 7, with quantised ones 4.")),
      number("max_spec_factor", "Drafts per Match", 1, 0, 16,
             "A match of m tokens drafts at most this many times m nodes."),
      number(
          "min_token_prob", "Least Probability", 0.1, 0, 1,
          "A draft's probability is the product of count / parent's count along its path; less than "
          "this is not drafted."),
      choice(
          "shape", "Shape", "path", {"path", "tree"},
          "What is drafted of the continuations. path: the most frequent one, token by token. tree: "
          "the most probable nodes of all."),
      empty_is("none",
               text("past_answers", "Past Answers", "",
                    "Path of answers that were written before: a UTF-8 text file (a line "
                    "<|endoftext|> between answers), a capture, or a folder of .txt and .tscap "
                    "files, read when the run starts. Empty: this request alone.")),
      integer("past_tokens", "Tokens of Past Answers", 200000, 1, 1 << 24,
              "Of more past answers the newest are kept, of at most this many tokens."),
  };
  drafts_one_text<SuffixDecodingDrafter>(info);
  return info;
}

}  // namespace triescope

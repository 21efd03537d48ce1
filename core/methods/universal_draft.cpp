// Speculative decoding with a draft model of another tokenizer ("universal assisted generation"): the two
// models share text, not ids. The text so far is encoded for the draft model, which writes ahead greedily;
// what it wrote is decoded and encoded for the target. Where a text ends a tokenizer may cut it otherwise than
// in the middle, so a window of the draft model's last tokens goes along, and the drafts are what stands behind
// the longest run of tokens that the window shares with the text. Wrong at a seam, a draft is refused as any
// other.
//
// Source: Timor et al., "Accelerating LLM Inference with Lossless Speculative Decoding Algorithms for
// Heterogeneous Vocabularies", 2025, Algorithm 2; transformers 5.17.0,
// AssistedCandidateGeneratorDifferentTokenizers (of which the text is encoded whole at every step here).
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/count_up.h"
#include "core/base/error.h"
#include "core/base/memory_wait.h"
#include "core/methods/draft_text.h"
#include "core/methods/drafts_one_text.h"
#include "core/methods/text_methods.h"
#include "core/model/model.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope {
namespace {

using Ids = std::vector<std::int32_t>;

// The draft model over one text, whose KV is kept as far as the next text begins with the same tokens.
class DraftWriter {
 public:
  explicit DraftWriter(Model& model) : model_(model), kv_(model.make_kv(256)) {}

  // Up to `most` tokens after `text`, the likeliest each, until one ends the text or has less probability
  // than `least`. REQUIRES: text is not empty and leaves room for them in the context.
  Ids write(const Ids& text, int most, float least, const Ids& ends, const DraftContext& context) {
    const std::size_t shared =
        static_cast<std::size_t>(std::ranges::mismatch(text, known_).in1 - text.begin());
    known_.resize(std::min(shared, text.size() - 1));
    // Where the rope changes with the length, all KV is of the kind that the longest text needs.
    const int limit = model_.info().kv_valid_until;
    const bool is_long = limit > 0 && static_cast<int>(text.size()) + most > limit;
    if (is_long != is_long_) known_.clear();
    is_long_ = is_long;
    with_memory(context.memory, [&] { kv_->reserve(static_cast<int>(text.size()) + most); });
    Ids written;
    LogitsRow row = run(std::span(text).subspan(known_.size()), context);
    while (true) {
      const auto [token, logit] = with_memory(context.memory, [&] { return best_of(row); });
      if (std::ranges::find(ends, token) != ends.end()) break;
      written.push_back(token);
      if (std::exp(logit - row.log_sum_exp()) < least || static_cast<int>(written.size()) == most)
        break;
      row = run({&token, 1}, context);
    }
    return written;
  }

 private:
  // The row of the last of `tokens`, which follow what is known.
  LogitsRow run(std::span<const std::int32_t> tokens, const DraftContext& context) {
    for (const auto [first, count] :
         pieces_of(tokens.size(), static_cast<std::size_t>(model_.info().prefill_rows))) {
      Ids prefix = count_up(known_.size()),
          own = count_up(count, static_cast<std::int32_t>(known_.size()));
      const std::int32_t last = static_cast<std::int32_t>(count) - 1;
      ForwardBatch batch;
      batch.tokens = tokens.subspan(first, count);
      batch.positions = batch.slots = own;
      batch.prefix_slots = prefix;
      batch.logit_rows = {&last, 1};
      batch.text_length = is_long_ ? model_.info().kv_valid_until + 1
                                   : static_cast<std::int32_t>(known_.size() + count);
      output_ =
          with_memory(context.memory, [&] { return model_.forward(batch, *kv_, context.stop); });
      known_.insert(known_.end(), batch.tokens.begin(), batch.tokens.end());
    }
    return output_.row(0);
  }

  static std::pair<std::int32_t, float> best_of(const LogitsRow& row) {
    const std::int32_t token = row.argmax();
    return {token, row[static_cast<std::size_t>(token)]};
  }

  Model& model_;
  std::unique_ptr<KvStorage> kv_;
  Ids known_;             // the tokens whose KV is there, in slots from 0
  bool is_long_ = false;  // that KV is of a text beyond ModelInfo::kv_valid_until
  ForwardOutput output_;
};

// The tokens of `window` behind the longest run that it shares with the end of `text`, less as many as the
// text goes on behind that run; nothing where they share no token. The first of equal runs counts.
Ids behind_common_run(std::span<const std::int32_t> text, const Ids& window) {
  text = text.last(std::min(text.size(), window.size()));
  std::size_t best = 0, window_end = 0, text_end = 0;
  std::vector<std::size_t> above(text.size() + 1), run(text.size() + 1);
  std::size_t best_begin = window.size();  // of the run, in the window
  for (std::size_t i = 0; i < window.size(); ++i) {
    for (std::size_t j = 0; j < text.size(); ++j) {
      run[j + 1] = window[i] == text[j] ? above[j] + 1 : 0;
      const std::size_t begin = i + 1 - run[j + 1];
      const bool first = run[j + 1] == best && best > 0 &&
                         (begin < best_begin || (begin == best_begin && j + 1 < text_end));
      if (run[j + 1] > best || first) {
        best = run[j + 1];
        best_begin = begin;
        window_end = i + 1;
        text_end = j + 1;
      }
    }
    std::swap(above, run);
  }
  const std::size_t from = window_end + (text.size() - text_end);
  if (best == 0 || from >= window.size()) return {};
  return {window.begin() + static_cast<std::ptrdiff_t>(from), window.end()};
}

class UniversalDrafter final : public Drafter {
 public:
  explicit UniversalDrafter(const RunContext& run)
      : target_(*run.tokenizer),
        own_(*run.draft_tokenizer),
        context_(run.draft_model->info().context),
        ends_(own_.eos_token_ids()),
        writer_(*run.draft_model),
        most_(run.settings.integer("num_assistant_tokens")),
        least_(static_cast<float>(run.settings.number("assistant_confidence_threshold"))),
        lookbehind_(static_cast<std::size_t>(run.settings.integer("assistant_lookbehind"))) {}

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    text_.update(context);
    if (context.room < 1) return drafts;
    const Ids ids = own_.encode(target_.decode(text_.tokens(), true), true);
    if (ids.empty() || (context_ > 0 && static_cast<int>(ids.size()) + most_ > context_))
      return drafts;
    const Ids written = writer_.write(ids, most_, least_, ends_, context);
    if (written.empty()) return drafts;
    Ids window(ids.end() - static_cast<std::ptrdiff_t>(std::min(lookbehind_, ids.size())),
               ids.end());
    window.insert(window.end(), written.begin(), written.end());
    const Ids in_target = target_.encode(own_.decode(window, true), false);
    Ids found = behind_common_run(text_.tokens(), in_target);
    const auto unknown =
        std::ranges::find_if(found, [&](std::int32_t id) { return id >= context.run.vocab_size; });
    found.erase(unknown, found.end());
    hang_chain(context, context.frontier.front(), found, capture::Source::kDraft, drafts.sent);
    return drafts;
  }

 private:
  const Tokenizer& target_;
  const Tokenizer& own_;
  int context_;
  Ids ends_;  // of the draft model's texts
  DraftWriter writer_;
  int most_;
  float least_;
  std::size_t lookbehind_;
  DraftText text_;
};

}  // namespace

MethodInfo universal_draft_method() {
  MethodInfo info;
  info.name = "universal_draft";
  info.title = "Draft model of another tokenizer";
  info.summary =
      "A smaller model with a tokenizer of its own writes ahead. Its text is encoded again for the target, "
      "so any model can draft for any other.";
  info.paper =
      "Accelerating LLM Inference with Lossless Speculative Decoding Algorithms for Heterogeneous "
      "Vocabularies, Timor et al., ICML 2025";
  info.drafter_name = "universal draft";
  info.drafter_title = "Draft model";
  info.drafter_kind = capture::DrafterKind::kModel;
  info.needs = Need::kDraftModel;
  info.any_vocabulary = true;
  info.parameters = {
      integer(
          "num_assistant_tokens", "Drafts per Step", 4, 1, 256,
          "Tokens that the draft model writes ahead, in its own tokens; the target may need more or "
          "fewer for the same text."),
      zero_is("off", number("assistant_confidence_threshold", "Least Confidence", 0, 0, 1,
                            "The draft model stops behind a token that it gives a smaller "
                            "probability. 0: off.")),
      integer(
          "assistant_lookbehind", "Look-behind", 10, 1, 1024,
          "So many of the draft model's tokens before its drafts are encoded with them, to find "
          "where the text goes on."),
  };
  drafts_one_text(info, [](const RunContext& run) {
    if (run.tokenizer == nullptr || run.draft_tokenizer == nullptr)
      throw Error(ErrorCode::kInvalidArgument,
                  "universal_draft: expected two models with their tokenizers; found models alone");
    for (const auto& [tokenizer, whose] :
         {std::pair(run.tokenizer, "the model"), {run.draft_tokenizer, "the draft model"}})
      if (!tokenizer->encodes_text())
        throw Error(ErrorCode::kNotSupported,
                    "universal_draft: expected tokenizers that encode text; " + std::string(whose) +
                        " came without one");
    return std::make_unique<UniversalDrafter>(run);
  });
  return info;
}

}  // namespace triescope

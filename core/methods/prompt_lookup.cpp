// Prompt lookup decoding: the draft is a copy of what followed the last few tokens where they stood
// before. Source: A. Saxena, "Prompt Lookup Decoding", 2023; transformers 5.17.0,
// PromptLookupCandidateGenerator.
#include <algorithm>

#include "core/accept/text_acceptor.h"
#include "core/methods/draft_text.h"
#include "core/methods/text_methods.h"

namespace triescope {
namespace {

class PromptLookupDrafter final : public Drafter {
 public:
  explicit PromptLookupDrafter(const nlohmann::json& settings)
      : max_ngram_(settings.value("max_matching_ngram_size", 3)),
        num_tokens_(settings.value("prompt_lookup_num_tokens", 10)),
        latest_(settings.value("match", std::string("latest")) == "latest") {}

  std::vector<NodeId> draft(DraftContext& context) override {
    std::vector<NodeId> hung;
    if (context.frontier.empty()) return hung;
    text_.update(context);
    const auto found = look_up(text_.tokens());
    hang_chain(context, context.frontier.front(), found, capture::Source::kPromptLookup, hung);
    return hung;
  }

 private:
  // What followed an earlier occurrence of the longest suffix that has one. A few thousand
  // comparisons: no index needed.
  std::span<const std::int32_t> look_up(std::span<const std::int32_t> text) const {
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
        return text.subspan(i + n, std::min(static_cast<std::size_t>(num_tokens_), size - i - n));
      }
    }
    return {};
  }

  int max_ngram_;
  int num_tokens_;
  bool latest_;
  DraftText text_;
};

}  // namespace

MethodInfo prompt_lookup_method() {
  MethodInfo info;
  info.name = "prompt_lookup";
  info.title = "Prompt lookup";
  info.summary =
      "Looks for the last few tokens earlier in the text and drafts what followed them there. The "
      "simplest drafter: "
      "no model, no index.";
  info.paper = "Prompt Lookup Decoding, Apoorv Saxena, 2023";
  info.lossless = true;
  info.drafts = true;
  info.parameters = {
      {.name = "max_matching_ngram_size",
       .kind = ParameterKind::kInteger,
       .default_value = 3,
       .minimum = 1,
       .maximum = 64,
       .choices = {},
       .help = "The last tokens of the text are looked for from this many down to 1."},
      {.name = "prompt_lookup_num_tokens",
       .kind = ParameterKind::kInteger,
       .default_value = 10,
       .minimum = 1,
       .maximum = 512,
       .choices = {},
       .help = "Tokens to draft; fewer where the match stands near the end of the text."},
      {.name = "match",
       .kind = ParameterKind::kChoice,
       .default_value = "latest",
       .choices = {"latest", "first"},
       .help = "Which earlier occurrence to copy from; first is what transformers does."},
  };
  for (auto& p : verify_parameters()) info.parameters.push_back(std::move(p));
  info.make = [](const RunContext& run) {
    return MethodParts{std::make_unique<PromptLookupDrafter>(run.settings),
                       std::make_unique<TextAcceptor>(run, deterministic_rule(run.settings))};
  };
  return info;
}

}  // namespace triescope

// A lecturer's own sentences of the narration, laid over sentences that are there. What the reader gives
// keeps its promises: known values alone, no digit, one sentence, no more text than the file had.
#include <algorithm>
#include <string>
#include <vector>

#include "core/base/words.h"
#include "tests/fuzz/fuzz.h"
#include "viz/narration/sentences.h"

using namespace triescope;

namespace {

const std::string& every_sentence() {
  static const std::string text = [] {
    std::string all;
    for (const viz::SentenceKind& kind : viz::sentence_kinds())
      all += "[" + std::string(kind.name) + "]\n" + (kind.is_long() ? "Words.\n" : "") +
             (kind.is_short() ? "short: words\n" : "");
    return all;
  }();
  return text;
}

bool has_digit(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void check(bool kept) {
  if (!kept) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::tolerate_refusal([&] {
    const std::string given(fuzz::text_of(data, size));
    const std::vector<viz::AssetFile> files = {{.path = "there.txt", .text = every_sentence()},
                                               {.path = "fuzz.txt", .text = given}};
    const viz::Sentences sentences = viz::Sentences::read(files);
    std::size_t bytes = 0, kinds = 0;
    const auto check_parts = [&](const viz::Template& parts, const viz::SentenceKind& kind,
                                 bool may_have_formulas) {
      const std::vector<std::string> known = words(kind.values);
      check(!parts.empty());
      for (const viz::TemplatePart& part : parts) {
        check(may_have_formulas || !has_digit(part.one + part.many));
        if (part.kind == viz::TemplatePart::Kind::kWords) {
          check(!part.text.empty() && (may_have_formulas || !has_digit(part.text)));
          check(part.text.find('}') == std::string::npos);
        } else {
          check(std::find(known.begin(), known.end(), part.text) != known.end());
        }
        bytes += part.text.size() + part.one.size() + part.many.size();
      }
      ++kinds;
    };
    for (const viz::SentenceKind& kind : viz::sentence_kinds()) {
      if (kind.is_short()) check_parts(sentences.short_of(kind.name), kind, true);
      if (!kind.is_long()) continue;
      const viz::Template& parts = sentences.at(kind.name);
      check_parts(parts, kind, false);
      const bool is_item = kind.name.substr(0, 5) == "item.";
      const std::string& end = parts.back().text;
      check(is_item || (parts.back().kind == viz::TemplatePart::Kind::kWords &&
                        std::string(".!?").find(end.back()) != std::string::npos));
    }
    check(bytes <= size + kinds * 6);  // "Words." where the file has no sentence of that name
  });
  return 0;
}

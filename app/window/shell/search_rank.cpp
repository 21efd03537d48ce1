#include "app/window/shell/search_rank.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "app/session/text_tools.h"
#include "core/base/trimmed.h"
#include "core/base/words.h"

namespace triescope::app {
namespace {

enum Rank { kTitleBegins, kTitleWordBegins = kTitleWordRank, kInTitle, kWordsBegin, kAnywhere };

std::string folded(const std::string& text) {
  std::string result = lower(text);
  std::ranges::replace(result, '-', ' ');
  return result;
}

// Only ASCII is split: a byte of a longer character belongs to a word.
bool in_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte);
}

bool begins_a_word(std::string_view text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    if (at == 0 || !in_word(text[at - 1])) return true;
  return false;
}

}  // namespace

std::optional<int> search_rank(const std::string& query, const std::string& title,
                               const std::string& more) {
  const std::string wanted = folded(std::string(trimmed(query))), name = folded(title);
  if (wanted.empty() || name.starts_with(wanted)) return kTitleBegins;
  if (begins_a_word(name, wanted)) return kTitleWordBegins;
  if (name.find(wanted) != std::string::npos) return kInTitle;
  const std::string all = name + "\n" + folded(more);
  const std::vector<std::string> parts = words(wanted);
  const auto each = [&](auto holds) { return std::ranges::all_of(parts, holds); };
  if (each([&](const std::string& part) { return begins_a_word(all, part); })) return kWordsBegin;
  if (each([&](const std::string& part) { return all.find(part) != std::string::npos; }))
    return kAnywhere;
  return std::nullopt;
}

}  // namespace triescope::app

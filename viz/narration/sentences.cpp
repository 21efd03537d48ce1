#include "viz/narration/sentences.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "core/base/trimmed.h"
#include "core/base/words.h"

namespace triescope::viz {
namespace {

constexpr std::size_t kMaxBytes = 1u << 20;  // largest file

[[noreturn]] void refuse(const AssetFile& file, int line, const std::string& message) {
  throw Error(ErrorCode::kCorruption, file.path + ":" + std::to_string(line) + ": " + message);
}

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

bool ends_sentence(char c) { return c == '.' || c == '!' || c == '?'; }

// The lines of one sentence as they stand in the file.
struct Block {
  std::string name;
  int line = 0;  // of its head
  std::vector<std::pair<int, std::string>> lines;
};

// Parses the text between two braces.
TemplatePart value_part(const AssetFile& file, int line, const std::string& inside,
                        const std::vector<std::string>& known) {
  TemplatePart part{.kind = TemplatePart::Kind::kValue, .text = inside};
  if (const auto colon = inside.find(':'); colon != std::string::npos) {
    const auto bar = inside.find('|', colon);
    if (bar == std::string::npos || inside.find('|', bar + 1) != std::string::npos)
      refuse(file, line,
             "expected two words with a bar between them, as {drafts:draft|drafts}; found {" +
                 inside + "}");
    part = {.kind = TemplatePart::Kind::kChoice,
            .text = inside.substr(0, colon),
            .one = inside.substr(colon + 1, bar - colon - 1),
            .many = inside.substr(bar + 1)};
  }
  if (std::find(known.begin(), known.end(), part.text) == known.end())
    refuse(file, line,
           "this sentence has no value '" + part.text + "'; it has " +
               (known.empty() ? "none" : listed(known)) + did_you_mean(part.text, known));
  return part;
}

// Checks the words from the character `first` on; those before it were checked already. A text of
// many short lines therefore takes no longer than one long line.
void check_words(const AssetFile& file, int line, const std::string& words, std::size_t first = 0) {
  if (words.find('}', first) != std::string::npos)
    refuse(file, line, "found '}' without '{' before it");
  for (std::size_t i = first; i < words.size(); ++i)
    if (words[i] >= '0' && words[i] <= '9')
      refuse(file, line,
             std::string("found the digit '") + words[i] +
                 "'; a number is a value, which is another one in every step");
  // A full stop may end the part that was checked already.
  for (std::size_t i = first > 0 ? first - 1 : 0; i + 1 < words.size(); ++i)
    if (ends_sentence(words[i]) && words[i + 1] == ' ')
      refuse(file, line,
             "expected one sentence; found more after '" + words.substr(0, i + 1) + "'");
}

// Joins the lines by spaces. Empty: the sentence has no text.
Template parse(const AssetFile& file, const Block& block, const std::vector<std::string>& known) {
  Template result;
  std::string words;
  int last_line = block.line;
  std::size_t checked = 0;  // characters of `words`
  for (const auto& [line, text] : block.lines) {
    last_line = line;
    if (!words.empty() || !result.empty()) words += ' ';
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '{') {
        words += text[i];
        continue;
      }
      const auto end = text.find('}', i);
      if (end == std::string::npos) refuse(file, line, "found '{' without '}' in the same line");
      check_words(file, line, words, checked);
      if (!words.empty()) result.push_back({.text = words});
      words.clear();
      checked = 0;
      result.push_back(value_part(file, line, text.substr(i + 1, end - i - 1), known));
      const TemplatePart& made = result.back();
      check_words(file, line, made.one + made.many);
      i = end;
    }
    check_words(file, line, words, checked);
    checked = words.size();
  }
  const bool is_item = block.name.starts_with("item.");
  if (!is_item && (words.empty() || !ends_sentence(words.back())))
    refuse(file, last_line, "expected a full stop at the end of [" + block.name + "]");
  if (!words.empty()) result.push_back({.text = words});
  return result;
}

}  // namespace

Sentences Sentences::read(std::span<const AssetFile> files) {
  Sentences all;
  std::vector<std::string> names;
  for (const SentenceKind& kind : sentence_kinds()) names.emplace_back(kind.name);
  for (const AssetFile& file : files) {
    if (file.text.size() > kMaxBytes)
      refuse(file, 1,
             "expected at most a megabyte; found " + std::to_string(file.text.size()) + " bytes");
    std::vector<Block> blocks;
    std::istringstream in(file.text);
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      const std::string text(trimmed(line));
      if (text.empty() || text[0] == '#') continue;
      if (text[0] == '[') {
        if (text.back() != ']') refuse(file, number, "expected ']' at the end of '" + text + "'");
        const std::string name = text.substr(1, text.size() - 2);
        if (std::find(names.begin(), names.end(), name) == names.end() &&
            !name.starts_with(kDrafterSentence))
          refuse(file, number, "there is no sentence [" + name + "]" + did_you_mean(name, names));
        for (const Block& other : blocks)
          if (other.name == name)
            refuse(file, number,
                   "[" + name + "] stands in line " + std::to_string(other.line) + " already");
        blocks.push_back({name, number, {}});
        continue;
      }
      if (blocks.empty())
        refuse(file, number, "expected a sentence's name, as [accept.bonus], first");
      blocks.back().lines.emplace_back(number, text);
    }
    for (const Block& block : blocks) {
      if (block.lines.empty()) refuse(file, block.line, "[" + block.name + "] has no text");
      const std::string of_kind =
          block.name.starts_with(kDrafterSentence) ? "draft.by.other" : block.name;
      const auto kind = std::find(names.begin(), names.end(), of_kind) - names.begin();
      all.by_name_[block.name] =
          parse(file, block, words(sentence_kinds()[static_cast<std::size_t>(kind)].values));
    }
  }
  for (const std::string& name : names)
    if (!all.by_name_.contains(name))
      throw Error(ErrorCode::kCorruption, "narration: no file has the sentence [" + name + "]");
  return all;
}

const Template& Sentences::at(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end())
    throw Error(ErrorCode::kInvalidArgument,
                "narration: there is no sentence [" + std::string(name) + "]");
  return found->second;
}

}  // namespace triescope::viz

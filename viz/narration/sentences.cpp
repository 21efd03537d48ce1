#include "viz/narration/sentences.h"

#include <algorithm>
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

constexpr std::string_view kShort = "short:";

using Form = SentenceKind::Form;
using Lines = std::vector<std::pair<int, std::string>>;

// One sentence as it stands in the file.
struct Block {
  std::string name;
  int line = 0;  // of its head
  Lines sentence = {}, in_short = {};
  bool has_short = false;
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

// Whether the digit belongs to a formula: "min(1, p/q)".
bool is_of_formula(const std::string& words, std::size_t i) { return i > 0 && words[i - 1] == '('; }

// Checks the words from the character `first` on; those before it were checked already. A text of
// many short lines therefore takes no longer than one long line.
void check_words(const AssetFile& file, int line, const std::string& words, Form form,
                 std::size_t first = 0) {
  if (words.find('}', first) != std::string::npos)
    refuse(file, line, "found '}' without '{' before it");
  for (std::size_t i = first; i < words.size(); ++i)
    if (words[i] >= '0' && words[i] <= '9' && !(form == Form::kShort && is_of_formula(words, i)))
      refuse(file, line,
             std::string("found the digit '") + words[i] +
                 "'; a number is a value, which is another one in every step");
  // A full stop may end the part that was checked already.
  for (std::size_t i = first > 0 ? first - 1 : 0; i + 1 < words.size(); ++i)
    if (ends_sentence(words[i]) && words[i + 1] == ' ')
      refuse(file, line,
             "expected one sentence; found more after '" + words.substr(0, i + 1) + "'");
}

// Joins the lines by spaces.
Template parse(const AssetFile& file, const Block& block, const std::vector<std::string>& known,
               Form form) {
  Template result;
  std::string words;
  int last_line = block.line;
  std::size_t checked = 0;  // characters of `words`
  for (const auto& [line, text] : form == Form::kShort ? block.in_short : block.sentence) {
    last_line = line;
    if (!words.empty() || !result.empty()) words += ' ';
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '{') {
        words += text[i];
        continue;
      }
      const auto end = text.find('}', i);
      if (end == std::string::npos) refuse(file, line, "found '{' without '}' in the same line");
      check_words(file, line, words, form, checked);
      if (!words.empty()) result.push_back({.text = words});
      words.clear();
      checked = 0;
      result.push_back(value_part(file, line, text.substr(i + 1, end - i - 1), known));
      const TemplatePart& made = result.back();
      check_words(file, line, made.one + made.many, form);
      i = end;
    }
    check_words(file, line, words, form, checked);
    checked = words.size();
  }
  const bool needs_stop = form == Form::kLong && !block.name.starts_with("item.");
  if (needs_stop && (words.empty() || !ends_sentence(words.back())))
    refuse(file, last_line, "expected a full stop at the end of [" + block.name + "]");
  if (!words.empty()) result.push_back({.text = words});
  return result;
}

const SentenceKind* kind_of(std::string_view name) {
  const auto kinds = sentence_kinds();
  const auto found = std::ranges::find(
      kinds, name.starts_with(kDrafterSentence) ? "draft.by.other" : name, &SentenceKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

// Cuts a file into its sentences.
std::vector<Block> blocks_of(const AssetFile& file) {
  std::vector<Block> blocks;
  std::istringstream in(file.text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::string text(trimmed(line));
    if (text.empty() || text[0] == '#') continue;
    if (text[0] == '[') {
      if (text.back() != ']') refuse(file, number, "expected ']' at the end of '" + text + "'");
      const std::string name = text.substr(1, text.size() - 2);
      if (!kind_of(name)) {
        std::vector<std::string> names;
        for (const SentenceKind& kind : sentence_kinds()) names.emplace_back(kind.name);
        refuse(file, number, "there is no sentence [" + name + "]" + did_you_mean(name, names));
      }
      for (const Block& other : blocks)
        if (other.name == name)
          refuse(file, number,
                 "[" + name + "] stands in line " + std::to_string(other.line) + " already");
      blocks.push_back({.name = name, .line = number});
      continue;
    }
    if (blocks.empty())
      refuse(file, number, "expected a sentence's name, as [accept.bonus], first");
    Block& block = blocks.back();
    if (text.starts_with(kShort)) {
      if (!kind_of(block.name)->is_short())
        refuse(file, number,
               "[" + block.name + "] is told in full alone; found '" + std::string(kShort) + "'");
      if (block.has_short)
        refuse(file, number,
               "found '" + std::string(kShort) + "' a second time in [" + block.name + "]");
      block.has_short = true;
      text = trimmed(std::string_view(text).substr(kShort.size()));
      if (text.empty()) continue;
    }
    (block.has_short ? block.in_short : block.sentence).emplace_back(number, text);
  }
  return blocks;
}

}  // namespace

Sentences Sentences::read(std::span<const AssetFile> files) {
  Sentences all;
  for (const AssetFile& file : files) {
    if (file.text.size() > kMaxBytes)
      refuse(file, 1,
             "expected at most a megabyte; found " + std::to_string(file.text.size()) + " bytes");
    for (const Block& block : blocks_of(file)) {
      const SentenceKind& kind = *kind_of(block.name);
      std::vector<std::string> known = words(kind.values);
      if (block.sentence.empty() && block.in_short.empty())
        refuse(file, block.line, "[" + block.name + "] has no text");
      if (!block.sentence.empty() && !kind.is_long())
        refuse(file, block.sentence.front().first,
               "[" + block.name + "] is told in short alone; expected '" + std::string(kShort) +
                   "' first");
      if (!block.sentence.empty())
        all.by_name_[block.name] = parse(file, block, known, Form::kLong);
      std::erase(known, "node");  // a cell stands in its node's row
      if (!block.in_short.empty())
        all.short_by_name_[block.name] = parse(file, block, known, Form::kShort);
    }
  }
  for (const SentenceKind& kind : sentence_kinds()) {
    const std::string name(kind.name);
    if (kind.is_long() && !all.by_name_.contains(name))
      throw Error(ErrorCode::kCorruption, "narration: no file has the sentence [" + name + "]");
    if (kind.is_short() && !all.short_by_name_.contains(name))
      throw Error(ErrorCode::kCorruption,
                  "narration: no file has the short form of [" + name + "]");
  }
  return all;
}

namespace {

const Template& found_in(const std::map<std::string, Template, std::less<>>& sentences,
                         std::string_view name) {
  const auto found = sentences.find(name);
  if (found == sentences.end())
    throw Error(ErrorCode::kInvalidArgument,
                "narration: there is no sentence [" + std::string(name) + "]");
  return found->second;
}

}  // namespace

const Template& Sentences::at(std::string_view name) const { return found_in(by_name_, name); }

const Template& Sentences::short_of(std::string_view name) const {
  return found_in(short_by_name_, name);
}

}  // namespace triescope::viz

// Sentences: the templates of the narration, by name.
//
// A file of them is read line by line. "# …" is a comment, "[accept.bonus]" begins a sentence, the
// lines up to the next one are its text. "{node}" stands for a value; "{drafts:draft|drafts}" for
// one of two words, by the number of a value (one, or any other). A text is exactly one sentence and
// holds no digit: a number that is written down would be the same in every step.
//
// Which sentences there are, and which values each may use, is the program's (sentence_list.cpp).
// Files are trusted as little as any: they are limited in size and refused with file and line.
// Immutable once made; safe from any thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viz/text/assets.h"

namespace triescope::viz {

// A sentence of the program's: its name, and the values it may use.
struct SentenceKind {
  std::string_view name;
  std::string_view values;  // "node p u": names, separated by spaces
};
std::span<const SentenceKind> sentence_kinds();
// Files may have any sentence whose name begins like that, with the values of draft.by.other.
inline constexpr std::string_view kDrafterSentence = "draft.how.";

// A piece of a template: words, a value, or a choice of words.
struct TemplatePart {
  enum class Kind { kWords, kValue, kChoice } kind = Kind::kWords;
  std::string text;                 // the words; else the value's name
  std::string one = {}, many = {};  // kChoice
};
using Template = std::vector<TemplatePart>;

class Sentences {
 public:
  // Files in order; a later one's sentence takes the place of an earlier one's of the same name.
  // Error{kCorruption}, with file and line: bad syntax, a sentence or a value that is not known (and
  // which is meant), a digit, no full stop; or a sentence that no file has.
  static Sentences read(std::span<const AssetFile> files);
  // The built-in ones, with those of $TRIESCOPE_ASSETS over them. Errors: read()'s, asset_files()'s.
  static const Sentences& standard();

  // Whether a file has it: of a kind that may be missing.
  bool has(std::string_view name) const { return by_name_.contains(name); }
  // Of the kinds there are.
  const Template& at(std::string_view name) const;

 private:
  std::map<std::string, Template, std::less<>> by_name_;
};

}  // namespace triescope::viz

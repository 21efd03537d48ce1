// Sentences: the narration's templates, by name.
//
// A file is read line by line. "# …" is a comment. "[accept.bonus]" begins a sentence, whose text
// is the lines up to the next one. "{node}" stands for a value, and "{drafts:draft|drafts}" for one
// of two words, by the number of a value (one, or any other). A text is exactly one sentence. It
// holds no digit, because a written number would be the same in every step. A line that begins with
// "short:" begins the same in the few words that a cell of a table has room for; they need no full
// stop, and may have the digit of a formula: "max(0, p - q)".
//
// The program lists the sentences and the values that each may use (sentence_list.cpp). Files are
// not trusted: they are limited in size and refused with file and line. Immutable once made; safe
// from any thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viz/text/assets.h"

namespace triescope::viz {

// A sentence that the program says, and the values it may use.
struct SentenceKind {
  std::string_view name;
  std::string_view values;  // "node p u": names, separated by spaces
  enum class Form { kLong, kShort, kBoth } form = Form::kLong;
  bool is_long() const { return form != Form::kShort; }
  bool is_short() const { return form != Form::kLong; }
};
std::span<const SentenceKind> sentence_kinds();
// Files may add any sentence whose name begins like this, with the values of draft.by.other.
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
  // Reads files in order; a later sentence replaces an earlier one of the same name.
  // Error{kCorruption}, with file and line: bad syntax, an unknown sentence or value (names the
  // nearest known one), a digit, no full stop, or a form of a sentence that no file has.
  static Sentences read(std::span<const AssetFile> files);
  // The built-in sentences, overridden by those of $TRIESCOPE_ASSETS. Errors: those of read() and
  // asset_files().
  static const Sentences& standard();
  // The same, or the built-in ones alone where those of $TRIESCOPE_ASSETS are refused.
  static const Sentences& standard_or_built_in();

  // Whether a file has this sentence. Only optional ones (kDrafterSentence) can be missing.
  bool has(std::string_view name) const { return by_name_.contains(name); }
  // Error{kInvalidArgument}: there is no sentence of this name.
  const Template& at(std::string_view name) const;
  // The short form of a sentence. Error{kInvalidArgument}: it has none.
  const Template& short_of(std::string_view name) const;

 private:
  std::map<std::string, Template, std::less<>> by_name_, short_by_name_;
};

}  // namespace triescope::viz

#include "core/text/tokenizer/pipeline.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/unicode.h"
#include "core/text/tokenizer/byte_alphabet.h"
#include "core/text/tokenizer/unicode_form.h"

namespace triescope::tokenizer {
namespace {

using NormKind = NormalizerStep::Kind;
using PreKind = PreTokenizerStep::Kind;
using Range = std::pair<std::size_t, std::size_t>;

// Cuts `text` at `matches` as `behavior` says. Source: tokenizers, NormalizedString::split.
void cut(std::string_view text, const std::vector<Range>& matches, SplitBehavior behavior,
         bool invert, std::vector<Range>& out) {
  struct Part {
    Range range;
    bool match;
  };
  std::vector<Part> parts;
  std::size_t at = 0;
  for (const Range& match : matches) {
    if (match.first > at) parts.push_back({{at, match.first}, invert});
    parts.push_back({match, !invert});
    at = match.second;
  }
  if (at < text.size()) parts.push_back({{at, text.size()}, invert});
  out.clear();
  switch (behavior) {
    case SplitBehavior::kIsolated:
      for (const Part& part : parts) out.push_back(part.range);
      break;
    case SplitBehavior::kRemoved:
      for (const Part& part : parts)
        if (!part.match) out.push_back(part.range);
      break;
    case SplitBehavior::kContiguous: {
      bool previous = false;
      for (const Part& part : parts) {
        if (!out.empty() && part.match == previous) {
          out.back().second = part.range.second;
        } else {
          out.push_back(part.range);
        }
        previous = part.match;
      }
      break;
    }
    case SplitBehavior::kMergedWithPrevious: {
      bool previous = false;
      for (const Part& part : parts) {
        if (part.match && !previous && !out.empty()) {
          out.back().second = part.range.second;
        } else {
          out.push_back(part.range);
        }
        previous = part.match;
      }
      break;
    }
    case SplitBehavior::kMergedWithNext: {
      bool next = false;
      for (auto it = parts.rbegin(); it != parts.rend(); ++it) {
        if (it->match && !next && !out.empty()) {
          out.back().first = it->range.first;
        } else {
          out.push_back(it->range);
        }
        next = it->match;
      }
      std::reverse(out.begin(), out.end());
      break;
    }
  }
}

const char* regex_of(const PreTokenizerStep& step) {
  switch (step.kind) {
    case PreKind::kSplit:
      return step.pattern.c_str();
    case PreKind::kByteLevel:
      return step.use_regex ? kGpt2Regex : "(?!)";
    case PreKind::kDigits:
      return step.individual_digits ? "\\p{N}" : "\\p{N}+";
    case PreKind::kMetaspace:
      return "(?!)";
  }
  return "(?!)";
}

}  // namespace

void refuse_growth() {
  throw Error(ErrorCode::kNotSupported,
              "the tokenizer makes a text more than 64 times longer, which no real one does");
}

std::string replace_all(std::string_view text, const std::string& pattern,
                        const std::string& content, std::size_t limit) {
  if (pattern.empty()) return std::string(text);
  std::string out;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(pattern, at)) != std::string_view::npos;
       at = found + pattern.size()) {
    out.append(text, at, found - at);
    out += content;
    if (out.size() > limit) refuse_growth();
  }
  out.append(text, at);
  return out;
}

Pipeline::Pipeline(const TokenizerSpec& spec)
    : normalizer_(spec.normalizer), steps_(spec.pre_tokenizer) {
  for (const NormalizerStep& step : normalizer_)
    if (step.kind == NormKind::kReplaceRegex) normalizer_regexes_.emplace_back(step.pattern);
  for (const PreTokenizerStep& step : steps_) regexes_.emplace_back(regex_of(step));
}

std::string Pipeline::normalize(std::string_view given, bool* beginning_removed) const {
  std::string text(given);
  const std::size_t limit = growth_limit(given.size());
  std::size_t regex = 0;
  for (const NormalizerStep& step : normalizer_) {
    if (text.size() > limit) refuse_growth();
    switch (step.kind) {
      case NormKind::kPrepend:
        if (!text.empty()) text.insert(0, step.content);
        break;
      case NormKind::kReplace:
        text = replace_all(text, step.pattern, step.content, limit);
        break;
      case NormKind::kReplaceRegex: {
        std::vector<Range> matches;
        normalizer_regexes_[regex++].find_all(text, matches);
        std::string out;
        std::size_t at = 0;
        for (const Range& match : matches) {
          out.append(text, at, match.first - at);
          out += step.content;
          if (out.size() > limit) refuse_growth();
          at = match.second;
        }
        out.append(text, at);
        text = std::move(out);
        break;
      }
      case NormKind::kNfc:
        text = unicode_form(text, UnicodeForm::kNfc);
        break;
      case NormKind::kNfd:
        text = unicode_form(text, UnicodeForm::kNfd);
        break;
      case NormKind::kNfkc:
        text = unicode_form(text, UnicodeForm::kNfkc);
        break;
      case NormKind::kNfkd:
        text = unicode_form(text, UnicodeForm::kNfkd);
        break;
      case NormKind::kLowercase:
        text = lowercase(text);
        break;
      case NormKind::kStrip:
        if (beginning_removed && step.left && !text.empty() && is_whitespace(decode_utf8(text, 0)))
          *beginning_removed = true;
        text = stripped_of_space(text, step.left, step.right);
        break;
    }
  }
  return text;
}

void Pipeline::split(std::string_view text, bool first, std::vector<std::string>& words) const {
  words.clear();
  if (text.empty()) return;
  words.emplace_back(text);
  std::vector<Range> matches, ranges;
  std::vector<std::string> next;
  bool at_beginning = first;
  const std::size_t limit = growth_limit(text.size());
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const PreTokenizerStep& step = steps_[s];
    next.clear();
    std::size_t total = 0;
    for (const std::string& word : words) total += word.size();
    for (std::size_t w = 0; w < words.size(); ++w) {
      std::string& word = words[w];
      if (total > limit) refuse_growth();
      total -= word.size();
      switch (step.kind) {
        case PreKind::kMetaspace: {
          word = replace_all(word, " ", step.replacement, limit);
          const bool prepend = step.prepend_scheme == "always" ||
                               (step.prepend_scheme == "first" && at_beginning && w == 0);
          if (prepend && word.rfind(step.replacement, 0) != 0) word.insert(0, step.replacement);
          total += word.size();  // each word may get longer
          if (!step.split) {
            next.push_back(std::move(word));
            break;
          }
          // Every replacement begins a new word.
          std::size_t begin = 0;
          for (std::size_t found = word.find(step.replacement, 1); found != std::string::npos;
               found = word.find(step.replacement, found + 1)) {
            next.push_back(word.substr(begin, found - begin));
            begin = found;
          }
          next.push_back(word.substr(begin));
          break;
        }
        case PreKind::kByteLevel: {
          if (step.add_prefix_space && word[0] != ' ') word.insert(0, " ");
          ranges.clear();
          if (step.use_regex) {
            regexes_[s].find_all(word, matches);
            cut(word, matches, SplitBehavior::kIsolated, false, ranges);
          } else {
            ranges.emplace_back(0, word.size());
          }
          for (const Range& range : ranges) {
            std::string mapped;
            for (std::size_t i = range.first; i < range.second; ++i)
              mapped += byte_to_text(static_cast<unsigned char>(word[i]));
            next.push_back(std::move(mapped));
          }
          break;
        }
        case PreKind::kSplit:
        case PreKind::kDigits:
          regexes_[s].find_all(word, matches);
          cut(word, matches,
              step.kind == PreKind::kDigits
                  ? (step.individual_digits ? SplitBehavior::kIsolated : SplitBehavior::kContiguous)
                  : step.behavior,
              step.kind == PreKind::kSplit && step.invert, ranges);
          for (const Range& range : ranges)
            next.push_back(word.substr(range.first, range.second - range.first));
          break;
      }
    }
    std::swap(words, next);
  }
}

}  // namespace triescope::tokenizer

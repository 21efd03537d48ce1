#include "core/text/tokenizer/pre_tokenizer.h"

#include <algorithm>

#include "core/base/unicode.h"
#include "core/text/tokenizer/byte_tokens.h"
#include "core/text/tokenizer/character_classes.h"
#include "core/text/tokenizer/growth.h"

namespace triescope::tokenizer {
namespace {

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

void find_punctuation(std::string_view text, std::vector<Range>& matches) {
  matches.clear();
  for (std::size_t at = 0, length; at < text.size(); at += length) {
    length = utf8_step(text, at);
    if (is_punctuation(decode_utf8(text, at))) matches.emplace_back(at, at + length);
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
    case PreKind::kPunctuation:
      return "(?!)";
  }
  return "(?!)";
}

}  // namespace

PreTokenizer::PreTokenizer(const std::vector<PreTokenizerStep>& steps) : steps_(steps) {
  for (const PreTokenizerStep& step : steps_) regexes_.emplace_back(regex_of(step));
}

void PreTokenizer::split(std::string_view text, bool first, std::vector<std::string>& words) const {
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
        case PreKind::kPunctuation:
          if (step.kind == PreKind::kPunctuation)
            find_punctuation(word, matches);
          else
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

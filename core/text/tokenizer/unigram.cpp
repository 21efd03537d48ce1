#include "core/text/tokenizer/unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/unicode.h"
#include "core/text/tokenizer/byte_tokens.h"

namespace triescope::tokenizer {
namespace {

constexpr double kUnknownPenalty = 10;
// A user-defined symbol of n bytes scores n · (best score) − 0.1.
constexpr double kUserDefinedPenalty = 0.1;
constexpr std::int32_t kNotReached = -2;

}  // namespace

Unigram::Unigram(const TokenizerSpec& spec)
    : trie_(text_tokens(spec)),
      scores_(spec.scores),
      unk_id_(spec.unk_id),
      single_precision_(spec.sentencepiece) {
  if (scores_.size() > spec.vocab.size())
    throw Error(ErrorCode::kCorruption, "expected a score for each of " +
                                            std::to_string(spec.vocab.size()) + " tokens, found " +
                                            std::to_string(scores_.size()));
  double least = std::numeric_limits<double>::infinity();
  most_ = std::numeric_limits<float>::min();
  for (const std::int32_t id : spec.user_defined) {
    user_defined_.resize(spec.vocab.size(), false);
    user_defined_[static_cast<std::size_t>(id)] = true;
  }
  const auto is_normal = [&](std::size_t id) {
    return !(id < spec.hidden.size() && spec.hidden[id]) &&
           !(id < user_defined_.size() && user_defined_[id]);
  };
  for (std::size_t id = 0; id < scores_.size(); ++id) {
    if (!std::isfinite(scores_[id]))
      throw Error(ErrorCode::kCorruption, "expected a finite score of token " + std::to_string(id) +
                                              ", found " + std::to_string(scores_[id]));
    if (single_precision_ && !is_normal(id)) continue;
    least = std::min(least, scores_[id]);
    most_ = std::max(most_, scores_[id]);
  }
  unk_score_ = std::isfinite(least) ? least - kUnknownPenalty : -kUnknownPenalty;
  if (single_precision_) unk_score_ = static_cast<float>(unk_score_);
  scores_.resize(spec.vocab.size(), 0);
  if (spec.byte_fallback) byte_ids_ = byte_token_ids(spec);
}

double Unigram::step_score(std::int32_t id, std::size_t length) const {
  const auto at = static_cast<std::size_t>(id);
  if (user_defined_.empty() || !user_defined_[at]) return scores_[at];
  return static_cast<double>(static_cast<float>(length) * static_cast<float>(most_)) -
         kUserDefinedPenalty;
}

void Unigram::find_best(std::string_view word, std::vector<WordScratch::Place>& places) const {
  places.assign(word.size() + 1, {0, kNotReached, 0});
  const auto reach = [&](std::size_t begin, std::size_t end, std::int32_t id, double step) {
    WordScratch::Place& place = places[end];
    double score = step + places[begin].score;
    if (single_precision_) score = static_cast<float>(score);
    if (place.id != kNotReached && !(score > place.score)) return;
    place = {score, id, static_cast<std::uint32_t>(begin)};
  };
  for (std::size_t begin = 0, length; begin < word.size(); begin += length) {
    length = utf8_step(word, begin);
    bool one_character = false;
    std::int32_t node = trie_.root();
    for (std::size_t end = begin; end < word.size();) {
      node = trie_.next(node, static_cast<unsigned char>(word[end++]));
      if (node < 0) break;
      const std::int32_t id = trie_.value(node);
      if (id < 0) continue;
      reach(begin, end, id, step_score(id, end - begin));
      one_character = one_character || end == begin + length;
    }
    // -1: no token at all.
    if (!one_character) reach(begin, begin + length, unk_id_, unk_score_);
  }
}

std::int32_t Unigram::id_of(std::string_view token) const {
  std::int32_t node = trie_.root();
  for (std::size_t i = 0; i < token.size() && node >= 0; ++i)
    node = trie_.next(node, static_cast<unsigned char>(token[i]));
  return node < 0 ? -1 : trie_.value(node);
}

void Unigram::append_unknown(std::string_view text, std::vector<std::int32_t>& out) const {
  // Also the unknown token's own name, where a text contains it.
  if (const std::int32_t id = id_of(text); id >= 0) {
    out.push_back(id);
    return;
  }
  if (!byte_ids_.empty()) {
    const auto of_byte = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
    if (std::all_of(text.begin(), text.end(), [&](char byte) { return of_byte(byte) >= 0; })) {
      for (const char byte : text) out.push_back(of_byte(byte));
      return;
    }
  }
  if (unk_id_ < 0)
    throw Error(ErrorCode::kNotSupported,
                "the tokenizer's vocabulary lacks '" + std::string(text.substr(0, 40)) +
                    "', and it names no unknown token; leave it out of the prompt");
  out.push_back(unk_id_);
}

void Unigram::encode(std::string_view word, std::vector<std::int32_t>& out,
                     WordScratch& scratch) const {
  std::vector<WordScratch::Place>& places = scratch.places;
  find_best(word, places);
  // The way back, as pairs of byte ranges: turned round below.
  const std::size_t before = out.size();
  std::vector<std::pair<std::size_t, std::size_t>> unknown;  // runs, the last one first
  constexpr std::int32_t kUnknownRun = -3;
  for (std::size_t end = word.size(); end > 0; end = places[end].begin) {
    const WordScratch::Place& place = places[end];
    if (place.id != unk_id_) {
      out.push_back(place.id);
    } else if (out.size() > before && out.back() == kUnknownRun) {
      unknown.back().first = place.begin;
    } else {
      out.push_back(kUnknownRun);
      unknown.emplace_back(place.begin, end);
    }
  }
  std::reverse(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
  if (unknown.empty()) return;
  const std::vector<std::int32_t> ids(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
  out.resize(before);
  for (const std::int32_t id : ids) {
    if (id != kUnknownRun) {
      out.push_back(id);
      continue;
    }
    const auto [begin, end] = unknown.back();
    unknown.pop_back();
    append_unknown(word.substr(begin, end - begin), out);
  }
}

}  // namespace triescope::tokenizer

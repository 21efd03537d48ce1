#include "core/text/tokenizer/score_merges.h"

#include <algorithm>

#include "core/base/count_up.h"
#include "core/base/error.h"
#include "core/base/unicode.h"

namespace triescope::tokenizer {
namespace {

// Limit on the work of splitting tokens in every way, which takes the square of their length. It is
// forty times that of Gemma's 262,144 tokens.
constexpr std::uint64_t kMaxSplitWork = std::uint64_t{1} << 30;

}  // namespace

void merges_from_scores(const std::string& source, const std::vector<float>& scores,
                        const TokenIds& ids, TokenizerSpec& spec, bool ranks_by_score) {
  std::uint64_t work = 0;
  for (const std::string& token : spec.vocab) work += token.size() * token.size();
  if (work > kMaxSplitWork)
    throw Error(ErrorCode::kNotSupported,
                source + ": too many long tokens (the sum of their squared lengths is " +
                    std::to_string(work) + " bytes, at most " + std::to_string(kMaxSplitWork) +
                    ")");
  auto order = count_up(spec.vocab.size());
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  const auto score = [&](std::int32_t id) { return scores[static_cast<std::size_t>(id)]; };
  std::int32_t rank = -1;
  float rank_score = 0;
  for (const std::int32_t id : order) {
    const std::string& token = spec.vocab[static_cast<std::size_t>(id)];
    if (ranks_by_score && !ids.contains(token)) continue;
    std::vector<TokenizerSpec::Merge> ways;
    for (std::size_t at = token.empty() ? 0 : utf8_length(token, 0); at > 0 && at < token.size();) {
      const auto l = ids.find(token.substr(0, at)), r = ids.find(token.substr(at));
      if (l != ids.end() && r != ids.end()) ways.push_back({l->second, r->second, id});
      const std::size_t length = utf8_length(token, at);
      if (length == 0) break;
      at += length;
    }
    // Among the ways to make one token, the best left part comes first, as in transformers.
    std::stable_sort(ways.begin(), ways.end(), [&](const auto& a, const auto& b) {
      return std::pair(score(a.left), score(a.right)) > std::pair(score(b.left), score(b.right));
    });
    spec.merges.insert(spec.merges.end(), ways.begin(), ways.end());
    if (!ranks_by_score) continue;
    if (rank < 0 || score(id) != rank_score) ++rank;
    rank_score = score(id);
    spec.merge_ranks.resize(spec.merges.size(), rank);
  }
}

}  // namespace triescope::tokenizer

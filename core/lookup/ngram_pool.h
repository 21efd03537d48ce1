// NgramPool: n-grams by their first token, the newest first, at most `limit` for each token. An
// n-gram that is added again becomes the newest. Lookahead collects and verifies them. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

namespace triescope {

class NgramPool {
 public:
  explicit NgramPool(std::size_t limit) : limit_(limit) {}

  void add(std::span<const std::int32_t> ngram) {  // REQUIRES: not empty
    auto& known = pool_[ngram.front()];
    std::vector<std::int32_t> rest(ngram.begin() + 1, ngram.end());
    std::erase(known, rest);
    known.push_front(std::move(rest));
    if (known.size() > limit_) known.pop_back();
  }
  // The n-grams that begin with `token`, without that token. Valid until the next add().
  const std::deque<std::vector<std::int32_t>>& find(std::int32_t token) const {
    static const std::deque<std::vector<std::int32_t>> none;
    const auto at = pool_.find(token);
    return at == pool_.end() ? none : at->second;
  }

 private:
  std::size_t limit_;
  std::unordered_map<std::int32_t, std::deque<std::vector<std::int32_t>>> pool_;
};

}  // namespace triescope

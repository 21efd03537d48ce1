// Lookahead's pool of n-grams.
#include <doctest/doctest.h>

#include "core/lookup/ngram_pool.h"

namespace triescope {
namespace {

using Tokens = std::vector<std::int32_t>;

std::vector<Tokens> found(const NgramPool& pool, std::int32_t token) {
  const auto& known = pool.find(token);
  return {known.begin(), known.end()};
}

TEST_CASE("n-gram pool: by first token, newest first, at most `limit` for each") {
  NgramPool pool(2);
  CHECK(found(pool, 1).empty());
  pool.add(Tokens{1, 2, 3});
  CHECK(found(pool, 1) == std::vector<Tokens>{{2, 3}});
  pool.add(Tokens{1, 4, 5});
  pool.add(Tokens{7, 8, 9});
  CHECK(found(pool, 1) == std::vector<Tokens>{{4, 5}, {2, 3}});
  pool.add(Tokens{1, 6, 6});  // the oldest goes; another token's are left alone
  CHECK(found(pool, 1) == std::vector<Tokens>{{6, 6}, {4, 5}});
  CHECK(found(pool, 7) == std::vector<Tokens>{{8, 9}});
  CHECK(found(pool, 2).empty());
}

TEST_CASE("n-gram pool: one that is added again becomes the newest and takes no second place") {
  NgramPool pool(3);
  pool.add(Tokens{1, 2, 3});
  pool.add(Tokens{1, 4, 5});
  pool.add(Tokens{1, 6, 7});
  pool.add(Tokens{1, 2, 3});
  CHECK(found(pool, 1) == std::vector<Tokens>{{2, 3}, {6, 7}, {4, 5}});
  pool.add(Tokens{1, 2, 3});
  CHECK(found(pool, 1) == std::vector<Tokens>{{2, 3}, {6, 7}, {4, 5}});
  pool.add(Tokens{1, 8, 9});
  CHECK(found(pool, 1) == std::vector<Tokens>{{8, 9}, {2, 3}, {6, 7}});
}

}  // namespace
}  // namespace triescope

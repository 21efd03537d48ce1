// Sorts the suffixes of a text of tokens: the order of a suffix array.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/base/thread_pool.h"

namespace triescope {

// Fills order [tokens] with the text's places, sorted by the `depth` tokens that stand there. The end of a
// document (`end_token`) and of the text sort before every token, and what stands behind them does not count;
// of equal suffixes the earlier comes first. REQUIRES: fewer than 2^31 tokens; tokens >= 0 but for end_token.
//
// First by the first token, in buckets, which the pool's threads then sort by two further tokens at a time:
// O(n (log n + depth)), 16 bytes a token of the largest bucket beside the order. `progress` is called from
// this thread with the share of the tokens that are done, from 0 to 1; an exception of it ends the sorting.
void sort_suffixes(std::span<const std::int32_t> tokens, std::int32_t end_token, int depth,
                   std::span<std::int32_t> order, ThreadPool& pool,
                   const std::function<void(double)>& progress = {});

}  // namespace triescope

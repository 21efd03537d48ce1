// Numbers that count up: positions, slots, an order before it is sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace triescope {

// first, first + 1, ...: `count` numbers.
template <class Number = std::int32_t>
std::vector<Number> count_up(std::size_t count, Number first = 0) {
  std::vector<Number> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace triescope

// An fp16 number in memory: a type of its own, so that loads of it and of bf16 differ.
#pragma once

#include <cstdint>

namespace triescope::kernels {

struct Half {
  std::uint16_t bits;
};

}  // namespace triescope::kernels

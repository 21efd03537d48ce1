// An fp16 number as it lies in memory: a type of its own, so that loads of it and of bf16 differ.
#pragma once

#include <cstdint>

namespace triescope::kernels {

struct Half {
  std::uint16_t bits;
};

}  // namespace triescope::kernels

// The content of a piece of the kernels for blocks. Included last.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
// The other kernels of a variant are in its variant_*.cpp.
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include "core/kernels/cpu/linear_impl.h"

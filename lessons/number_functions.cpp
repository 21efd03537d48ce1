#include "lessons/number_functions.h"

#include <algorithm>
#include <cmath>

namespace triescope::lessons {
namespace {

constexpr NumberFunction kNumberFunctions[] = {
    {"min", "min(A, B)", 2, [](std::span<const double> a) { return std::min(a[0], a[1]); }},
    {"max", "max(A, B)", 2, [](std::span<const double> a) { return std::max(a[0], a[1]); }},
    {"abs", "abs(A)", 1, [](std::span<const double> a) { return std::abs(a[0]); }},
    {"round", "round(A)", 1, [](std::span<const double> a) { return std::round(a[0]); }},
};

}  // namespace

std::span<const NumberFunction> number_functions() { return kNumberFunctions; }

}  // namespace triescope::lessons

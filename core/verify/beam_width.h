// How many beams go on at a level of dynamic-width speculative beam sampling. Source: Qin et al.,
// "Dynamic-Width Speculative Beam Decoding for Efficient LLM Inference", 2025, section 3.2. Pure.
#pragma once

#include <span>
#include <vector>

namespace triescope {

// pass[i]: the chance that a draft passes after i drafts were refused in a row (alpha in the paper), for as
// many drafts as there are; after one that passes it starts again with pass[0]. Returns for every k from 0 to
// that number the chance that exactly k of them pass.
std::vector<double> chances_of_passes(std::span<const double> pass);

// The greatest n of which at least n drafts pass with the chance `wanted` or more; at least `least`, which is
// at most the number of drafts.
int beam_width(std::span<const double> pass, double wanted, int least);

}  // namespace triescope

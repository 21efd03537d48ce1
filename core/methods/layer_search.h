// LayerSearch: which parts of its layers a model should leave out while it drafts, found while it decodes. A list
// has a fixed number of parts, attention or MLP (core/model/sublayers.h); its figure is the share of the newest
// tokens that the model without them would have written. Most lists that it tries are drawn at random. Every
// kBayesEvery-th is the one for which a Gaussian process over all figures so far has the best upper bound, mean +
// kappa * deviation, among lists at random and neighbours of the best. The best list changes where one that was
// tried has a better figure. The search ends at kGoodEnough, after kMostTries, or when kPatience tries in a row
// found nothing better.
//
// The same seed and figures give the same lists. Source: Xia et al., "SWIFT: On-the-Fly Self-Speculative
// Decoding for LLM Inference Acceleration", ICLR 2025, section 4.2 and the published code's defaults.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/base/rng.h"

namespace triescope {

class LayerSearch {
 public:
  static constexpr int kBayesEvery = 25, kMostTries = 1000, kPatience = 300;
  static constexpr double kGoodEnough = 0.95;

  // `first`: the list to begin with, parts that are left out, ascending. The model's first and last layer
  // always stay in lists that are found. Error{kInvalidArgument}: `layers` below 3, or more left out than lie
  // between the first and the last.
  LayerSearch(int layers, std::vector<std::int32_t> first, std::uint64_t seed);

  // The list to try next. The first is the one to begin with.
  std::vector<std::int32_t> next();
  // Its figure, 0 to 1. Returns whether it became the best.
  bool report(const std::vector<std::int32_t>& left_out, double figure);

  const std::vector<std::int32_t>& best() const { return best_; }
  double best_figure() const { return best_figure_; }  // -1 = none yet
  int tries() const { return tries_; }
  bool done() const;

 private:
  struct Tried {
    std::vector<std::int32_t> left_out;
    double figure;
  };
  std::vector<std::int32_t> middle() const;  // the parts between the first and the last layer
  std::vector<std::int32_t> at_random();
  std::vector<std::int32_t> neighbour();  // of the best: one part for another
  std::vector<std::int32_t> promising();
  std::size_t below(std::size_t count);  // a number at random

  const int layers_;
  Rng rng_;
  std::vector<std::int32_t> best_;
  double best_figure_ = -1;
  std::deque<Tried> tried_;  // the newest, which the process knows
  int tries_ = 0, in_vain_ = 0;
};

}  // namespace triescope

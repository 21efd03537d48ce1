// What the model tests share: a sequence decoded in one model, logits compared.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace triescope::test {

inline std::vector<std::int32_t> iota(int count, int first = 0) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

// Logits of every row of a causal forward over all of `ids`, slots 0..n-1.
inline std::vector<float> all_logits(Model& model, KvStorage& kv,
                                     const std::vector<std::int32_t>& ids) {
  const std::vector<std::int32_t> order = iota(static_cast<int>(ids.size()));
  ForwardBatch batch;
  batch.tokens = ids;
  batch.positions = batch.slots = batch.logit_rows = order;
  const ForwardOutput output = model.forward(batch, kv);
  return {output.logits.begin(), output.logits.end()};
}

// Logits of the last row alone.
inline std::vector<float> last_logits(Model& model, KvStorage& kv,
                                      const std::vector<std::int32_t>& ids) {
  const std::vector<std::int32_t> order = iota(static_cast<int>(ids.size()));
  const std::vector<std::int32_t> last = {static_cast<std::int32_t>(ids.size()) - 1};
  ForwardBatch batch;
  batch.tokens = ids;
  batch.positions = batch.slots = order;
  batch.logit_rows = last;
  const ForwardOutput output = model.forward(batch, kv);
  return {output.logits.begin(), output.logits.end()};
}

// One more token after slots 0..length-1, into slot `length`.
inline std::vector<float> step_logits(Model& model, KvStorage& kv, int length, std::int32_t token) {
  const std::vector<std::int32_t> tokens = {token}, position = {length}, prefix = iota(length),
                                  own = {length};
  const std::vector<std::int32_t> offsets = {0, 1}, rows = {0};
  ForwardBatch batch;
  batch.tokens = tokens;
  batch.positions = position;
  batch.slots = batch.own_slots = own;
  batch.prefix_slots = prefix;
  batch.own_offsets = offsets;
  batch.logit_rows = rows;
  const ForwardOutput output = model.forward(batch, kv);
  return {output.logits.begin(), output.logits.end()};
}

inline double max_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
    if (!(difference <= largest)) largest = difference;  // NaN stays
  }
  return largest;
}

inline std::int32_t argmax(std::span<const float> row) {
  return static_cast<std::int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

}  // namespace triescope::test

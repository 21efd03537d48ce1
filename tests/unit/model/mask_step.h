// A step with mask rows, for the tests of every executor: a text, two candidates behind it, and two masks
// behind the text and behind each candidate, which see a prefix of random K and V.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/rng.h"
#include "core/model/model.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test {

inline constexpr int kMaskText = 40, kMaskVocab = 64, kMaskPrefix = 3;
// The text's slots come after the prefix's.
inline std::vector<std::int32_t> mask_text() {
  std::vector<std::int32_t> ids;
  for (int i = 0; i < kMaskText; ++i) ids.push_back(i * 13 % kMaskVocab);
  return ids;
}

inline std::vector<float> random_values(std::size_t count, std::uint64_t seed, double spread) {
  Rng rng(seed);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>((2 * rng.uniform() - 1) * spread));
  return values;
}

using MaskRow = TreeRow;

struct MaskRowsBatch : TreeRows {
  ForwardBatch batch(const std::vector<std::int32_t>& prefix, const MaskBatch& masks) const {
    ForwardBatch batch = TreeRows::batch(prefix);
    batch.masks = masks;
    return batch;
  }
};

// A text in slots kMaskPrefix.., the prefix in slots 0.., and a step behind the text: two candidates, and
// two masks behind the text and behind each of them.
struct MaskStep {
  explicit MaskStep(Model& model) : kv(model.make_kv(100)) {
    const ModelInfo& info = model.info();
    embeddings = random_values(static_cast<std::size_t>(2 * info.hidden), 1, 0.3);
    const auto values =
        static_cast<std::size_t>(info.layers * kMaskPrefix * info.kv_heads * info.head_dim);
    keys = random_values(values, 2, 2);
    this->values = random_values(values, 3, 2);
    kv->write(prefix, keys, this->values);
    const std::vector<std::int32_t> ids = mask_text(), positions = iota(kMaskText);
    ForwardBatch prefill;
    prefill.tokens = ids;
    prefill.positions = positions;
    prefill.slots = text;
    model.forward(prefill, *kv);
  }
  MaskBatch masks(int rows) const {
    return {.rows = rows, .embeddings = embeddings, .prefix_slots = prefix};
  }
  static std::vector<MaskRow> candidates() {
    return {{11, kMaskText, 60, {}}, {22, kMaskText + 1, 61, {60}}};
  }
  // Behind the text, behind the first candidate, behind the second.
  static std::vector<MaskRow> mask_rows() {
    std::vector<MaskRow> rows;
    std::vector<std::int32_t> path;
    for (int group = 0; group < 3; ++group) {
      std::vector<std::int32_t> own = path;
      for (int mask = 0; mask < 2; ++mask) {
        rows.push_back({mask, kMaskText + group + mask, 70 + 2 * group + mask, own});
        own.push_back(rows.back().slot);
      }
      path.push_back(60 + group);
    }
    return rows;
  }
  // [candidates, masks] logits.
  std::vector<std::vector<float>> run(Model& model) const {
    MaskRowsBatch rows;
    for (const MaskRow& row : candidates()) rows.add(row);
    for (const MaskRow& row : mask_rows()) rows.add(row);
    const ForwardOutput output = model.forward(rows.batch(text, masks(6)), *kv);
    std::vector<std::vector<float>> all;
    for (int i = 0; i < 8; ++i) {
      const auto row = output.row(i);
      all.emplace_back(row.begin(), row.end());
    }
    return all;
  }

  std::unique_ptr<KvStorage> kv;
  std::vector<float> embeddings, keys, values;
  const std::vector<std::int32_t> prefix = iota(kMaskPrefix), text = iota(kMaskText, kMaskPrefix);
};

}  // namespace triescope::test

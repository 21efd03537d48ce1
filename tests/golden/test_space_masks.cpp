// SPACE's masks on SmolLM2: the logits of their rows behind several roots of a text are those of
// space_masks.py, masks and rows of the text in one forward.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/model/heads/draft_head.h"
#include "core/model/model.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"

namespace triescope::test::test_space_masks {
namespace {

using nlohmann::json;

struct Kind {
  std::string name;
  LoadOptions options;
  double tolerance;  // of a logit
};

TEST_CASE("SPACE: mask rows have the logits of numpy's forward, in every dtype and executor") {
  const auto path = model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed");
  std::ifstream file(source_dir() / "tests/golden/space_masks.json");
  const json golden = json::parse(file);
  const std::vector<std::int32_t> text = golden["text"];
  const auto kinds = {
      Kind{"own kernels", {}, 2e-4},
      Kind{"own kernels, KV in bf16", {.kv_dtype = DType::kBF16}, 0.1},
      Kind{"own kernels, bf16", {.dtype = DType::kBF16}, 0.1},
      Kind{"libtorch", {.reference_kernels = true}, 2e-4},
      Kind{"libtorch, bf16", {.dtype = DType::kBF16, .reference_kernels = true}, 0.5},
  };
  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    const auto model = load_model(path->string(), kind.options);
    const auto head = load_draft_head((source_dir() / "assets/draft/space").string(), *model);
    REQUIRE(head->masks != nullptr);
    const MaskInputs& masks = *head->masks;
    CHECK(masks.count == 3);
    CHECK(masks.prefix == 16);
    const auto kv = model->make_kv(200);
    std::vector<std::int32_t> prefix;
    for (std::int32_t i = 0; i < masks.prefix; ++i) prefix.push_back(i);
    kv->write(prefix, masks.prefix_keys, masks.prefix_values);

    // Every row of the text sees the text alone; then the masks, root by root.
    const auto slot_of = [&](std::int32_t position) { return masks.prefix + position; };
    std::vector<std::int32_t> tokens, positions, slots, own, offsets = {0}, rows;
    const auto add = [&](std::int32_t token, std::int32_t position) {
      rows.push_back(static_cast<std::int32_t>(tokens.size()));
      slots.push_back(slot_of(rows.back()));
      tokens.push_back(token);
      positions.push_back(position);
      own.push_back(slots.back());
      offsets.push_back(static_cast<std::int32_t>(own.size()));
    };
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(text.size()); ++i) {
      for (std::int32_t j = 0; j < i; ++j) own.push_back(slot_of(j));
      add(text[static_cast<std::size_t>(i)], i);
    }
    for (const json& row : golden["rows"]) {
      const std::int32_t root = row["root"], mask = row["mask"];
      for (std::int32_t j = 0; j <= root; ++j) own.push_back(slot_of(j));
      for (std::int32_t j = 0; j < mask; ++j)
        own.push_back(slots[slots.size() - static_cast<std::size_t>(mask - j)]);
      add(mask, root + 1 + mask);
    }
    ForwardBatch batch;
    batch.tokens = tokens;
    batch.positions = positions;
    batch.slots = slots;
    batch.own_slots = own;
    batch.own_offsets = offsets;
    batch.logit_rows = rows;
    batch.masks = {.rows = static_cast<std::int32_t>(golden["rows"].size()),
                   .embeddings = masks.embeddings,
                   .prefix_slots = prefix};
    const ForwardOutput output = model->forward(batch, *kv);
    double largest = 0;
    int row = static_cast<int>(text.size());
    for (const json& expected : golden["rows"]) {
      const LogitsRow logits = output.row(row++);
      for (std::size_t i = 0; i < expected["ids"].size(); ++i)
        largest = std::max(
            largest, std::abs(static_cast<double>(logits[expected["ids"][i].get<std::size_t>()]) -
                              expected["logits"][i].get<double>()));
      if (kind.tolerance < 0.01) CHECK(logits.argmax() == expected["best"].get<std::int32_t>());
    }
    MESSAGE(kind.name << ": largest difference " << largest);
    CHECK(largest < kind.tolerance);
  }
}

}  // namespace
}  // namespace triescope::test::test_space_masks

#include "core/model/visible_slots.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace triescope {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "forward: " + what);
}

void check_range(std::span<const std::int32_t> values, int end, const char* name) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= end) {
      fail(std::string("expected ") + name + " from 0 to " + std::to_string(end - 1) + ", found " +
           std::to_string(values[i]) + " at entry " + std::to_string(i));
    }
  }
}

// Checks the rows whose results are asked for.
void check_rows(std::span<const std::int32_t> wanted, std::size_t rows, const std::string& name) {
  check_range(wanted, static_cast<int>(rows), name.c_str());
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    if (wanted[i] > wanted[i - 1]) continue;
    fail("expected " + name + " in ascending order, found " + std::to_string(wanted[i]) +
         " after " + std::to_string(wanted[i - 1]) + " at entry " + std::to_string(i));
  }
}

void check_feature_layers(std::span<const std::int32_t> wanted, std::int32_t layers) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] != kFinalNorm && (wanted[i] < 0 || wanted[i] > layers)) {
      fail("expected feature layers from 0 (the embeddings) to " + std::to_string(layers) +
           " (after the last layer), or " + std::to_string(kFinalNorm) +
           " (the final norm), found " + std::to_string(wanted[i]) + " at entry " +
           std::to_string(i));
    }
    const auto before =
        std::find(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(i), wanted[i]) -
        wanted.begin();
    if (before != static_cast<std::ptrdiff_t>(i)) {
      fail("expected distinct feature layers, found " + std::to_string(wanted[i]) + " at entries " +
           std::to_string(before) + " and " + std::to_string(i));
    }
  }
}

// Token ids, but of mask rows, whose numbers say which vector they read.
void check_inputs(const ForwardBatch& batch, const formats::ModelConfig& config, int capacity) {
  const MaskBatch& masks = batch.masks;
  const std::size_t rows = batch.tokens.size();
  if (masks.rows < 0 || static_cast<std::size_t>(masks.rows) > rows)
    fail("expected at most " + std::to_string(rows) + " mask rows, found " +
         std::to_string(masks.rows));
  const std::size_t first = rows - static_cast<std::size_t>(masks.rows);
  check_range(batch.tokens.first(first), config.vocab_size, "token ids");
  if (masks.rows == 0) return;
  if (batch.own_offsets.empty()) fail("expected mask rows to have lists of visible slots");
  const auto hidden = static_cast<std::size_t>(config.hidden);
  if (masks.embeddings.size() % hidden != 0)
    fail("expected mask embeddings of " + std::to_string(hidden) + " values each, found " +
         std::to_string(masks.embeddings.size()) + " values");
  check_range(batch.tokens.subspan(first),
              std::min(static_cast<int>(masks.embeddings.size() / hidden), config.vocab_size),
              "mask numbers");
  check_range(masks.prefix_slots, capacity, "slots of the masks' prefix");
}

void check_layers(const ForwardBatch& batch, std::int32_t layers) {
  if (batch.sublayers.empty()) return;
  check_rows(batch.sublayers, static_cast<std::size_t>(2 * layers), "parts of layers");
  if (!batch.feature_layers.empty())
    fail("expected no hidden states of a forward through a part of the layers");
}

}  // namespace

VisibleSlots check_batch(const ForwardBatch& batch, const formats::ModelConfig& config,
                         int position_end, int capacity) {
  const std::size_t rows = batch.tokens.size();
  if (rows == 0) fail("expected at least one row");
  if (batch.positions.size() != rows || batch.slots.size() != rows) {
    fail("expected as many positions and slots as tokens (" + std::to_string(rows) + "), found " +
         std::to_string(batch.positions.size()) + " and " + std::to_string(batch.slots.size()));
  }
  check_inputs(batch, config, capacity);
  check_range(batch.positions, position_end, "positions (the model's context)");
  check_range(batch.slots, capacity, "KV slots");
  check_range(batch.prefix_slots, capacity, "prefix slots");
  check_rows(batch.logit_rows, rows, "logit rows");
  check_feature_layers(batch.feature_layers, static_cast<std::int32_t>(config.layers.size()));
  check_rows(batch.feature_rows, rows, "feature rows");
  check_layers(batch, static_cast<std::int32_t>(config.layers.size()));
  std::vector<bool> written(static_cast<std::size_t>(capacity), false);
  for (const std::int32_t slot : batch.slots) {
    if (written[static_cast<std::size_t>(slot)])
      fail("slot " + std::to_string(slot) + " is written by two rows");
    written[static_cast<std::size_t>(slot)] = true;
  }

  VisibleSlots visible;
  visible.prefix = batch.prefix_slots;
  visible.own = batch.slots;
  if (batch.own_offsets.empty()) return visible;
  if (batch.own_offsets.size() != rows + 1 || batch.own_offsets.front() != 0 ||
      static_cast<std::size_t>(batch.own_offsets.back()) != batch.own_slots.size()) {
    fail("expected own_offsets to have rows + 1 entries, from 0 to the number of own_slots");
  }
  check_range(batch.own_slots, capacity, "own slots");
  for (std::size_t r = 0; r < rows; ++r) {
    const std::int32_t begin = batch.own_offsets[r];
    const std::int32_t end = batch.own_offsets[r + 1];
    if (end <= begin || static_cast<std::size_t>(end) > batch.own_slots.size() ||
        batch.own_slots[static_cast<std::size_t>(end - 1)] != batch.slots[r]) {
      fail("row " + std::to_string(r) +
           ": expected its own slot last in its list of visible slots");
    }
  }
  visible.own = batch.own_slots;
  visible.offsets = batch.own_offsets;
  return visible;
}

void check_shared_embedding(std::span<const std::int32_t> tokens, std::size_t values,
                            const ModelInfo& model) {
  const std::size_t expected = tokens.size() * static_cast<std::size_t>(model.hidden);
  if (values != expected)
    throw Error(ErrorCode::kInvalidArgument, "embed: expected room for " +
                                                 std::to_string(expected) + " values, found " +
                                                 std::to_string(values));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] < 0 || tokens[i] >= model.vocab_size)
      throw Error(ErrorCode::kInvalidArgument,
                  "embed: expected token ids from 0 to " + std::to_string(model.vocab_size - 1) +
                      ", found " + std::to_string(tokens[i]) + " at entry " + std::to_string(i));
}

std::size_t check_shared_states(std::size_t values, const ModelInfo& model) {
  const auto hidden = static_cast<std::size_t>(model.hidden);
  if (values == 0 || values % hidden != 0)
    throw Error(ErrorCode::kInvalidArgument, "output_head: expected rows of " +
                                                 std::to_string(hidden) + " values, found " +
                                                 std::to_string(values) + " values");
  return values / hidden;
}

}  // namespace triescope

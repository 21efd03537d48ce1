// What the model tests share: a sequence decoded in one model, logits compared.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/base/count_up.h"
#include "core/model/model.h"
#include "tests/support/paths.h"

namespace triescope::test {

inline std::vector<std::int32_t> iota(int count, int first = 0) {
  return count_up(static_cast<std::size_t>(count), first);
}

// Logits of every row of a causal forward over all of `ids`, slots 0..n-1.
inline std::vector<float> all_logits(Model& model, KvStorage& kv,
                                     const std::vector<std::int32_t>& ids) {
  const std::vector<std::int32_t> order = iota(static_cast<int>(ids.size()));
  ForwardBatch batch;
  batch.tokens = ids;
  batch.positions = batch.slots = batch.logit_rows = order;
  batch.text_length = static_cast<std::int32_t>(ids.size());
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

// One row of a tree's batch.
struct TreeRow {
  std::int32_t token, position, slot;
  std::vector<std::int32_t> own;  // own slots before itself, in path order
};

// The lists of a batch of such rows.
struct TreeRows {
  std::vector<std::int32_t> tokens, positions, slots, own, offsets = {0}, rows;
  void add(const TreeRow& row) {
    rows.push_back(static_cast<std::int32_t>(tokens.size()));
    tokens.push_back(row.token);
    positions.push_back(row.position);
    slots.push_back(row.slot);
    own.insert(own.end(), row.own.begin(), row.own.end());
    own.push_back(row.slot);
    offsets.push_back(static_cast<std::int32_t>(own.size()));
  }
  // All of them behind `prefix`, logits of each. Borrows this and `prefix`.
  ForwardBatch batch(const std::vector<std::int32_t>& prefix) const {
    ForwardBatch batch;
    batch.tokens = tokens;
    batch.positions = positions;
    batch.slots = slots;
    batch.prefix_slots = prefix;
    batch.own_slots = own;
    batch.own_offsets = offsets;
    batch.logit_rows = rows;
    return batch;
  }
};

inline ForwardOutput run_tree_rows(Model& model, KvStorage& kv,
                                   const std::vector<std::int32_t>& prefix,
                                   const std::vector<TreeRow>& rows) {
  TreeRows lists;
  for (const TreeRow& row : rows) lists.add(row);
  return model.forward(lists.batch(prefix), kv);
}

inline double max_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
    if (std::isnan(difference)) return INFINITY;
    largest = std::max(largest, difference);
  }
  return largest;
}

inline std::int32_t argmax(std::span<const float> row) {
  return static_cast<std::int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

// Values of tensor number `index` of a model of model_families.py: a hash, centred on 0, or 1 for
// a norm.
inline std::vector<float> golden_values(std::uint64_t index, std::uint64_t count, bool is_norm) {
  std::vector<float> values;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t z = (((index + 1) << 32) + i) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    const float unit = static_cast<float>(z >> 40) / 16777216.0f - 0.5f;
    values.push_back(unit * 0.5f + (is_norm ? 1.0f : 0.0f));
  }
  return values;
}

inline std::vector<float> golden_values(const nlohmann::json& tensors, std::size_t index) {
  std::uint64_t count = 1;
  for (const auto& extent : tensors[index][1]) count *= extent.get<std::uint64_t>();
  std::vector<float> values = golden_values(index, count, tensors[index][2].get<bool>());
  if (tensors[index].size() > 3)  // a factor, a power of two
    for (float& value : values) value *= tensors[index][3].get<float>();
  return values;
}

// Writes a model's weights: the header of a safetensors file and its data.
inline void write_weights(const std::filesystem::path& folder, const nlohmann::json& header,
                          const std::string& data) {
  const std::string text = header.dump();
  const std::uint64_t length = text.size();
  std::ofstream file(folder / "model.safetensors", std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << text << data;
}

// Writes config.json and model.safetensors of a case of tests/golden/model_families.json: weights
// by the hash of model_families.py.
// `bf16`: values cut to what BF16 holds, in a file of that type, or (`wide`) of F32.
inline void write_golden_model(const nlohmann::json& entry, const std::filesystem::path& folder,
                               bool bf16 = false, bool wide = false) {
  std::ofstream(folder / "config.json") << entry["config"].dump();
  nlohmann::json header = nlohmann::json::object();
  std::string data;
  for (std::size_t index = 0; index < entry["tensors"].size(); ++index) {
    const auto& tensor = entry["tensors"][index];
    const std::vector<float> values = golden_values(entry["tensors"], index);
    const std::size_t begin = data.size();
    for (const float value : values) {
      char bytes[sizeof value];
      std::memcpy(bytes, &value, sizeof value);
      if (bf16) bytes[0] = bytes[1] = 0;
      data.append(bf16 && !wide ? bytes + 2 : bytes, bf16 && !wide ? 2 : 4);
    }
    header[tensor[0].get<std::string>()] = {{"dtype", bf16 && !wide ? "BF16" : "F32"},
                                            {"shape", tensor[1]},
                                            {"data_offsets", {begin, data.size()}}};
  }
  write_weights(folder, header, data);
}

// The largest difference of `logits` (all positions of the golden ids) to a case's.
inline double golden_difference(const nlohmann::json& entry, std::span<const float> logits) {
  double largest = 0;
  for (const auto& [at, expected] : entry["logits"].items()) {
    const auto row = expected.get<std::vector<float>>();
    largest = std::max(
        largest, max_difference(row, logits.subspan(std::stoul(at) * row.size(), row.size())));
  }
  return largest;
}

// The largest difference of a forward's hidden states to a case's: all its layers, its rows, the
// values it keeps of each.
inline double golden_feature_difference(const nlohmann::json& golden, const nlohmann::json& entry,
                                        Model& model) {
  const auto ids = golden["ids"].get<std::vector<std::int32_t>>();
  const auto rows = golden["feature_rows"].get<std::vector<std::int32_t>>();
  const auto columns = golden["feature_columns"].get<std::size_t>();
  const std::vector<std::int32_t> order = iota(static_cast<int>(ids.size()));
  std::vector<std::int32_t> layers;
  for (const auto& [layer, values] : entry["features"].items()) layers.push_back(std::stoi(layer));
  if (layers.size() != static_cast<std::size_t>(model.info().layers + 2)) return INFINITY;
  const auto kv = model.make_kv(static_cast<int>(ids.size()));
  ForwardBatch batch;
  batch.tokens = ids;
  batch.positions = batch.slots = order;
  batch.text_length = static_cast<std::int32_t>(ids.size());
  batch.feature_layers = layers;
  batch.feature_rows = rows;
  const ForwardOutput output = model.forward(batch, *kv);
  const auto hidden = static_cast<std::size_t>(model.info().hidden);
  std::vector<float> got, want;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::size_t i = 0; i < hidden; i += columns)
        got.push_back(output.features[(l * rows.size() + r) * hidden + i]);
      const auto row = entry["features"][std::to_string(layers[l])][r].get<std::vector<float>>();
      want.insert(want.end(), row.begin(), row.end());
    }
  }
  return max_difference(got, want);
}

// tests/golden/model_families.json.
inline nlohmann::json golden_families() {
  std::ifstream file(source_dir() / "tests" / "golden" / "model_families.json");
  return nlohmann::json::parse(file);
}

// A case of it, written to a folder.
inline void write_golden_case(const std::string& name, const std::filesystem::path& folder) {
  write_golden_model(golden_families()["cases"].at(name), folder);
}

// A case of it, loaded; with two threads unless `options` says how many.
inline std::unique_ptr<Model> golden_model(const std::string& name, LoadOptions options = {}) {
  const TempDir folder;
  write_golden_case(name, folder.path());
  if (options.threads == 0) options.threads = 2;
  return load_model(folder.path().string(), options);
}

}  // namespace triescope::test

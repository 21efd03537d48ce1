#include "core/model/torch/forward_inputs.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace triescope {

ForwardInputs::ForwardInputs(const ForwardBatch& batch, const VisibleSlots& visible,
                             std::span<const RopeTable> ropes, const at::Device& device,
                             StagingBuffer& staging) {
  const std::pair<std::span<const std::int32_t>, at::Tensor*> lists[] = {
      {batch.tokens, &tokens},
      {batch.positions, &positions},
      {batch.slots, &slots},
      {batch.logit_rows, &logit_rows},
      {batch.feature_rows, &feature_rows},
      {visible.prefix, &prefix},
      {visible.own, &own},
      {visible.offsets, &offsets}};
  std::int64_t count = 0;
  for (const auto& [values, tensor] : lists) count += static_cast<std::int64_t>(values.size());
  auto* const host = reinterpret_cast<std::int32_t*>(
      staging.reserve(static_cast<std::size_t>(count) * sizeof(std::int32_t)));
  auto* to = host;
  for (const auto& [values, tensor] : lists) to = std::copy(values.begin(), values.end(), to);
  at::Tensor all = at::empty({count}, at::TensorOptions().dtype(at::kInt).device(device));
  all.copy_(at::from_blob(host, {count}, at::kInt));
  std::int64_t begin = 0;
  for (const auto& [values, tensor] : lists) {
    const auto size = static_cast<std::int64_t>(values.size());
    *tensor = all.narrow(0, begin, size);
    begin += size;
  }

  if (ropes.empty()) return;
  const auto rows = static_cast<std::int64_t>(batch.positions.size());
  std::int64_t angles = 0;
  for (const RopeTable& rope : ropes) angles += rows * rope.dims();
  auto* const host_tables =
      reinterpret_cast<float*>(staging.reserve(static_cast<std::size_t>(angles) * sizeof(float)));
  float* cos = host_tables;
  for (const RopeTable& rope : ropes) {
    const auto half = static_cast<std::size_t>(rope.dims() / 2);
    float* sin = cos + batch.positions.size() * half;
    for (const std::int32_t position : batch.positions) {
      rope.fill(position, std::max(batch.text_length, position + 1), {cos, half}, {sin, half});
      cos += half;
      sin += half;
    }
    cos = sin;
  }
  at::Tensor tables = at::empty({angles}, at::TensorOptions().dtype(at::kFloat).device(device));
  tables.copy_(at::from_blob(host_tables, {angles}, at::kFloat));
  std::int64_t at_table = 0;
  const auto next_table = [&](std::int64_t half) {
    at::Tensor table = tables.narrow(0, at_table, rows * half).view({rows, half});
    at_table += rows * half;
    return table;
  };
  for (const RopeTable& rope : ropes) {
    const std::int64_t half = rope.dims() / 2;
    at::Tensor cosines = next_table(half);
    rotations.push_back({std::move(cosines), next_table(half)});
  }
}

}  // namespace triescope

#include "core/model/torch/torch_kv.h"

#include <algorithm>
#include <string>

#include "core/base/bytes_text.h"
#include "core/base/error.h"
#include "core/model/kv_slots.h"
#include "core/model/layer_route.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope {

TorchKv::TorchKv(const formats::ModelConfig& config, const at::TensorOptions& options, int capacity,
                 std::size_t layers)
    : shapes_(stored_shapes(config, layers)),
      even_(config.has_even_kv()),
      options_(options),
      layers_(shapes_.size()) {
  allocate(std::max(capacity, 1));
}

std::int64_t TorchKv::bytes_per_slot() const {
  std::int64_t values = 0;
  for (const formats::KvShape& shape : shapes_) values += shape.key_values() + shape.value_values();
  return values * static_cast<std::int64_t>(options_.dtype().itemsize());
}

bool TorchKv::fits(const formats::ModelConfig& config, const at::TensorOptions& options,
                   std::size_t layers) const {
  return shapes_ == stored_shapes(config, layers) && options_.device() == options.device() &&
         options_.dtype() == options.dtype();
}

void TorchKv::reserve(int capacity) {
  grow(capacity_, capacity, [this](int wanted) { allocate(wanted); });
}

// Grows tensor by tensor and frees each old one before the next is made: beyond the new storage
// this needs one old tensor. If one is refused, those before it are merely longer than capacity_.
void TorchKv::allocate(int capacity) {
  const auto grow = [&](at::Tensor& tensor, const formats::KvShape& shape) {
    if (shape.heads == 0 || (tensor.defined() && tensor.size(0) == capacity)) return;
    // Filled with zeros: the contents of a masked slot are multiplied by 0, so they must not be
    // NaN.
    at::Tensor larger = at::zeros({capacity, shape.heads, shape.head_dim}, options_);
    if (capacity_ > 0) larger.narrow(0, 0, capacity_).copy_(tensor.narrow(0, 0, capacity_));
    tensor = larger;
  };
  try {
    on_device(options_.device(), [&] {
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        grow(layers_[i].first, shapes_[i]);
        if (shapes_[i].has_values) grow(layers_[i].second, shapes_[i]);
      }
    });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfMemory) throw;
    throw Error(ErrorCode::kOutOfMemory,
                "KV of " + std::to_string(capacity) + " slots needs " +
                    bytes_text(static_cast<double>(bytes_per_slot() * capacity)) + " on " +
                    options_.device().str() + ", which were refused (" + error.what() +
                    "); take fewer beams, a shorter prompt or fewer new tokens, or close what else "
                    "uses the device");
  }
  capacity_ = capacity;
}

void TorchKv::move(std::span<const std::int32_t> from, std::span<const std::int32_t> to) {
  check_move(from, to, capacity_);
  if (from.empty()) return;
  on_device(options_.device(), [&] {
    const at::Tensor source = index_tensor(from, options_.device());
    const at::Tensor target = index_tensor(to, options_.device());
    // A gather that is refused memory has changed nothing: the tensors before it are not moved
    // again.
    for (; moved_tensors_ < 2 * layers_.size(); ++moved_tensors_) {
      auto& [k, v] = layers_[moved_tensors_ / 2];
      at::Tensor& tensor = moved_tensors_ % 2 == 0 ? k : v;
      if (tensor.defined()) tensor.index_copy_(0, target, tensor.index_select(0, source));
    }
    moved_tensors_ = 0;
  });
}

void TorchKv::write(std::span<const std::int32_t> slots, std::span<const float> keys,
                    std::span<const float> values) {
  check_even(even_);
  const formats::KvShape shape = shapes_.front();
  const std::int64_t width = shape.key_values();
  check_write(slots, keys, values, layers_.size() * static_cast<std::size_t>(width), capacity_);
  if (slots.empty()) return;
  on_device(options_.device(), [&] {
    const at::Tensor target = index_tensor(slots, options_.device());
    const auto rows = static_cast<std::int64_t>(slots.size());
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
      const auto of_layer = [&](std::span<const float> all) {
        const auto count = static_cast<std::size_t>(rows * width);
        return rows_tensor(all.subspan(layer * count, count), rows, options_)
            .view({rows, shape.heads, shape.head_dim});
      };
      layers_[layer].first.index_copy_(0, target, of_layer(keys));
      layers_[layer].second.index_copy_(0, target, of_layer(values));
    }
  });
}

}  // namespace triescope

// LogitsRow: one row of logits [vocab] of a forward, wherever it lies. On the host it is those
// numbers. On a device it is what was computed of it there, log-sum-exp and its best tokens, and
// more of it comes to the host only when somebody asks for more. Either way answers are the same but for
// the rounding of the log-sum-exp.
//
// Borrows the numbers or the device's rows: valid as long as they are (ForwardOutput). Not
// thread-safe.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace triescope {

// More best tokens than this a device does not look for: whoever wants more takes whole rows.
inline constexpr int kMostBestTokens = 64;

// The rows of a forward that stay on its device. Errors: kCuda, kOutOfMemory.
class DeviceLogits {
 public:
  virtual ~DeviceLogits() = default;
  virtual std::size_t vocab_size() const = 0;
  virtual float log_sum_exp(int row) const = 0;
  // The best tokens with their logits, best first, ties: the lower id; at least one.
  virtual std::span<const std::pair<float, std::int32_t>> best(int row) const = 0;
  virtual float logit(int row, std::int32_t token) = 0;
  virtual std::span<const float> whole(int row) = 0;  // [vocab] on the host, valid as the rows are
};

class LogitsRow {
 public:
  LogitsRow() = default;
  template <class R>
  requires(!std::same_as<std::remove_cvref_t<R>, LogitsRow> &&
           std::convertible_to<R, std::span<const float>>)
      LogitsRow(R&& on_host)  // NOLINT: the numbers are the row
      : on_host_(std::forward<R>(on_host)) {}
  LogitsRow(DeviceLogits& rows, int row) : rows_(&rows), row_(row) {}

  std::size_t size() const { return rows_ ? rows_->vocab_size() : on_host_.size(); }
  bool empty() const { return size() == 0; }

  // --- of a row on a device, without more of it: ---
  float log_sum_exp() const;  // kernels::log_sum_exp
  // The best tokens that are known already, as top_k() gives them; of a row on the host none.
  std::span<const std::pair<float, std::int32_t>> known_best() const;
  // --- the same as long as known_best() says it, else with the whole row ---
  std::int32_t argmax() const;                                             // ties: the lowest id
  std::vector<std::pair<float, std::int32_t>> top_k(std::size_t k) const;  // kernels::top_k
  // How many tokens come before this one: a higher logit, or the same and a lower id.
  std::int32_t rank(std::int32_t token) const;
  // --- one number more ---
  float operator[](std::size_t token) const;
  // --- the whole row ---
  std::span<const float> whole() const { return rows_ ? rows_->whole(row_) : on_host_; }
  // As a range it is the whole row, and so goes wherever a std::span<const float> is taken.
  const float* data() const { return whole().data(); }
  auto begin() const { return whole().begin(); }
  auto end() const { return whole().end(); }

 private:
  std::span<const float> on_host_;
  DeviceLogits* rows_ = nullptr;
  int row_ = 0;
};

}  // namespace triescope

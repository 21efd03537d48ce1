// LogitsRow: one row of logits [vocab] of a forward, wherever it lies. A row on the host is its
// numbers. A row on a device is what was computed there, its log-sum-exp and its best tokens; more
// of it is copied to the host only when somebody asks. The answers are the same either way, except
// for the rounding of the log-sum-exp.
//
// Borrows the numbers or the device's rows, and is valid as long as they are (ForwardOutput). Not
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

// A device finds at most this many best tokens; whoever wants more takes whole rows.
inline constexpr int kMostBestTokens = 64;

// The rows of a forward that stay on its device. Errors: kCuda, kOutOfMemory.
class DeviceLogits {
 public:
  virtual ~DeviceLogits() = default;
  virtual std::size_t vocab_size() const = 0;
  virtual float log_sum_exp(int row) const = 0;
  // The best tokens with their logits, best first; of equal ones the lower id first. At least one.
  virtual std::span<const std::pair<float, std::int32_t>> best(int row) const = 0;
  virtual float logit(int row, std::int32_t token) = 0;
  // [vocab] on the host, valid as long as the rows
  virtual std::span<const float> whole(int row) = 0;
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

  // --- without fetching more of a row on a device: ---
  float log_sum_exp() const;  // kernels::log_sum_exp
  // The best tokens that are already known, as top_k() gives them; none for a row on the host.
  std::span<const std::pair<float, std::int32_t>> known_best() const;
  // --- from known_best() as far as it goes, else from the whole row ---
  std::int32_t argmax() const;  // of equal ones the lowest id
  std::vector<std::pair<float, std::int32_t>> top_k(std::size_t k) const;  // kernels::top_k
  // How many tokens precede this one: a higher logit, or the same and a lower id.
  std::int32_t rank(std::int32_t token) const;
  // --- one more number ---
  float operator[](std::size_t token) const;
  // --- the whole row ---
  std::span<const float> whole() const { return rows_ ? rows_->whole(row_) : on_host_; }
  // As a range it is the whole row, so it goes wherever a std::span<const float> is taken.
  const float* data() const { return whole().data(); }
  auto begin() const { return whole().begin(); }
  auto end() const { return whole().end(); }

 private:
  std::span<const float> on_host_;
  DeviceLogits* rows_ = nullptr;
  int row_ = 0;
};

}  // namespace triescope

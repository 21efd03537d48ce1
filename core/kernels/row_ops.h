// Operations of decoding on a row of logits: log-softmax, the best token, the k best. fp32, any
// length >= 1; -inf entries (removed tokens) are allowed, NaN is not. Deterministic: a result
// depends on the row alone. Thread-safe (no state).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace triescope::kernels {

// log(sum exp(row)); -inf where all are -inf. Within 1e-6 of the exact value or 2 ulp (exponentials
// within 2 ulp, summed in fp32 by lanes, lanes and blocks of 4096 in fp64).
float log_sum_exp(std::span<const float> row);

// out[i] = row[i] - log_sum_exp(row), which is returned; all -inf if that is -inf. out may be row.
// Error{kInvalidArgument}: sizes differ.
float log_softmax(std::span<const float> row, std::span<float> out);
// out[i] = exp(row[i] - log_sum_exp), normalised by their own sum. out may be row.
void softmax(std::span<const float> row, std::span<float> out);

// The largest value, and its index (of equal ones the lowest). Error{kInvalidArgument}: an empty
// row.
float largest(std::span<const float> row);
std::int32_t argmax(std::span<const float> row);

// The k largest (fewer if the row is shorter), best first; of equal ones the lower index first.
// -inf entries come last.
std::vector<std::pair<float, std::int32_t>> top_k(std::span<const float> row, std::size_t k);

struct JointCandidate {
  float score = 0;  // row[token] + offset of the row, rounded once to fp32
  float value = 0;  // row[token]
  std::int32_t row = 0, token = 0;
};

// The k largest of row[t] + offset over several rows, given one after the other (beam search:
// log-probs plus beam scores). Best first; of equal ones the lower row first, then the lower token.
// REQUIRES: rows come in ascending order. Not thread-safe.
class JointTopK {
 public:
  explicit JointTopK(std::size_t k);
  void add_row(std::int32_t index, float offset, std::span<const float> row);
  // Adds some values of a row with their tokens, in ascending order of the tokens.
  void add_values(std::int32_t index, float offset,
                  std::span<const std::pair<float, std::int32_t>> values);
  bool full() const { return best_.size() == k_; }
  const std::vector<JointCandidate>& best() const { return best_; }

 private:
  void offer(const JointCandidate& candidate);

  std::size_t k_;
  std::vector<JointCandidate> best_;
};

}  // namespace triescope::kernels

// The weights that a transformer needs from a model file, by role, and where each is: tensor name,
// its rows, and their order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/files/config.h"

namespace triescope::formats {

enum class Role : std::uint8_t {
  kEmbedding,
  kPositions,
  kFinalNorm,
  kFinalNormBias,
  kHead,  // the model's output head
  kHeadBias,
  kPerLayerEmbedding,   // PerLayerConfig: [vocab, layers * dims], and two weights of all layers
  kPerLayerProjection,  // [layers * dims, hidden]
  kPerLayerNorm,        // [dims]
  kAttentionNorm,
  kAttentionNormBias,
  kQuery,
  kQueryBias,
  kKey,
  kKeyBias,
  kValue,
  kValueBias,
  kQueryNorm,
  kKeyNorm,
  kOutput,
  kOutputBias,
  kPostAttentionNorm,  // after a layer's attention
  kMlpNorm,
  kMlpNormBias,
  kGate,
  kGateBias,
  kUp,
  kUpBias,
  kDown,
  kDownBias,
  kPostMlpNorm,
  kRouter,      // of a layer with experts: a row of it scores one
  kSharedGate,  // how much a row takes of the shared expert
  kRouterBias,
  // ExpertsConfig::own_norms: [hidden], a factor of the router's input; [experts], a factor of each
  // expert's weight; then the norms [hidden] before the experts, behind them and behind the shared MLP.
  kRouterScale,
  kExpertScale,
  kExpertsNorm,
  kPostExpertsNorm,
  kPostSharedNorm,
  kSinks,             // a score a head in every softmax (ModelConfig::attention_sinks)
  kPerLayerGate,      // [dims, hidden]
  kPerLayerOutput,    // [hidden, dims]
  kPostPerLayerNorm,  // [hidden]
  kLayerScale,        // [1] (ModelConfig::layer_scale)
  kConvInput,         // of a convolution: [3 hidden, hidden], rows: B, then C, then x
  kConvInputBias,
  kConvTaps,  // [hidden, taps], the row's own last
  kConvTapsBias,
  kSelectionBias,  // [experts] (ExpertsConfig::selection_bias)
};
inline constexpr int kRoles = static_cast<int>(Role::kSelectionBias) + 1;

// [rows, cols] row-major as torch.nn.Linear stores a weight: out = rows, in = cols. A vector has
// cols = 1.
struct WeightShape {
  std::int64_t rows = 0;
  std::int64_t cols = 1;
  bool operator==(const WeightShape&) const = default;
};

struct WeightSlice {
  std::string tensor;
  std::int64_t first_row = 0;
  bool transposed =
      false;  // stored as [in, out] (GPT-2's Conv1D); first_row counts output rows all the same
  // > 0: the weight has so many heads, and in the tensor their rows lie as the next two say.
  int heads = 0;
  // This many rows at the start of a head are rope's pairs (0, half, 1, half + 1, ...), as GGUF's
  // converter writes Llama's q and k.
  std::int64_t interleaved_rows = 0;
  // Rows from the beginning of one head to that of the next; 0: a head's own rows.
  std::int64_t head_stride = 0;
  // > 0: every row is a tensor of its own, in whose name its index stands for '*'.
  int tensors = 0;
  // The tensor has a dimension more: it holds this weight of every expert, one after the other.
  bool stacked = false;
  // Rows of the tensor from one row of the weight to the next: 2 where gate and up alternate.
  std::int64_t row_step = 1;
  // >= 0: stored transposed for every expert, [experts, in, out]; this is the index of the weight's.
  int transposed_at = -1;
  // The rows are MXFP4 blocks in the tensor "<tensor>_blocks" [experts, rows, blocks, 16], with their scales in
  // "<tensor>_scales".
  bool mxfp4 = false;

  // The names of all tensors of the weight.
  std::vector<std::string> names() const;
};

// The row of the tensor, from first_row on, where row `row` of a weight with `rows` rows lies.
std::int64_t stored_row(const WeightSlice& slice, std::int64_t row, std::int64_t rows);
// How many rows of the tensor a weight with `rows` rows reaches over, from first_row on.
std::int64_t rows_spanned(const WeightSlice& slice, std::int64_t rows);

// One weight of a model.
struct Part {
  Part(Role of_role, int of_layer = 0, int of_expert = -1)
      : role(of_role), layer(of_layer), expert(of_expert) {}

  Role role;
  int layer;  // 0 for weights of the whole model
  // Index among the layer's experts; their number = the one that all rows share; -1: the layer has
  // one MLP, or the weight belongs to none.
  int expert;
};

bool is_of_layer(Role role);
// Whether it is a weight of the expert that all rows of a layer share.
bool is_shared(const ModelConfig& config, const Part& part);
bool is_of_expert(Role role);  // each of a layer's MLPs has one
// nullopt: this model has no such weight.
std::optional<WeightShape> expected_shape(const ModelConfig& config, const Part& part);
// Every weight of a model, by role, then layer, then expert.
std::vector<Part> parts_of(const ModelConfig& config);
WeightSlice locate(const ModelConfig& config, const Part& part);

}  // namespace triescope::formats

// Model: the seam between decoding and the network. The header is torch-free; the transformer
// behind it uses libtorch.
//
// A forward takes any set of rows (tree nodes), where the KV of each goes and which KV each sees,
// and returns fp32 logits on the host for the requested rows. KV lies in slots: slot s is one
// position's K and V in every layer, and the order of slots means nothing. A row sees a list of
// slots in path order (prompt first, itself last).
//
// Invariant ("path only") on the CPU: a row's logits depend on the tokens and positions of its path
// alone, bit for bit, and not on how many rows share the forward or where slots lie. On a GPU the
// same holds for forwards of up to ModelInfo::path_only_rows rows. Thread-safety: one thread at a
// time per Model; different Models are independent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/row_costs.h"
#include "core/files/generation_settings.h"
#include "core/kernels/router.h"
#include "core/model/logits_row.h"

namespace triescope {

// The most tokens in one forward of a prefill. This bounds the memory of its activations, and how
// long a progress bar stands still. On a GPU more rows take little longer and need fewer launches.
inline constexpr std::size_t kPrefillChunk = 256, kGpuPrefillChunk = 1024;
constexpr std::size_t prefill_rows_on(bool gpu) { return gpu ? kGpuPrefillChunk : kPrefillChunk; }

// Rows [first, first + count) of a text that goes through a model in several forwards.
struct Piece {
  std::size_t first = 0, count = 0;
};
// The pieces of `total` rows, in order, of `rows` each but for the last.
std::vector<Piece> pieces_of(std::size_t total, std::size_t rows);

// The most memory of a dense tile of a quantised matrix on a GPU: a forward of many rows multiplies
// by one tile after the other.
inline constexpr std::int64_t kBlockTileBytes = 128 << 20;

enum class DType : std::uint8_t { kF32, kBF16, kF16 };
const char* to_string(DType dtype);             // "f32", "bf16", "f16"
DType dtype_from_string(const std::string& s);  // Error{kInvalidArgument} otherwise

struct ModelInfo {
  std::string name;  // general.name, or the folder's name
  std::string path;
  std::string family;        // "llama", ...
  std::string format;        // "gguf" or "safetensors"
  std::string quantisation;  // the file's: "Q4_1", "BF16", "mixed: Q4_1 Q6_K", ...
  std::int64_t parameters = 0;
  std::int64_t file_bytes = 0;
  // Number of values in matrices whose blocks every device's kernels compute from, and their bytes.
  std::int64_t block_parameters = 0, block_bytes = 0;
  // The same for matrices whose blocks no kernel computes from: they are widened on loading.
  std::int64_t widened_parameters = 0, widened_bytes = 0;
  int layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate = 0;
  int vocab_size = 0;
  // Values of K and V of a token in all layers, and the widest head; 0 = every layer has K and V of kv_heads heads
  // of head_dim.
  std::int64_t kv_values = 0;
  int widest_head = 0;
  // Of a mixture: the most experts that a layer has, and how many of them a row goes through. 0 = the
  // model has one MLP a layer, and the next three are 0 too.
  int experts = 0, experts_used = 0;
  // Parameters that a row uses, the bytes of them that a forward of one row reads, and the bytes of
  // one expert in one layer (their average): as the file has them, or in `dtype` where they are widened.
  std::int64_t active_parameters = 0, active_bytes = 0, expert_bytes = 0;
  int context = 0;         // longest prompt + generation the model was trained for
  int sliding_window = 0;  // 0 = none
  // Every layer has a sliding window; this is the widest: a row at position i never reads KV at
  // position i - kv_window or before. 0 = some layer sees everything.
  int kv_window = 0;
  // > 0: past this many tokens the rotary frequencies change (Phi-3's longrope); older KV must be
  // recomputed.
  int kv_valid_until = 0;
  bool tied_embeddings = false;
  float rope_theta = 0;
  std::string tokenizer;  // "gpt2/smollm", "tokenizer.json BPE", ...
  std::vector<std::int32_t> eos_token_ids;
  std::int32_t bos_token_id = -1;
  GenerationSettings generation;  // as the model recommends; applied only if asked for
  DType dtype = DType::kF32;      // dtype of computation (in force once loaded)
  DType kv_dtype = DType::kF32;   // dtype of K and V (likewise)
  std::string device;             // "cpu", "cuda:0"
  // Warning to the user: what may go wrong with this family in this dtype, which kernels are
  // missing. "" = none.
  std::string warning;
  // ModelConfig::notes: where the model's files contradict each other or hold what is ignored.
  std::vector<std::string> notes;
  RowCosts row_costs;  // for that device and these weights
  // A row's logits have the same bits in every forward of up to this many rows; 0 = in any forward.
  // In larger forwards sums may be added in another order, and tokens that are nearly equal may
  // change places.
  int path_only_rows = 0;
  // Number of rows in one forward of a prefill.
  int prefill_rows = static_cast<int>(kPrefillChunk);
};

// KV of `capacity` slots in every layer. Model::make_kv makes it; its layout is the model's own.
class KvStorage {
 public:
  virtual ~KvStorage() = default;
  virtual int capacity() const = 0;
  virtual std::int64_t bytes_per_slot() const = 0;  // K and V, all layers
  // Grows to at least `capacity` slots, by half where there is memory for it, so that a run of n
  // tokens grows O(log n) times; contents stay. Error{kOutOfMemory} says how many bytes were
  // wanted, and leaves everything as it was.
  virtual void reserve(int capacity) = 0;
  // Copies slot from[i] -> to[i] in all layers, as if all at once: a target may also be a source.
  // After Error{kOutOfMemory} the same call continues where this one stopped.
  virtual void move(std::span<const std::int32_t> from, std::span<const std::int32_t> to) = 0;
  // K and V of these slots in every layer, [layers, slots, kv_heads, head_dim] each, rounded to the
  // storage's dtype. Keys as they are after rope, in Hugging Face's order (kernels/rope.h). For KV that
  // no forward computes. Error{kInvalidArgument}: sizes or slots that do not fit; {kNotSupported}: a
  // storage that cannot.
  virtual void write(std::span<const std::int32_t> slots, std::span<const float> keys,
                     std::span<const float> values);
};

// In ForwardBatch::feature_layers: the output of the final norm, which the output head reads.
inline constexpr std::int32_t kFinalNorm = -1;

// Rows that read a trained vector in place of a token's embedding, and see KV that no other row sees
// (SPACE's masks, core/model/mask_inputs.h). They are the last rows of their batch.
struct MaskBatch {
  // So many; ForwardBatch::tokens says of each which vector it reads, from 0.
  std::int32_t rows = 0;
  // [masks, hidden], in the place of rows of the embedding matrix: scale and positions are the model's.
  std::span<const float> embeddings = {};
  // What each of these rows sees beside the path in its list, whatever the window: KV that stands at
  // no position. Attention takes it before the row's own slots.
  std::span<const std::int32_t> prefix_slots = {};
};

struct ForwardBatch {
  std::span<const std::int32_t> tokens;     // [rows]
  std::span<const std::int32_t> positions;  // [rows]
  // [rows]: the slot into which each row's KV is written; distinct
  std::span<const std::int32_t> slots;
  // Slots that all rows see first, in path order (usually the prompt): [prefix].
  std::span<const std::int32_t> prefix_slots;
  // Beside these, row r sees own_slots[own_offsets[r] .. own_offsets[r+1]), in path order, its own
  // slot last. The last entry of the joined list is the row itself at positions[r], the one before
  // it is at positions[r]-1, and so on: a sliding window w is the last w entries. Empty own_offsets
  // = causal: row r sees prefix_slots, then slots[0..r] (prefill).
  std::span<const std::int32_t> own_slots;
  std::span<const std::int32_t> own_offsets;  // [rows + 1] or empty
  // Rows whose logits are wanted, ascending; at prefill only the last.
  std::span<const std::int32_t> logit_rows;
  // Logits that are computed on a device may stay there: the log-sum-exp and this many best tokens
  // of each row are copied at once, the whole row only when it is asked for. 0 = whole rows at
  // once, as always on a CPU and where the device cannot do otherwise (ForwardOutput tells).
  int best_tokens = 0;
  // The parts of layers that the rows go through, ascending by the numbers of core/model/sublayers.h, where
  // they are not all (LayerSubset). The KV storage is then one of make_kv_of() for the layers whose attention
  // is among them, or one for all layers, and no hidden states can be asked for. Empty = all.
  std::span<const std::int32_t> sublayers = {};
  // Hidden states wanted, independent of the logits: for each layer id, of each row. An id 0 .. L-1
  // is the residual stream that enters that layer (0: the embeddings), L = ModelInfo::layers the
  // one after the last layer, kFinalNorm the output of the final norm. Both lists are distinct;
  // rows ascend.
  std::span<const std::int32_t> feature_layers = {};
  std::span<const std::int32_t> feature_rows = {};
  // For a draft head: the hidden state that each row reads beside its token, [rows, width],
  // row-major. Empty for every other model.
  std::span<const float> input_features = {};
  // Needs own_offsets. Error{kNotSupported}: a model that takes no masks (a draft head).
  MaskBatch masks = {};
  // The rotary frequencies of "dynamic" and "longrope" depend on the length of the text. For a row
  // it is the larger of this value and its own position + 1. At prefill this is the prompt's
  // length, whatever the pieces in which the prompt comes.
  std::int32_t text_length = 0;
};

// The experts through which the rows whose logits were asked for went, in a mixture of experts.
struct ForwardExperts {
  std::span<const std::int32_t> layers = {};  // those of the forward that have experts, ascending
  int used = 0;                               // number that a row goes through in each
  // [layers, logit_rows, used], by ascending index.
  std::span<const kernels::ChosenExpert> chosen = {};
  // Those of the logits' row `row` in layers[layer].
  std::span<const kernels::ChosenExpert> of(std::size_t layer, std::size_t row) const {
    const std::size_t rows = chosen.size() / layers.size() / static_cast<std::size_t>(used);
    return chosen.subspan((layer * rows + row) * static_cast<std::size_t>(used),
                          static_cast<std::size_t>(used));
  }
  // Those of all rows in layers[layer].
  std::span<const kernels::ChosenExpert> of_layer(std::size_t layer) const {
    return chosen.subspan(layer * (chosen.size() / layers.size()), chosen.size() / layers.size());
  }
};

struct ForwardOutput {
  // [logit_rows, vocab], row-major fp32 on the host. Valid until the next forward of this model.
  std::span<const float> logits;
  // Set instead of logits where the rows stayed on the device; the model owns it, and it is valid
  // as long.
  DeviceLogits* on_device = nullptr;
  // [feature_layers, feature_rows, hidden], row-major fp32 on the host, valid as long as the
  // logits.
  std::span<const float> features = {};
  ForwardExperts experts = {};  // of a mixture, valid as long
  int vocab_size = 0;
  LogitsRow row(int i) const {
    if (on_device != nullptr) return {*on_device, i};
    return logits.subspan(static_cast<std::size_t>(i) * vocab_size, vocab_size);
  }
};

struct DeviceMemory {
  std::int64_t allocated_bytes = -1;  // -1 = unknown: the CPU has no such allocator
  std::int64_t reserved_bytes = -1;
};

class TorchShared;  // core/model/torch/torch_shared.h

class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelInfo& info() const = 0;
  virtual std::unique_ptr<KvStorage> make_kv(int capacity) = 0;
  // The same for a part of the layers, ascending. Error{kNotSupported}: a model
  // that has no layers to leave out (a draft head).
  virtual std::unique_ptr<KvStorage> make_kv_of(int capacity, std::span<const std::int32_t> layers);
  // Errors: kInvalidArgument (ids, positions or slots out of range: says which), kOutOfMemory,
  // kCuda, kCancelled (stop was requested, which is checked at least once a layer; this batch's KV
  // slots are then undefined).
  virtual ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv,
                                std::stop_token stop = {}) = 0;

  // The next two are what a draft head shares with its target, fp32 on the host. embed(): rows of
  // the embedding matrix [tokens, hidden] as they are stored, without scale or positions.
  virtual void embed(std::span<const std::int32_t> tokens, std::span<float> out);
  // The output head alone over states [rows, hidden] that went through the head's own final norm,
  // if it has one: logits [rows, vocab], without scale or softcap. Valid until the next call; logits of a
  // forward stay. Errors of both: kInvalidArgument: sizes that do not fit, a token id outside the
  // vocabulary; kNotSupported: this model has none to share (a draft head).
  virtual std::span<const float> output_head(std::span<const float> states);
  // The same on the device, for a model that runs through libtorch; null for any other. Part of the
  // model.
  virtual const TorchShared* torch_shared() const { return nullptr; }

  virtual DeviceMemory device_memory() const { return {}; }
};

struct LoadOptions {
  std::string device = "cpu";  // "cpu", "cuda", "cuda:1"
  DType dtype = DType::kF32;
  // dtype of K and V; not given: as dtype. On the CPU f32 or bf16
  std::optional<DType> kv_dtype = {};
  bool reference_kernels = false;  // libtorch's plain operations everywhere, for comparison
  int threads = 0;                 // CPU threads, 0 = all cores
  // CPU: matrices stay in memory as they are in the file (quantised blocks, bf16, fp16) and are
  // widened where they are used; logits have the same bits either way. CUDA: quantised blocks stay
  // if the kernels that compute from them exist. false: widened on loading.
  bool stored_weights = true;
};

// Opens a Hugging Face directory or a .gguf file. Errors: kNotFound, kNotSupported (names the
// family or property), kCorruption (file, place, expected, found), kOutOfMemory, kCuda, kCancelled.
std::unique_ptr<Model> load_model(const std::string& path, const LoadOptions& options = {},
                                  const ProgressSink& progress = {}, std::stop_token stop = {});

// Describes a model without reading its weights.
ModelInfo inspect_model(const std::string& path);

struct DeviceInfo {
  std::string id;    // "cpu", "cuda:0"
  std::string name;  // "AMD EPYC ... (2 threads)", "NVIDIA A100"
  std::int64_t total_bytes = 0;
};
// The devices a model can be loaded on, "cpu" first. Never throws: no driver = no CUDA entry.
std::vector<DeviceInfo> list_devices();
// libtorch's version "2.11.0", and the CUDA runtime's or "".
std::string libtorch_version();
std::string cuda_version();

}  // namespace triescope

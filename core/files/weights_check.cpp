// Compares what a model's files say twice, in their configuration and in their tensors, before
// anything is read. Source for folders: transformers' modeling_utils.py (tie_weights, missing
// keys).
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/files/shape_text.h"
#include "core/files/stored_tensor.h"

namespace triescope::formats {
namespace {

constexpr std::int64_t kCompared = 1 << 16;  // values at a time

// Tensors that older checkpoints contain and no forward needs: rope's frequencies, GPT-2's masks.
bool is_buffer(const std::string& name, const std::vector<std::int64_t>& shape) {
  return name.find("rotary_emb.") != std::string::npos || name.ends_with(".masked_bias") ||
         name.ends_with("position_ids") ||
         ((name.ends_with(".attn.bias") || name.ends_with(".attention.bias")) && shape.size() == 4);
}

// Tensors from which the configuration is read (config_gguf.cpp).
bool is_rope_tensor(const std::string& name) {
  return name == "rope_freqs.weight" || name == "rope_factors_long.weight" ||
         name == "rope_factors_short.weight";
}

// The key of config.json that announces a bias; "": none does.
std::string key_of_bias(const std::string& name) {
  if (name.find("self_attn.") != std::string::npos) return "attention_bias";
  if (name.find(".conv.") != std::string::npos) return "conv_bias";
  return name.find("mlp.") != std::string::npos ? "mlp_bias" : "";
}

// N in "...layers.N...." or "...h.N....".
std::optional<int> layer_of(const std::string& name) {
  for (const std::string_view list : {"layers.", "h."}) {
    const std::size_t at = name.find(list);
    if (at == std::string::npos || (at > 0 && name[at - 1] != '.')) continue;
    int layer = 0;
    std::size_t i = at + list.size();
    for (; i < name.size() && name[i] >= '0' && name[i] <= '9' && layer < 1 << 20; ++i)
      layer = 10 * layer + (name[i] - '0');
    if (i > at + list.size() && i < name.size() && name[i] == '.') return layer;
  }
  return std::nullopt;
}

// What to do where a weight is missing and its codes are there.
template <class Has>
std::string about_codes(const std::string& name, const Has& has) {
  constexpr std::string_view kWeight = "weight";
  if (!name.ends_with(kWeight)) return "";
  for (const std::string& codes :
       {name.substr(0, name.size() - kWeight.size()) + "qweight", name + "_packed"})
    if (has(codes))
      return "; its codes '" + codes +
             "' are there: add the quantization_config that says how they are quantised to "
             "config.json (older folders have it in quantize_config.json)";
  return "";
}

}  // namespace

// AutoModel's checkpoints of the bare network have no prefix. A model that also sees pictures has
// its text part under another one. GPT-NeoX's output head has two names.
void WeightSource::find_renames() {
  const std::pair<const char*, const char*> kKnown[] = {{"model.", ""},
                                                        {"transformer.", ""},
                                                        {"gpt_neox.", ""},
                                                        {"model.", "model.language_model."},
                                                        {"model.", "language_model.model."},
                                                        {"lm_head.", "language_model.lm_head."},
                                                        {"embed_out.", "lm_head."}};
  for (const Role role : {Role::kEmbedding, Role::kFinalNorm, Role::kHead}) {
    const std::string name = locate(config_, {role}).tensor;
    if (find(name)) continue;
    for (const auto& [from, to] : kKnown) {
      if (!name.starts_with(from) || !find(to + name.substr(std::string_view(from).size())))
        continue;
      renames_.emplace_back(from, to);
      break;
    }
  }
}

bool WeightSource::have_equal_values(const Tensor& a, const Tensor& b) const {
  if (a.shape() != b.shape()) return false;
  std::array<std::vector<float>, 2> values;
  for (std::int64_t begin = 0; begin < a.elements(); begin += kCompared) {
    const auto count = static_cast<std::size_t>(std::min(kCompared, a.elements() - begin));
    for (std::vector<float>& part : values) part.resize(count);
    read_elements(a, begin, values[0]);
    read_elements(b, begin, values[1]);
    if (values[0] != values[1]) return false;
  }
  return true;
}

// A stored output head is used, whatever tie_word_embeddings says. Where only one of head and
// embedding is stored, it is both.
void WeightSource::settle_head() {
  if (!config_.tied_embeddings) return;
  const std::string head_name = slice_of({Role::kHead}).tensor;
  const Tensor embedding = find(slice_of({Role::kEmbedding}).tensor), head = find(head_name);
  if (!head) return;
  if (!embedding) {
    embedding_is_head_ = true;
    return;
  }
  if (have_equal_values(embedding, head)) return;
  config_.tied_embeddings = false;
  config_.notes.push_back("config.json says tie_word_embeddings true, but " + head_name +
                          " has other values than " + embedding.name() +
                          ": they are not tied, the output head is the file's");
}

// transformers fills a bias that config.json announces and the file lacks with zeros.
void WeightSource::settle_biases() {
  const auto settle = [&](bool& flag, std::initializer_list<Role> roles, const char* what) {
    if (!flag) return;
    for (const Part& part : parts_of(config_))
      if (std::ranges::find(roles, part.role) != roles.end() && find(slice_of(part).tensor)) return;
    flag = false;
    config_.notes.push_back(std::string("the configuration has a bias on ") + what +
                            ", the file has none: it is zero");
  };
  settle(config_.qkv_bias, {Role::kQueryBias, Role::kKeyBias, Role::kValueBias}, "q, k and v");
  settle(config_.output_bias, {Role::kOutputBias}, "attention's output");
  settle(config_.mlp_bias, {Role::kGateBias, Role::kUpBias, Role::kDownBias}, "the MLP");
  settle(config_.conv_bias, {Role::kConvInputBias, Role::kConvTapsBias, Role::kOutputBias},
         "the convolutions");
}

void WeightSource::check_shapes() {
  struct Wanted {
    WeightShape shape;  // all rows that are read from the tensor
    bool transposed = false, is_head = false, is_conv = false;
    std::int64_t stacked = 0;  // > 0: the rows are those of so many experts
    std::int64_t mxfp4 = 0;    // > 0: they are blocks of so many bytes, or their scales (1)
  };
  std::vector<std::string> order;
  std::map<std::string, Wanted> tensors;
  for (const Part& part : parts_of(config_)) {
    const WeightShape expected = shape(part).value();
    const WeightSlice slice = slice_of(part);
    for (const std::string& name : slice.names()) {
      const auto [at, is_new] = tensors.try_emplace(name);
      if (is_new) order.push_back(name);
      Wanted& wanted = at->second;
      wanted.shape = {
          std::max(wanted.shape.rows, slice.first_row + rows_spanned(slice, expected.rows)),
          expected.cols};
      if (slice.tensors > 0) wanted.shape = {expected.cols, 1};
      wanted.transposed = slice.transposed;
      wanted.is_head = part.role == Role::kHead;
      wanted.is_conv = part.role == Role::kConvTaps;
      if (slice.stacked)
        wanted.stacked = config_.layers[static_cast<std::size_t>(part.layer)].experts;
      if (slice.mxfp4) check_whole_blocks(path_, name, expected.cols);
      if (slice.mxfp4) wanted.mxfp4 = name.ends_with("_blocks") ? 16 : 1;
    }
  }
  std::set<std::string> narrowed;
  for (const std::string& name : order) {
    const Wanted& wanted = tensors.at(name);
    const Tensor tensor = find(name);
    if (!tensor) {
      throw Error(ErrorCode::kCorruption,
                  path_ + ": expected tensor '" + name + "', found none" +
                      (wanted.is_head ? "; by config.json the output head is not tied to the "
                                        "embedding (tie_word_embeddings)"
                                      : about_codes(name, [this](const std::string& codes) {
                                          return bool(find(codes));
                                        })));
    }
    std::vector<std::int64_t> found = tensor.shape(),
                              expected = {wanted.shape.rows, wanted.shape.cols};
    if (wanted.stacked > 0) {
      const std::int64_t rows =
          wanted.transposed ? wanted.shape.rows : wanted.shape.rows / wanted.stacked;
      expected = {wanted.stacked, rows, wanted.shape.cols};
      if (found.size() == 2) found.push_back(1);
      if (wanted.transposed) std::swap(expected[1], expected[2]);
    }
    if (wanted.mxfp4 > 0) {
      expected[2] /= 32;
      if (wanted.mxfp4 > 1) expected.push_back(wanted.mxfp4);
      check_is_u8(path_, *tensor.safe);
    }
    // As torch.nn.Conv1d has it, of a convolution of each number by itself: [hidden, 1, taps].
    if (wanted.is_conv && found.size() == 3 && found[1] == 1) found.erase(found.begin() + 1);
    if (found.size() == 1) found.insert(expected[0] == 1 ? found.begin() : found.end(), 1);
    if (found.size() == 2 && wanted.transposed) std::swap(found[0], found[1]);
    if (found != expected) {
      throw Error(ErrorCode::kCorruption,
                  path_ + ": tensor '" + name + "': expected shape " + shape_text(expected) +
                      " by the configuration, found " + shape_text(tensor.shape()));
    }
    if (tensor.dtype() == "F64") narrowed.insert(name);
  }
  if (!narrowed.empty()) config_.notes.push_back(rounding_note(narrowed));
}

bool WeightSource::is_zero_bias(const Tensor& tensor) const {
  if (!tensor.name().ends_with("bias") || tensor.shape().size() != 1 ||
      tensor.elements() > std::int64_t{1} << 20)
    return false;
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  read_elements(tensor, 0, values);
  return std::ranges::all_of(values, [](float value) { return value == 0; });
}

void WeightSource::check_unread() {
  std::set<std::string> read;
  for (const Part& part : parts_of(config_))
    for (std::string& name : slice_of(part).names()) read.insert(std::move(name));
  // Published files still hold what computed K and V of layers that read those of another.
  bool idle = false;
  for (std::size_t i = 0; i < config_.layers.size(); ++i)
    for (const Role role :
         {Role::kKey, Role::kKeyBias, Role::kValue, Role::kValueBias, Role::kKeyNorm})
      if (const Part part(role, static_cast<int>(i));
          !config_.heads_of(i).owns_kv && find(slice_of(part).tensor))
        idle = read.insert(slice_of(part).tensor).second || idle;
  if (idle)
    config_.notes.push_back(
        "the files have matrices for K and V of layers that read those of an earlier layer: they are not used, as "
        "in transformers");
  if (gguf_) {
    // A GGUF holds only what its architecture needs.
    for (const GgufTensor& tensor : gguf_->tensors()) {
      if (read.contains(tensor.name) || is_rope_tensor(tensor.name)) continue;
      throw Error(ErrorCode::kNotSupported, path_ + ": tensor '" + tensor.name +
                                                "' in a model of family " + config_.family +
                                                " is not supported");
    }
    return;
  }
  if (config_.tied_embeddings) read.insert(slice_of({Role::kHead}).tensor);
  // A folder's file may hold more than the network: a reward model's score, a value head.
  const auto beginning = [&](Role role) {
    const std::string name = locate(config_, {role}).tensor;
    return renamed(name.substr(0, name.find('.') + 1));
  };
  const std::string prefix = beginning(Role::kFinalNorm), head = beginning(Role::kHead);
  std::vector<std::string> beside;
  const auto check = [&](const std::string& name, const Tensor& tensor) {
    if (read.contains(name) || is_buffer(name, tensor.shape())) return;
    const bool is_of_network = name.starts_with(prefix) || name.starts_with(head);
    if (!is_of_network) {
      beside.push_back(name);
      return;
    }
    if (is_zero_bias(tensor)) return;
    const std::string who = path_ + ": tensor '" + name.substr(0, 200) + "': ";
    const int layers = static_cast<int>(config_.layers.size());
    if (const auto layer = layer_of(name); layer && *layer >= layers) {
      throw Error(ErrorCode::kCorruption,
                  who + "expected " + std::to_string(layers) +
                      " layers by config.json (num_hidden_layers), found layer " +
                      std::to_string(*layer) +
                      "; correct config.json, or leave the tensors of further layers out");
    }
    const std::string key = name.ends_with(".bias") ? key_of_bias(name) : "";
    throw Error(key.empty() ? ErrorCode::kNotSupported : ErrorCode::kCorruption,
                who + "a model of family " + config_.family + " has none by its config.json" +
                    (key.empty() ? ", and triescope does not read it: without it the text would be "
                                   "another"
                                 : " (" + key + "); correct it there, or leave the bias out"));
  };
  for (const SafeTensor& tensor : safetensors_->tensors())
    if (!is_part(tensor)) check(tensor.name, {.safe = &tensor});
  if (quantised_)
    for (const auto& tensor : quantised_->tensors())
      check(tensor->name, {.quantised = tensor.get()});
  if (!beside.empty())
    config_.notes.push_back(
        (beside.size() == 1 ? "one tensor is" : std::to_string(beside.size()) + " tensors are") +
        " beside the network and not read: " + beside[0].substr(0, 200) +
        (beside.size() == 1 ? "" : ", ..."));
}

}  // namespace triescope::formats

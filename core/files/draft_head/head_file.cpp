#include "core/files/draft_head/head_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/files/dequantise.h"
#include "core/files/draft_head/describe.h"
#include "core/files/draft_head/detect.h"
#include "core/files/draft_head/feature_layers.h"
#include "core/files/draft_head/head_json.h"
#include "core/files/draft_head/head_shapes.h"
#include "core/files/draft_head/indexed_name.h"
#include "core/files/draft_head/named_tensors.h"
#include "core/files/draft_head/resolve_config.h"
#include "core/files/draft_head/stored_tensors.h"
#include "core/files/draft_head/vocabulary_map.h"
#include "core/files/shape_text.h"

namespace triescope::formats {
namespace {

constexpr const char* kDouble = "F64";

// The values of an F64 tensor as F32.
std::vector<std::byte> rounded(std::span<const std::byte> doubles) {
  std::vector<float> values(doubles.size() / sizeof(double));
  dequantise(GgmlType::kF64, doubles, values);
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

ElementType element_type(const SafeTensor& tensor) {
  if (tensor.dtype == "F16") return ElementType::kF16;
  if (tensor.dtype == "BF16") return ElementType::kBf16;
  if (tensor.dtype == "I64") return ElementType::kI64;
  if (tensor.dtype == "BOOL") return ElementType::kBool;
  return ElementType::kF32;  // or F64, which is rounded: check_shapes accepts no other type
}

std::vector<std::byte> bytes_of(const std::vector<std::int64_t>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(std::int64_t));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

int block_count(const HeadJson& json) {
  const JsonFields fields = json.fields();
  return fields.integer("medusa_num_layers", fields.integer("hydra_num_layers", 0));
}

}  // namespace

struct HeadFile::Impl {
  Impl(std::string where, StoredTensors tensors)
      : path(std::move(where)), stored(std::move(tensors)) {}

  std::string path;
  StoredTensors stored;
  std::map<std::string, std::size_t> names;
  HeadConfig config;
  std::vector<std::string> notes;
  // d2t, computed here for a file that has absolute ids.
  std::shared_ptr<const std::vector<std::byte>> own_map;

  // Error{kNotFound}: no tensor of this name.
  std::size_t index_of(std::string_view name) const {
    const auto found = names.find(std::string(name));
    if (found == names.end())
      throw Error(ErrorCode::kNotFound,
                  path + ": expected a tensor " + std::string(name) + ", found none");
    return found->second;
  }

  HeadTensor tensor(const std::string& name, std::size_t index) const {
    HeadTensor result;
    result.name = name;
    result.shape = stored.tensors()[index].shape;
    result.type = element_type(stored.tensors()[index]);
    result.source = stored.source(index);
    if (own_map != nullptr && name == "d2t") {
      result.memory = own_map;
    } else {
      std::vector<std::byte> bytes = stored.read(index);
      if (stored.tensors()[index].dtype == kDouble) bytes = rounded(bytes);
      result.memory = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    }
    result.bytes = *result.memory;
    return result;
  }

  void drop_identity_norms(NamedTensors& tensors);
  void drop_unused_map(NamedTensors& tensors);
  void read_maps(NamedTensors& tensors, bool is_absolute, const TargetShape& target);
  void find_layers(const HeadJson& json, const TargetShape& target, std::span<const int> chosen);
  void read_as(const HeadReading& reading);
  void note_rounded();
};

// What needs no other tensors: the rest is read where the tensors are.
void HeadFile::Impl::read_as(const HeadReading& reading) {
  if (reading.target_embedding) config.own_embedding = false;
  if (reading.norm_before_residual) config.norm_before_residual = *reading.norm_before_residual;
  if (reading.norm_output) config.norm_output = *reading.norm_output;
  if (reading.rope_base) config.rope.theta = *reading.rope_base;
  if (reading.state) config.feature_layers = {*reading.state};
  config.final_norm = !reading.no_final_norm;
  config.own_token = reading.own_token;
  config.first_head = reading.first_head;
}

void HeadFile::Impl::note_rounded() {
  std::set<std::string> doubles;
  for (const auto& [name, index] : names)
    if (stored.tensors()[index].dtype == kDouble) doubles.insert(name);
  if (!doubles.empty()) notes.push_back(rounding_note(doubles));
}

// vLLM's first EAGLE files contain norms that the reference does not have, filled with ones. They
// were not trained, and running them would change the head.
void HeadFile::Impl::drop_identity_norms(NamedTensors& tensors) {
  for (const char* name : {"layers.0.input_layernorm.weight", "norm.weight"}) {
    if (!tensors.has(name)) continue;
    for (const float value : tensor(name, tensors.names().at(name)).floats()) {
      if (value == 1) continue;
      throw Error(ErrorCode::kNotSupported,
                  path + ": an EAGLE head with a trained " + name +
                      ", which EAGLE-1 and -2 do not have and triescope does not support");
    }
    tensors.erase(name);
    notes.push_back(std::string(name) + " holds ones and is not part of EAGLE: it is left out");
  }
}

// vLLM takes the rows of token_map from an output head that has all rows; here all rows are used.
void HeadFile::Impl::drop_unused_map(NamedTensors& tensors) {
  if (!tensors.has("d2t")) return;
  for (const auto& [name, index] : tensors.names()) {
    const bool is_output = name == "lm_head.weight" ||
                           (name.ends_with(".weight") && name.find("linear") == std::string::npos &&
                            indexed_name(name, "").index >= 0);
    if (!is_output || tensors.extent(name, 2, 0) <= tensors.extent("d2t", 1, 0)) continue;
    tensors.erase("d2t");
    notes.push_back("token_map is not needed: the output head has the whole vocabulary");
    return;
  }
}

// token_map has absolute ids; d2t has offsets.
void HeadFile::Impl::read_maps(NamedTensors& tensors, bool is_absolute, const TargetShape& target) {
  if (!tensors.has("d2t")) return;
  const std::size_t index = tensors.names().at("d2t");
  std::vector<std::int64_t> offsets = tensor("d2t", index).integers();
  if (is_absolute) {
    offsets = offsets_of_ids(offsets);
    own_map = std::make_shared<const std::vector<std::byte>>(bytes_of(offsets));
  }
  std::vector<std::int64_t> mask;
  if (tensors.has("t2d")) mask = tensor("t2d", tensors.names().at("t2d")).integers();
  check_vocabulary_map(offsets, mask, std::max(config.vocab, target.vocab), path);
}

void HeadFile::Impl::find_layers(const HeadJson& json, const TargetShape& target,
                                 std::span<const int> chosen) {
  if (!chosen.empty() && !config.reads_several()) {
    throw Error(ErrorCode::kInvalidArgument,
                path + ": layers: expected an EAGLE-3 or DFlash head with fc.weight, found " +
                    to_string(config.kind) +
                    ", which reads one state of the target; leave the setting out");
  }
  if (config.kind == HeadKind::kSpace) return;
  config.feature_layers = {-1};
  if (config.kind == HeadKind::kHydra) {
    const int offset = json.fields().integer("hidden_state_offset", 0);
    if (offset == 0) return;
    config.feature_layers.clear();
    if (target.layers == 0) return;
    if (offset > target.layers) {
      throw Error(ErrorCode::kInvalidArgument,
                  path + ": hidden_state_offset: expected at most the target's " +
                      std::to_string(target.layers) + " layers, found " + std::to_string(offset));
    }
    config.feature_layers = {target.layers - offset};
    config.layers_from = "config.json: hidden_state_offset";
    return;
  }
  if (config.before_final_norm)
    config.feature_layers =
        target.layers > 0 ? std::vector<int>{target.layers} : std::vector<int>();
  if (!config.reads_several()) return;
  std::string from;
  config.stored_layers = json.feature_layers(from);
  const auto width = static_cast<int>(stored.tensors()[names.at("fc.weight")].shape[1]);
  const auto read = config.kind == HeadKind::kDFlash ? output_layers : feature_layers;
  FeatureLayers layers = read(config.stored_layers, chosen, width / config.target_hidden,
                              target.layers, path + (from.empty() ? "" : ": " + from));
  config.feature_layers = std::move(layers.entering);
  config.layer_convention = layers.convention;
  config.layers_from = config.stored_layers.empty() ? "" : "config.json: " + from;
}

HeadFile::HeadFile(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
HeadFile::HeadFile(HeadFile&&) noexcept = default;
HeadFile& HeadFile::operator=(HeadFile&&) noexcept = default;
HeadFile::~HeadFile() = default;

HeadFile HeadFile::open(const std::string& path, const TargetShape& target,
                        const HeadReading& reading) {
  return open(path, StoredTensors::open(path), config_beside(path), target, reading);
}

HeadFile HeadFile::open(const std::string& path, StoredTensors tensors,
                        const std::string& config_text, const TargetShape& target,
                        const HeadReading& reading) {
  auto impl = std::make_unique<Impl>(path, std::move(tensors));
  const std::span<const SafeTensor> stored = impl->stored.tensors();
  const HeadJson json(config_text, path + ": config.json");
  Detected found = detect_head(stored);
  if (found.layout == HeadLayout::kUnknown && found.whole_model &&
      json.fields().has("space_mask_ids"))
    found.layout = HeadLayout::kSpaceModel;
  if (found.layout == HeadLayout::kRefused)
    throw Error(ErrorCode::kNotSupported,
                path + ": " + found.refused + ", which triescope does not decode");
  if (found.layout == HeadLayout::kUnknown) {
    throw Error(
        ErrorCode::kNotSupported,
        path + ": " +
            (found.whole_model ? "is a model"
                               : "its tensors belong to no head that triescope knows") +
            "; expected Medusa, Hydra, EAGLE or DFlash weights, MTP layers, or SPACE masks");
  }
  NamedTensors named(name_tensors(found.layout, stored, block_count(json), path), stored, path);
  const bool is_absolute = std::any_of(stored.begin(), stored.end(), [](const SafeTensor& tensor) {
    return bare_name(tensor.name).ends_with("token_map");
  });
  if (found.layout == HeadLayout::kEagle) impl->drop_identity_norms(named);
  if (is_absolute) impl->drop_unused_map(named);
  impl->config = resolve_config(found.layout, named, json, target, impl->notes);
  check_shapes(impl->config, named, target);
  impl->names = named.names();
  impl->read_maps(named, is_absolute || reading.map_holds_ids, target);
  impl->find_layers(json, target, reading.layers);
  impl->read_as(reading);
  impl->note_rounded();
  // The config.json of a whole model says much that is the model's.
  if (found.layout != HeadLayout::kSpaceModel &&
      !(found.layout == HeadLayout::kMtp && found.whole_model))
    for (std::string& note : json.unknown_settings()) impl->notes.push_back(std::move(note));
  return HeadFile(std::move(impl));
}

const std::string& HeadFile::path() const { return impl_->path; }
const HeadConfig& HeadFile::config() const { return impl_->config; }
const std::vector<std::string>& HeadFile::notes() const { return impl_->notes; }
bool HeadFile::has(std::string_view name) const { return impl_->names.contains(std::string(name)); }

HeadTensor HeadFile::tensor(std::string_view name) const {
  return impl_->tensor(std::string(name), impl_->index_of(name));
}

const std::vector<std::int64_t>& HeadFile::shape(std::string_view name) const {
  return impl_->stored.tensors()[impl_->index_of(name)].shape;
}

ElementType HeadFile::type(std::string_view name) const {
  return element_type(impl_->stored.tensors()[impl_->index_of(name)]);
}

std::size_t HeadFile::source(std::string_view name) const {
  return impl_->stored.source(impl_->index_of(name));
}

std::vector<std::string> HeadFile::names() const {
  std::vector<std::string> result;
  for (const auto& [name, index] : impl_->names) result.push_back(name);
  return result;
}

std::int64_t HeadFile::file_bytes() const { return impl_->stored.file_bytes(); }

std::int64_t HeadFile::parameters() const {
  if (const auto rows = std::ssize(config().mask_rows); rows > 0) return rows * config().hidden;
  std::vector<std::size_t> sources;
  for (const auto& [name, index] : impl_->names) sources.push_back(impl_->stored.source(index));
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  std::int64_t values = 0;
  for (const std::size_t source : sources)
    if (const SafeTensor& tensor = impl_->stored.tensors()[source];
        tensor.dtype != "I64" && tensor.dtype != "BOOL")
      values += tensor.elements;
  return values;
}

TargetShape HeadFile::expected_target() const {
  TargetShape target;
  target.name = config().trained_for;
  target.hidden = config().target_hidden;
  target.vocab = config().vocab;
  // A state that enters layer i needs i layers; EAGLE's own choice, without a list, needs three.
  target.layers = config().prefix_layers;
  for (const int layer : config().feature_layers) target.layers = std::max(target.layers, layer);
  if (config().layer_convention == LayerConvention::kAbsent) target.layers = 3;
  return target;
}

std::string HeadFile::describe() const {
  return describe_head(config(), parameters(), file_bytes());
}

namespace {

// A model that has the head's tensors among its own is a model all the same.
bool is_model(const Detected& found) {
  return found.whole_model &&
         (found.layout == HeadLayout::kRefused || found.layout == HeadLayout::kMtp);
}

}  // namespace

bool is_draft_head(const std::string& path) {
  if (!may_hold_tensors(path)) return false;
  const Detected found = detect_head(StoredTensors::open(path).tensors());
  return found.layout != HeadLayout::kUnknown && !is_model(found);
}

bool brings_draft_head(const std::string& path) {
  if (!may_hold_tensors(path)) return false;
  const Detected found = detect_head(StoredTensors::open(path).tensors());
  return (found.layout == HeadLayout::kMtp && found.whole_model) ||
         (found.layout == HeadLayout::kUnknown && found.whole_model &&
          HeadJson(config_beside(path), path + ": config.json").fields().has("space_mask_ids"));
}

}  // namespace triescope::formats

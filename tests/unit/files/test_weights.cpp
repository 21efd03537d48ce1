// Weights by role out of folders: prefixes, fused and transposed tensors, rows, BF16, shapes.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "core/base/bf16.h"
#include "core/base/error.h"
#include "core/files/weights.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/format_test_util.h"

namespace test_weights {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

using Shape = std::vector<std::int64_t>;

// A model folder whose tensors count their values up from the tensor's place in the file, times
// 1000; ones where they are F16 or F8.
struct Folder {
  TempDir folder;
  std::string config;
  std::vector<std::pair<std::string, Shape>> tensors;
  std::map<std::string, std::string> dtypes;     // others: F32
  std::map<std::string, std::string> values_of;  // a tensor: another, "": it is zero

  Shape& shape(const std::string& name) {
    for (auto& [tensor, shape] : tensors)
      if (tensor == name) return shape;
    FAIL("no such tensor");
    return tensors[0].second;
  }
  float first(const std::string& name) const {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].first == name) return 1000.0f * static_cast<float>(i);
    FAIL("no such tensor");
    return 0;
  }
  std::unique_ptr<WeightSource> open() const {
    std::string header, data;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const auto& [name, shape] = tensors[i];
      const auto found = dtypes.find(name);
      const std::string dtype = found == dtypes.end() ? "F32" : found->second;
      const auto copied = values_of.find(name);
      const bool is_zero = copied != values_of.end() && copied->second.empty();
      const float least = copied == values_of.end() || is_zero ? 1000.0f * static_cast<float>(i)
                                                               : first(copied->second);
      const std::size_t begin = data.size();
      std::int64_t elements = 1;
      std::string extents;
      for (const std::int64_t extent : shape) {
        elements *= extent;
        extents += (extents.empty() ? "" : ",") + std::to_string(extent);
      }
      for (std::int64_t k = 0; k < elements; ++k) {
        const float value = is_zero ? 0 : least + static_cast<float>(k);
        if (dtype.starts_with("F8")) {
          data += '\x38';  // 1
        } else if (dtype == "F16") {
          data += bytes_of<std::uint16_t>(0x3c00);  // 1
        } else if (dtype == "F64") {
          data += bytes_of(value * (1 + 1e-12));
        } else {
          data += dtype == "BF16" ? bytes_of(float_to_bf16(value)) : bytes_of(value);
        }
      }
      header += (i == 0 ? "\"" : ",\"") + name + R"(":{"dtype":")" + dtype + R"(","shape":[)" +
                extents + R"(],"data_offsets":[)" + std::to_string(begin) + "," +
                std::to_string(data.size()) + "]}";
    }
    write_file(folder.path() / "config.json", config);
    write_file(folder.path() / "model.safetensors", safetensors_bytes("{" + header + "}", data));
    return WeightSource::open(folder.path().string());
  }
};

// hidden 4, 2 heads of 2 over one key/value head, intermediate 6, vocabulary 5, one layer.
void fill_llama(Folder& model, const std::string& prefix = "model.") {
  model.config =
      R"({"model_type":"llama","hidden_size":4,"num_attention_heads":2,"num_key_value_heads":1,)"
      R"("intermediate_size":6,"vocab_size":5,"num_hidden_layers":1,"tie_word_embeddings":true})";
  const std::string layer = prefix + "layers.0.";
  model.tensors = {
      {prefix + "embed_tokens.weight", {5, 4}},    {prefix + "norm.weight", {4}},
      {layer + "input_layernorm.weight", {4}},     {layer + "post_attention_layernorm.weight", {4}},
      {layer + "self_attn.q_proj.weight", {4, 4}}, {layer + "self_attn.k_proj.weight", {2, 4}},
      {layer + "self_attn.v_proj.weight", {2, 4}}, {layer + "self_attn.o_proj.weight", {4, 4}},
      {layer + "mlp.gate_proj.weight", {6, 4}},    {layer + "mlp.up_proj.weight", {6, 4}},
      {layer + "mlp.down_proj.weight", {4, 6}}};
}

std::vector<float> rows(const WeightSource& source, Role role, std::int64_t first,
                        std::int64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count * source.shape(role)->cols));
  source.read_rows({role, 0}, first, out);
  return out;
}

std::vector<float> counted(float first, std::size_t count, float step = 1) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(first + step * static_cast<float>(i));
  return values;
}

}  // namespace

TEST_CASE("weights: rows of a weight, from the first asked for; none past the last") {
  Folder model;
  fill_llama(model);
  const auto source = model.open();
  const float q = model.first("model.layers.0.self_attn.q_proj.weight");
  CHECK(rows(*source, Role::kQuery, 0, 4) == counted(q, 16));
  CHECK(rows(*source, Role::kQuery, 3, 1) == counted(q + 12, 4));
  CHECK(rows(*source, Role::kEmbedding, 2, 2) == counted(8, 8));
  CHECK(rows(*source, Role::kFinalNorm, 1, 3) == counted(1001, 3));
  CHECK(!source->reads_whole(Role::kQuery));
  for (const auto& [first, size] : {std::pair(-1, 4), {4, 4}, {3, 8}, {0, 3}, {0, 20}}) {
    std::vector<float> out(static_cast<std::size_t>(size));
    CHECK(refusal(ErrorCode::kInvalidArgument, [&] {
            source->read_rows({Role::kQuery, 0}, first, out);
          }) == "tensor 'model.layers.0.self_attn.q_proj.weight': no such rows");
  }
  CHECK(source->parameters() == 20 + 4 * 3 + 16 + 8 + 8 + 16 + 24 * 3);
  CHECK(!source->is_gguf());
  CHECK(source->gguf() == nullptr);
  CHECK(source->file_bytes() == static_cast<std::int64_t>(std::filesystem::file_size(
                                    model.folder.path() / "model.safetensors")));
}

TEST_CASE("weights: a checkpoint of the bare network has no prefix") {
  Folder model;
  fill_llama(model, "");
  const auto source = model.open();
  CHECK(rows(*source, Role::kFinalNorm, 0, 4) == counted(1000, 4));
  CHECK(rows(*source, Role::kEmbedding, 0, 1) == counted(0, 4));
}

namespace {

const std::string kLayer = "model.layers.0.";

// A llama with further tensors, whose config.json ends in `more`.
struct LlamaWith : Folder {
  explicit LlamaWith(const std::vector<std::pair<std::string, Shape>>& more_tensors,
                     const std::string& more = "") {
    fill_llama(*this);
    config.insert(config.size() - 1, more);
    tensors.insert(tensors.end(), more_tensors.begin(), more_tensors.end());
  }
};

bool notes_name(const WeightSource& source, const std::string& what) {
  return std::ranges::any_of(source.config().notes,
                             [&](const std::string& note) { return has(note, what); });
}

}  // namespace

TEST_CASE("weights: a tied model with an output head of other values has that head, and says so") {
  LlamaWith model({{"lm_head.weight", {5, 4}}});
  const auto own = model.open();
  CHECK(!own->config().tied_embeddings);
  CHECK(rows(*own, Role::kHead, 0, 5) == counted(model.first("lm_head.weight"), 20));
  CHECK(rows(*own, Role::kEmbedding, 0, 5) == counted(0, 20));
  CHECK(notes_name(*own, "lm_head.weight has other values than model.embed_tokens.weight"));
  model.values_of["lm_head.weight"] = "model.embed_tokens.weight";
  for (const char* dtype : {"F32", "F64"}) {
    model.dtypes["lm_head.weight"] = dtype;
    const auto tied = model.open();
    CHECK(tied->config().tied_embeddings);
    CHECK(!tied->shape(Role::kHead));
    CHECK(tied->config().notes.empty());
  }
  model.dtypes.clear();
  model.shape("lm_head.weight") = {4, 4};
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { model.open(); }),
            "tensor 'lm_head.weight': expected shape [5, 4]"));
}

TEST_CASE("weights: a tied model may be stored under its output head's name alone") {
  for (const char* prefix : {"model.", ""}) {
    CAPTURE(prefix);
    Folder model;
    fill_llama(model, prefix);
    model.tensors[0].first = "lm_head.weight";
    const auto source = model.open();
    CHECK(source->config().tied_embeddings);
    CHECK(rows(*source, Role::kEmbedding, 1, 2) == counted(4, 8));
    CHECK(source->stored_type({Role::kEmbedding, 0}) == GgmlType::kF32);
    model.config.replace(model.config.find("true"), 4, "false");
    CHECK(has(refusal(ErrorCode::kCorruption, [&] { model.open(); }), "embed_tokens.weight"));
  }
  Folder untied;
  fill_llama(untied);
  untied.config.replace(untied.config.find("true"), 4, "false");
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { untied.open(); }),
            "expected tensor 'lm_head.weight', found none; by config.json the output head is not "
            "tied to the embedding (tie_word_embeddings)"));
}

TEST_CASE(
    "weights: a tensor of the network that nothing reads is refused, unless it changes nothing") {
  const auto refused = [](ErrorCode code, const std::string& name, const Shape& shape) {
    const LlamaWith model({{name, shape}});
    const std::string said = refusal(code, [&] { model.open(); });
    CHECK(has(said, "tensor '" + name + "': "));
    return said;
  };
  for (const char* name : {"self_attn.q_proj.bias", "self_attn.o_proj.bias"})
    CHECK(has(refused(ErrorCode::kCorruption, kLayer + name, {4}), "(attention_bias)"));
  CHECK(has(refused(ErrorCode::kCorruption, kLayer + "mlp.down_proj.bias", {4}), "(mlp_bias)"));
  for (const std::string& name :
       {kLayer + "self_attn.q_norm.weight", kLayer + "pre_feedforward_layernorm.weight",
        kLayer + "mlp.experts.0.up_proj.weight", std::string("model.norm.bias"),
        std::string("lm_head.bias"), kLayer + "self_attn.q_proj.weight_scale"})
    CHECK(has(refused(ErrorCode::kNotSupported, name, {2}), "a model of family llama has none"));
  CHECK(has(refused(ErrorCode::kCorruption, "model.layers.1.input_layernorm.weight", {4}),
            "expected 1 layers by config.json (num_hidden_layers), found layer 1"));
  CHECK(has(refused(ErrorCode::kCorruption, "model.layers.10.mlp.up_proj.bias", {4}), "layer 10"));

  LlamaWith harmless({{kLayer + "self_attn.rotary_emb.inv_freq", {1}}});
  harmless.tensors.emplace_back(kLayer + "self_attn.q_proj.bias", Shape{4});
  harmless.values_of[kLayer + "self_attn.q_proj.bias"] = "";
  CHECK(harmless.open()->config().notes.empty());
  CHECK(notes_name(*LlamaWith({{"score.weight", {2, 4}}}).open(),
                   "one tensor is beside the network and not read: score.weight"));
  Folder bare;  // all that it has is the network
  fill_llama(bare, "");
  bare.tensors.emplace_back("layers.0.self_attn.q_proj.bias", Shape{4});
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { bare.open(); }), "(attention_bias)"));
}

TEST_CASE(
    "weights: biases of convolutions are zero where the file lacks them, and are to be announced") {
  const auto folder = [](const std::string& more, bool biased) {
    Folder model;
    model.config =
        R"({"model_type":"lfm2","hidden_size":4,"num_attention_heads":2,"num_key_value_heads":1,)"
        R"("intermediate_size":6,"vocab_size":5,"num_hidden_layers":1,"layer_types":["conv"],)"
        R"("block_auto_adjust_ff_dim":false)" +
        more + "}";
    model.tensors = {
        {"model.embed_tokens.weight", {5, 4}},       {"model.embedding_norm.weight", {4}},
        {kLayer + "operator_norm.weight", {4}},      {kLayer + "ffn_norm.weight", {4}},
        {kLayer + "conv.in_proj.weight", {12, 4}},   {kLayer + "conv.conv.weight", {4, 1, 3}},
        {kLayer + "conv.out_proj.weight", {4, 4}},   {kLayer + "feed_forward.w1.weight", {6, 4}},
        {kLayer + "feed_forward.w3.weight", {6, 4}}, {kLayer + "feed_forward.w2.weight", {4, 6}}};
    if (biased)
      for (const auto& [name, size] :
           {std::pair("in_proj", 12), std::pair("conv", 4), std::pair("out_proj", 4)})
        model.tensors.emplace_back(kLayer + "conv." + name + ".bias", Shape{size});
    return model.open();
  };
  CHECK(folder("", false)->config().notes.empty());
  const auto none = folder(R"(,"conv_bias":true)", false);
  CHECK(!none->config().conv_bias);
  CHECK(notes_name(*none, "a bias on the convolutions, the file has none: it is zero"));
  const auto all = folder(R"(,"conv_bias":true)", true);
  CHECK(all->config().conv_bias);
  CHECK(all->config().notes.empty());
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { folder("", true); }), "(conv_bias)"));
}

TEST_CASE(
    "weights: a bias that the configuration has and the file lacks is zero, and a note says so") {
  const std::string both = R"(,"attention_bias":true,"mlp_bias":true)";
  const auto none = LlamaWith({}, both).open();
  CHECK(!none->config().qkv_bias);
  CHECK(!none->config().output_bias);
  CHECK(!none->config().mlp_bias);
  CHECK(notes_name(*none, "a bias on q, k and v, the file has none: it is zero"));
  CHECK(notes_name(*none, "a bias on attention's output"));
  CHECK(notes_name(*none, "a bias on the MLP"));
  std::vector<std::pair<std::string, Shape>> biases = {{kLayer + "self_attn.q_proj.bias", {4}},
                                                       {kLayer + "self_attn.k_proj.bias", {2}},
                                                       {kLayer + "self_attn.v_proj.bias", {2}}};
  const auto some = LlamaWith(biases, both).open();
  CHECK(some->config().qkv_bias);
  CHECK(!some->config().output_bias);
  biases.pop_back();
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { LlamaWith(biases, both).open(); }),
            "expected tensor 'model.layers.0.self_attn.v_proj.bias', found none"));
}

TEST_CASE("weights: those in F64 are rounded to F32, and a note says so") {
  Folder model;
  fill_llama(model);
  const std::string q = kLayer + "self_attn.q_proj.weight";
  model.dtypes = {{q, "F64"}, {"model.norm.weight", "F64"}};
  const auto source = model.open();
  CHECK(rows(*source, Role::kQuery, 1, 2) == counted(model.first(q) + 4, 8));
  CHECK(rows(*source, Role::kFinalNorm, 0, 4) == counted(1000, 4));
  CHECK(source->stored_type({Role::kQuery, 0}) == std::nullopt);
  CHECK(notes_name(*source, "tensors in F64 (" + q + " and 1 more) are rounded to F32"));
}

TEST_CASE(
    "weights: matrices in BF16 are read as they lie, vectors do not count for the quantisation") {
  Folder model;
  fill_llama(model);
  CHECK(model.open()->quantisation() == "F32");
  const std::string up = "model.layers.0.mlp.up_proj.weight";
  model.dtypes[up] = "BF16";
  model.dtypes["model.norm.weight"] = "BF16";
  const auto source = model.open();
  CHECK(source->quantisation() == "mixed: F32 BF16");
  CHECK(source->stored_type({Role::kUp, 0}) == GgmlType::kBF16);
  CHECK(source->stored_type({Role::kGate, 0}) == GgmlType::kF32);
  std::vector<std::uint16_t> bits(8);
  const auto bytes = std::as_writable_bytes(std::span(bits));
  source->read_stored_rows({Role::kUp, 0}, 4, bytes);
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(bits[i] == float_to_bf16(model.first(up) + 16 + static_cast<float>(i)));
  for (const std::int64_t first : {-1, 5, 7})
    CHECK(refusal(ErrorCode::kInvalidArgument, [&] {
            source->read_stored_rows({Role::kUp, 0}, first, bytes);
          }) == "tensor '" + up + "': no such rows");
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] {  // not whole rows
          source->read_stored_rows({Role::kUp, 0}, 0, bytes.first(15));
        }) == "tensor '" + up + "': no such rows");
  model.dtypes[up] = "F16";
  CHECK(model.open()->stored_type({Role::kUp, 0}) == GgmlType::kF16);
  model.dtypes[up] = "F8_E4M3";
  CHECK(model.open()->stored_type({Role::kUp, 0}) == std::nullopt);
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] {
          model.open()->read_stored_rows({Role::kUp, 0}, 0, bytes);
        }) == "tensor '" + up + "': no such rows");
  for (const auto& [name, shape] : model.tensors)
    if (shape.size() == 2) model.dtypes[name] = "BF16";
  CHECK(model.open()->quantisation() == "BF16");
  model.dtypes.erase("model.embed_tokens.weight");
  CHECK(model.open()->quantisation() == "mixed: BF16 F32");  // the largest share first
}

TEST_CASE("weights: Phi-3's fused rows are parts of one tensor") {
  Folder model;
  fill_llama(model);
  model.config.replace(model.config.find("llama"), 5, "phi3");
  std::erase_if(model.tensors, [](const auto& tensor) {
    return has(tensor.first, "q_proj") || has(tensor.first, "k_proj") ||
           has(tensor.first, "v_proj") || has(tensor.first, "gate_proj") ||
           has(tensor.first, "up_proj");
  });
  const std::string qkv = "model.layers.0.self_attn.qkv_proj.weight";
  const std::string gate_up = "model.layers.0.mlp.gate_up_proj.weight";
  model.tensors.emplace_back(qkv, Shape{8, 4});
  model.tensors.emplace_back(gate_up, Shape{12, 4});
  const auto source = model.open();
  CHECK(rows(*source, Role::kQuery, 0, 4) == counted(model.first(qkv), 16));
  CHECK(rows(*source, Role::kKey, 1, 1) == counted(model.first(qkv) + 20, 4));
  CHECK(rows(*source, Role::kValue, 0, 2) == counted(model.first(qkv) + 24, 8));
  CHECK(rows(*source, Role::kGate, 5, 1) == counted(model.first(gate_up) + 20, 4));
  CHECK(rows(*source, Role::kUp, 5, 1) == counted(model.first(gate_up) + 44, 4));
  CHECK(!source->reads_whole(Role::kUp));
  model.dtypes[qkv] = "BF16";
  std::vector<std::uint16_t> bits(4);
  model.open()->read_stored_rows({Role::kValue, 0}, 1, std::as_writable_bytes(std::span(bits)));
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(bits[i] == float_to_bf16(model.first(qkv) + 28 + static_cast<float>(i)));
  model.dtypes.clear();
  model.shape(qkv) = {10, 4};  // more key and value rows than the configuration has
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { model.open(); }),
            "tensor '" + qkv + "': expected shape [8, 4] by the configuration, found [10, 4]"));
  model.shape(qkv) = {7, 4};  // the last value row is not there
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { model.open(); }),
            "tensor '" + qkv + "': expected shape [8, 4] by the configuration, found [7, 4]"));
}

TEST_CASE("GPT-2's matrices are stored by input: a row of ours is a column of theirs") {
  Folder model;
  model.config = R"({"model_type":"gpt2","n_embd":4,"n_head":2,"n_layer":1,"vocab_size":5,)"
                 R"("n_positions":3,"n_inner":6})";
  const std::string block = "transformer.h.0.";
  model.tensors = {{"transformer.wte.weight", {5, 4}},
                   {"transformer.wpe.weight", {3, 4}},
                   {"transformer.ln_f.weight", {4}},
                   {"transformer.ln_f.bias", {4}},
                   {block + "ln_1.weight", {4}},
                   {block + "ln_1.bias", {4}},
                   {block + "ln_2.weight", {4}},
                   {block + "ln_2.bias", {4}},
                   {block + "attn.c_attn.weight", {4, 12}},
                   {block + "attn.c_attn.bias", {12}},
                   {block + "attn.c_proj.weight", {4, 4}},
                   {block + "attn.c_proj.bias", {4}},
                   {block + "mlp.c_fc.weight", {4, 6}},
                   {block + "mlp.c_fc.bias", {6}},
                   {block + "mlp.c_proj.weight", {6, 4}},
                   {block + "mlp.c_proj.bias", {4}}};
  const auto source = model.open();
  const float fused = model.first(block + "attn.c_attn.weight");
  const auto column = [&](std::int64_t c) { return counted(fused + static_cast<float>(c), 4, 12); };
  CHECK(rows(*source, Role::kQuery, 0, 1) == column(0));
  CHECK(rows(*source, Role::kKey, 0, 1) == column(4));
  CHECK(rows(*source, Role::kValue, 3, 1) == column(11));
  CHECK(rows(*source, Role::kValueBias, 0, 4) ==
        counted(model.first(block + "attn.c_attn.bias") + 8, 4));
  CHECK(rows(*source, Role::kDown, 1, 1) ==
        counted(model.first(block + "mlp.c_proj.weight") + 1, 6, 4));
  CHECK(rows(*source, Role::kPositions, 2, 1) == counted(1008, 4));
  CHECK(source->reads_whole(Role::kQuery));
  CHECK(!source->reads_whole(Role::kQueryBias));
  CHECK(source->stored_type({Role::kQuery, 0}) == std::nullopt);
  model.dtypes[block + "mlp.c_proj.weight"] = "BF16";
  CHECK(model.open()->stored_type({Role::kDown, 0}) == std::nullopt);  // its rows are not in order
  model.dtypes.clear();
  Folder bare;  // without its prefix
  bare.config = model.config;
  for (const auto& [name, shape] : model.tensors)
    bare.tensors.emplace_back(name.substr(std::string("transformer.").size()), shape);
  CHECK(rows(*bare.open(), Role::kPositions, 2, 1) == counted(1008, 4));
  CHECK(rows(*bare.open(), Role::kKey, 0, 1) == column(4));
  model.shape(block + "mlp.c_proj.weight") = {4, 6};
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { model.open(); }),
            "tensor 'transformer.h.0.mlp.c_proj.weight': expected shape [4, 6]"));
}

TEST_CASE("weights: a tensor of another shape, or none, is refused by its name") {
  const auto changed = [](const std::string& name, const Shape& shape) {
    Folder model;
    fill_llama(model);
    model.shape(name) = shape;
    return refusal(ErrorCode::kCorruption, [&] { model.open(); });
  };
  const std::string k = "model.layers.0.self_attn.k_proj.weight";
  for (const auto& [shape, shown] : {std::pair(Shape{3, 4}, "[3, 4]"),
                                     {Shape{1, 4}, "[1, 4]"},
                                     {Shape{2, 3}, "[2, 3]"},
                                     {Shape{8}, "[8]"},
                                     {Shape{1, 2, 4}, "[1, 2, 4]"}})
    CHECK(has(changed(k, shape),
              "tensor '" + k + "': expected shape [2, 4] by the configuration, found " + shown));
  CHECK(has(changed("model.norm.weight", {5}),
            "tensor 'model.norm.weight': expected shape [4, 1] by the configuration, found [5]"));
  Folder model;
  fill_llama(model);
  model.tensors.pop_back();
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { model.open(); }),
            "expected tensor 'model.layers.0.mlp.down_proj.weight', found none"));
}

TEST_CASE(
    "weights: a .safetensors file alone is refused with what to open, a path that is not there too") {
  Folder model;
  fill_llama(model);
  model.open();
  CHECK(has(
      refusal(ErrorCode::kInvalidArgument,
              [&] { WeightSource::open((model.folder.path() / "model.safetensors").string()); }),
      "open the folder that holds this file and its config.json"));
  CHECK(has(refusal(ErrorCode::kNotFound,
                    [&] { WeightSource::open((model.folder.path() / "none").string()); }),
            "found nothing there"));
}

namespace {

// A one-layer Llama GGUF of `width` numbers a row everywhere, two heads, `vocab` tokens.
GgufWriter gguf_llama(std::uint32_t width, std::uint32_t vocab) {
  GgufWriter file;
  file.add("general.architecture", std::string("llama"));
  for (const auto& [key, value] : {std::pair("block_count", 1u),
                                   {"context_length", 64u},
                                   {"embedding_length", width},
                                   {"feed_forward_length", width},
                                   {"attention.head_count", 2u}})
    file.add(std::string("llama.") + key, std::uint32_t{value});
  file.add("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  const auto numbers = [](std::uint32_t count) { return counted(0, count); };
  file.add_f32("token_embd.weight", {width, vocab}, numbers(width * vocab));
  for (const char* name : {"output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"})
    file.add_f32(std::string(name) + ".weight", {width}, numbers(width));
  for (const char* name : {"attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
    file.add_f32(std::string("blk.0.") + name + ".weight", {width, width}, numbers(width * width));
  return file;
}

std::unique_ptr<WeightSource> opened(const TempDir& folder, const GgufWriter& file) {
  write_file(folder.path() / "model.gguf", file.bytes());
  return WeightSource::open((folder.path() / "model.gguf").string());
}

}  // namespace

TEST_CASE("GGUF: rows of a quantised tensor begin at their blocks, in tensors of any size") {
  const TempDir folder;
  GgufWriter file = gguf_llama(32, 4000);
  // q: Q8_0, a row a block, row r's scale 1 and its numbers r.
  file.add_entry("blk.0.attn_q.weight", {32, 32}, 8, file.data.size());
  for (char r = 0; r < 32; ++r) file.data += std::string("\x00\x3c", 2) + std::string(32, r);
  file.data.resize((file.data.size() + 31) / 32 * 32, '\0');
  file.add_entry("output.weight", {32, 4000}, 8, file.data.size());
  for (int r = 0; r < 4000; ++r)
    file.data += std::string("\x00\x3c", 2) + std::string(32, static_cast<char>(r % 100));
  file.data.resize((file.data.size() + 31) / 32 * 32, '\0');
  const auto source = opened(folder, file);
  CHECK(rows(*source, Role::kHead, 7, 2)[0] == 7);
  CHECK(rows(*source, Role::kHead, 7, 2)[63] == 8);
  // More than is decoded at a time (65,536 numbers).
  const std::vector<float> head = rows(*source, Role::kHead, 0, 4000);
  const std::vector<float> embedding = rows(*source, Role::kEmbedding, 0, 4000);
  for (std::size_t r = 0; r < 4000; r += 37) {
    CHECK(head[r * 32 + 31] == static_cast<float>(r % 100));
    CHECK(embedding[r * 32] == static_cast<float>(r * 32));
  }
  // Row i of a head of 16 is the file's row 2i, row 8 + i its row 2i + 1.
  CHECK(rows(*source, Role::kQuery, 1, 1)[0] == 2);
  CHECK(rows(*source, Role::kQuery, 8, 1)[0] == 1);
  CHECK(rows(*source, Role::kQuery, 19, 1)[5] == 22);
  CHECK(source->reads_whole(Role::kQuery));
  CHECK(source->quantisation() == "mixed: F32 Q8_0");
}

TEST_CASE("GGUF: stored rows come in our order, whatever the order in the file") {
  const TempDir folder;
  GgufWriter file = gguf_llama(8, 4);
  for (const char* name : {"blk.0.attn_q.weight", "output.weight"}) {
    const std::uint64_t count = std::string(name) == "output.weight" ? 4 : 8;
    file.add_entry(name, {8, count}, 30, file.data.size());
    for (std::uint64_t i = 0; i < 8 * count; ++i)
      file.data += bytes_of(float_to_bf16(static_cast<float>(i)));
    file.data.resize((file.data.size() + 31) / 32 * 32, '\0');
  }
  const auto source = opened(folder, file);
  CHECK(source->stored_type({Role::kQuery, 0}) == GgmlType::kBF16);
  CHECK(source->stored_type({Role::kHead, 0}) == GgmlType::kBF16);
  CHECK(source->stored_type({Role::kKey, 0}) == GgmlType::kF32);
  std::vector<std::uint16_t> bits(8);
  const auto bytes = std::as_writable_bytes(std::span(bits));
  source->read_stored_rows({Role::kHead, 0}, 2, bytes);
  for (std::size_t i = 0; i < 8; ++i) CHECK(bits[i] == float_to_bf16(16 + static_cast<float>(i)));
  // The same row as read_rows() gives, which another test checks by its value.
  for (std::int64_t row = 0; row < 8; ++row) {
    source->read_stored_rows({Role::kQuery, 0}, row, bytes);
    const std::vector<float> want = rows(*source, Role::kQuery, row, 1);
    for (std::size_t i = 0; i < 8; ++i) CHECK(bits[i] == float_to_bf16(want[i]));
  }
}

TEST_CASE("GGUF: weights in F64 are rounded to F32, and the embedding has the vocabulary's size") {
  const TempDir folder;
  GgufWriter file = gguf_llama(8, 4);
  file.add_entry("blk.0.attn_q.weight", {8, 8}, 28, file.data.size());
  for (int i = 0; i < 64; ++i) file.data += bytes_of(i * (1 + 1e-12));
  file.add("llama.vocab_size", std::uint32_t{5});
  const auto source = opened(folder, file);
  CHECK(rows(*source, Role::kQuery, 0, 1) == counted(0, 8));
  CHECK(rows(*source, Role::kQuery, 1, 1) == counted(16, 8));
  CHECK(source->stored_type({Role::kQuery, 0}) == std::nullopt);
  CHECK(notes_name(*source, "tensors in F64 (blk.0.attn_q.weight) are rounded to F32"));
  CHECK(source->config().vocab_size == 4);
  CHECK(notes_name(*source, "llama.vocab_size is 5, the embedding has 4 rows"));
}

TEST_CASE("GGUF: a tensor that no weight is read from is refused, rope's factors are not") {
  const TempDir folder;
  GgufWriter file = gguf_llama(8, 4);
  file.add_f32("blk.0.attn_q.weight", {8, 8}, std::vector<float>(64));
  file.add_f32("rope_freqs.weight", {2}, {1, 2});
  CHECK(opened(folder, file)->config().ropes[0].divisors == std::vector<float>{1, 2});
  GgufWriter unknown = file;
  unknown.add_f32("rope_factors.weight", {2}, {1, 2});
  CHECK(has(refusal(ErrorCode::kNotSupported, [&] { opened(folder, unknown); }),
            "tensor 'rope_factors.weight'"));
  file.add_f32("rope_other.weight", {2}, {1, 2});
  CHECK(has(refusal(ErrorCode::kNotSupported, [&] { opened(folder, file); }),
            "tensor 'rope_other.weight' in a model of family llama is not supported"));
}

}  // namespace test_weights

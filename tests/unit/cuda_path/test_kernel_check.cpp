// The self-check at load, over a stand-in whose launchers can be made to answer wrongly or to refuse:
// a kernel that fails it is replaced by libtorch's operations, with a reason.
#include <ATen/ATen.h>  // before doctest: its logging has a CHECK of its own, which ours must replace
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/model/kernel_check.h"
#include "core/model/transformer.h"
#include "tests/support/sanitized.h"
#include "tests/unit/model/model_test_util.h"
#include "tests/unit/model/stored_llama.h"

namespace triescope::test {
namespace {

using formats::GgmlType;
using nlohmann::json;

const bool use_stand_in =
    ::setenv("TRIESCOPE_CUDA_MODULE", TRIESCOPE_CUDA_STAND_IN, /*overwrite=*/1) == 0;

// The stand-in's, for as long as this lives.
class StandIn {
 public:
  StandIn(std::string name, const std::string& value) : name_(std::move(name)) {
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;
  ~StandIn() { ::unsetenv(name_.c_str()); }

 private:
  std::string name_;
};

constexpr const char* kWrong = "TRIESCOPE_CUDA_STAND_IN_WRONG";
constexpr const char* kError = "TRIESCOPE_CUDA_STAND_IN_ERROR";
const std::string kSlower = ", with the same result and more slowly: ";

json golden_cases() {
  std::ifstream file(source_dir() / "tests" / "golden" / "model_families.json");
  return json::parse(file)["cases"];
}

std::unique_ptr<Model> load(const std::string& path, DType dtype,
                            LayerSteps steps = LayerSteps::kKernels) {
  ModelInfo info = inspect_model(path);
  info.dtype = dtype;
  return make_torch_transformer(*formats::WeightSource::open(path), info,
                                {.dtype = dtype, .threads = 1}, steps, {}, {});
}

std::vector<float> logits_of(Model& model) {
  const auto kv = model.make_kv(4);
  return all_logits(model, *kv, {3, 1, 2, 5});
}

bool begins(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

TEST_CASE("kernel check: kernels that are right pass, in every family and dtype") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  REQUIRE(use_stand_in);
  const json golden = golden_cases();
  for (const auto& [name, entry] : golden.items()) {
    const TempDir folder;
    write_golden_model(entry, folder.path());
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
      CAPTURE(name);
      CAPTURE(to_string(dtype));
      CHECK(load(folder.path().string(), dtype)->info().warning == "");
    }
  }
}

TEST_CASE("kernel check: kernels that are right pass in the shapes of published models") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  formats::ModelConfig config;
  config.layers.resize(2);
  config.ropes.resize(1);
  config.ropes[0].dims = 64;
  config.hidden = 576;
  config.heads = 9;
  config.kv_heads = 3;
  config.head_dim = 64;
  config.intermediate = 1536;
  config.attention_scale = 0.125f;
  formats::ModelConfig large = config;
  large.hidden = 4096;
  large.heads = 32;
  large.kv_heads = 8;
  large.head_dim = large.ropes[0].dims = 128;
  large.intermediate = 14336;
  large.qk_norm = large.sandwich_norms = true;
  large.activation = formats::Activation::kGeluTanh;
  large.layers[1] = {.window = 4096, .rope = -1};
  large.attention_softcap = 50;
  for (const formats::ModelConfig& of : {config, large}) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
      CAPTURE(of.hidden);
      CAPTURE(std::string(at::toString(dtype)));
      const KernelObstacles found = check_layer_kernels(of, at::TensorOptions(dtype));
      CHECK(found.embed_norm == "");
      CHECK(found.add_norm == "");
      CHECK(found.split_qkv == "");
      CHECK(found.activation == "");
      CHECK(found.attention == "");
    }
  }
  for (const GgmlType type : formats::stored_types()) {
    if (formats::block_elements(type) == 1) continue;
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf})
      CHECK(check_block_kernels(type, 2048, at::TensorOptions(dtype)) == "");
  }
}

TEST_CASE("kernel check: a kernel that answers wrongly is replaced by libtorch's operations") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  const TempDir folder;
  write_golden_model(golden_cases()["gemma2"], folder.path());
  const std::string path = folder.path().string();
  for (const auto& [launcher, step] :
       {std::pair{"embed_norm", "embeddings run on libtorch's operations instead of a kernel"},
        {"add_norm", "norms run on libtorch's operations instead of a kernel"},
        {"split_qkv", "rotary positions run on libtorch's operations instead of a kernel"},
        {"gated_activation", "activations run on libtorch's operations instead of a kernel"},
        {"tree_attention",
         "attention runs on libtorch's operations instead of the tree-attention kernel"}}) {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
      CAPTURE(launcher);
      CAPTURE(to_string(dtype));
      const StandIn wrong(kWrong, launcher);
      const auto model = load(path, dtype);
      const std::string& warning = model->info().warning;
      CHECK(begins(warning,
                   step + kSlower + "on cpu a result of the kernel is off by 1.0e+00, and "));
      CHECK(warning.find(';') == std::string::npos);  // the others stay
      if (dtype != DType::kF32) continue;
      const auto plain = load(path, dtype, LayerSteps::kOperations);
      CHECK(max_difference(logits_of(*model), logits_of(*plain)) < 1e-5);
    }
  }
}

TEST_CASE("kernel check: where nothing can be launched the model runs, and says so once") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  const TempDir folder;
  const std::string path = (folder.path() / "model.gguf").string();
  std::ofstream(path, std::ios::binary)
      << llama_file([](const std::string&) { return GgmlType::kQ4_K; }, 501);
  const StandIn refuses(kError, "209");
  const auto model = load(path, DType::kF32);
  const std::string reason = "the kernel cannot be launched on cpu: an error of the stand-in";
  CHECK(model->info().warning ==
        "layers run on libtorch's operations instead of the CUDA kernels" + kSlower + reason +
            "; the file's quantised matrices are expanded to f32 on loading: " + reason);
  const auto plain = load(path, DType::kF32, LayerSteps::kOperations);
  CHECK(logits_of(*model) == logits_of(*plain));
}

TEST_CASE("kernel check: one kernel that cannot be launched leaves the others their work") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  const TempDir folder;
  write_golden_model(golden_cases()["llama"], folder.path());
  for (const auto& [kernel, steps] : {std::pair{"209 embed_norm", "embeddings run"},
                                      {"209 add_norm", "norms run"},
                                      {"209 split_qkv_heads<T>", "rotary positions run"},
                                      {"209 gated_activation", "activations run"}}) {
    CAPTURE(kernel);
    const StandIn refuses(kError, kernel);
    const auto model = load(folder.path().string(), DType::kF32);
    CHECK(model->info().warning ==
          steps + std::string(" on libtorch's operations instead of a kernel") + kSlower +
              "the kernel cannot be launched on cpu: an error of the stand-in");
    CHECK(logits_of(*model).size() == 4 * static_cast<std::size_t>(model->info().vocab_size));
  }
}

TEST_CASE("kernel check: blocks that a kernel reads wrongly are expanded on loading") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  const TempDir folder;
  const std::string path = (folder.path() / "model.gguf").string();
  std::ofstream(path, std::ios::binary)
      << llama_file([](const std::string&) { return GgmlType::kQ6_K; }, 502);
  const auto plain = load(path, DType::kF32, LayerSteps::kOperations);
  for (const auto& [launcher, reason] :
       {std::pair{"block_linear", "on cpu a result of the kernel is off by 1.0e+00, and "},
        {"block_rows", "on cpu the kernel's weights are not the bits of the file's"}}) {
    CAPTURE(launcher);
    const StandIn wrong(kWrong, launcher);
    const auto model = load(path, DType::kF32);
    CHECK(begins(
        model->info().warning,
        std::string("the file's quantised matrices are expanded to f32 on loading: ") + reason));
    CHECK(model->info().cheap_rows == 33);
    const std::vector<float> want = logits_of(*plain);
    float largest = 0;
    for (const float logit : want) largest = std::max(largest, std::abs(logit));
    CHECK(max_difference(logits_of(*model), want) < 1e-4 * largest);
  }
}

}  // namespace
}  // namespace triescope::test

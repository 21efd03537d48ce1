// The self-check at load, over a stand-in whose launchers can be made to answer wrongly or to refuse:
// a kernel that fails it is replaced by libtorch's operations, with a reason.
#include <c10/util/Logging.h>  // before doctest: it has a CHECK of its own, which ours must replace
#include <doctest/doctest.h>

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "core/base/bf16.h"
#include "core/kernels/aten.h"
#include "core/kernels/cuda_cases/kernel_case.h"
#include "core/kernels/cuda_module.h"
#include "core/model/torch/cuda_launch.h"
#include "core/model/torch/kernel_check.h"
#include "core/model/torch/row_summary.h"
#include "core/model/transformer.h"
#include "tests/golden/parity_models.h"
#include "tests/unit/cuda_path/fallbacks.h"
#include "tests/unit/cuda_path/torch_model.h"
#include "tests/unit/model/model_test_util.h"
#include "tests/unit/model/stored_llama.h"

namespace triescope::test::test_kernel_check {
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

json golden_cases() { return golden_families()["cases"]; }

std::vector<float> logits_of(Model& model) {
  const auto kv = model.make_kv(4);
  return all_logits(model, *kv, {3, 1, 2, 5});
}

bool begins(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

TEST_CASE("kernel check: kernels that are right pass, in every family and dtype") {
  REQUIRE(use_stand_in);
  const json golden = golden_cases();
  for (const auto& [name, entry] : golden.items()) {
    const TempDir folder;
    write_golden_model(entry, folder.path());
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
      CAPTURE(name);
      CAPTURE(to_string(dtype));
      CHECK(reasons_of(load_torch_model(folder.path().string(), dtype)->info().warning) ==
            expected_reasons(name));
    }
  }
}

// The goldens on a GPU ask for it (load_parity_model).
TEST_CASE("kernel check: no model of the parity goldens gives way to libtorch's operations") {
  REQUIRE(use_stand_in);
  for (const auto& [name, entry] : parity_file()["models"].items()) {
    const TempDir folder;
    write_golden_model(entry, folder.path());
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      CAPTURE(name);
      CAPTURE(to_string(dtype));
      CHECK(load_torch_model(folder.path().string(), dtype)->info().warning == "");
    }
  }
}

TEST_CASE("kernel check: kernels that are right pass in the shapes of published models") {
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
  large.qk_norm = formats::QkNorm::kHeads;
  large.post_norms = true;
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
  for (const GgmlType type : kernels::kernel_block_types()) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf})
      CHECK(check_block_kernels(type, 2048, at::TensorOptions(dtype)) == "");
  }
}

TEST_CASE(
    "kernel check: types of blocks that the CPU alone computes from are widened, and it says so") {
  for (const GgmlType type : {GgmlType::kMXFP4, GgmlType::kNVFP4})
    CHECK(check_block_kernels(type, 2048, at::TensorOptions(at::kFloat)) ==
          "no kernel of a GPU computes from blocks of type " + formats::to_string(type));
}

TEST_CASE("kernel check: a kernel that answers wrongly is replaced by libtorch's operations") {
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
      const auto model = load_torch_model(path, dtype);
      const std::string& warning = model->info().warning;
      CHECK(begins(warning,
                   step + kSlower + "on cpu a result of the kernel is off by 1.0e+00, and "));
      CHECK(warning.find(';') == std::string::npos);  // the others stay
      if (dtype != DType::kF32) continue;
      const auto plain = load_torch_model(path, dtype, LayerSteps::kOperations);
      CHECK(max_difference(logits_of(*model), logits_of(*plain)) < 1e-5);
    }
  }
}

TEST_CASE("kernel check: where nothing can be launched the model runs, and says so once") {
  const TempDir folder;
  const std::string path = (folder.path() / "model.gguf").string();
  std::ofstream(path, std::ios::binary)
      << llama_file([](const std::string&) { return GgmlType::kQ4_K; }, 501);
  const StandIn refuses(kError, "209");
  const auto model = load_torch_model(path, DType::kF32);
  const std::string reason = "the kernel cannot be launched on cpu: an error of the stand-in";
  CHECK(model->info().warning ==
        "layers run on libtorch's operations instead of the CUDA kernels" + kSlower + reason +
            "; the file's quantised matrices are expanded to f32 on loading: " + reason);
  const auto plain = load_torch_model(path, DType::kF32, LayerSteps::kOperations);
  CHECK(logits_of(*model) == logits_of(*plain));
}

TEST_CASE("kernel check: one kernel that cannot be launched leaves the others their work") {
  const TempDir folder;
  write_golden_model(golden_cases()["llama"], folder.path());
  for (const auto& [kernel, steps] : {std::pair{"209 embed_norm", "embeddings run"},
                                      {"209 add_norm", "norms run"},
                                      {"209 split_qkv_heads<T>", "rotary positions run"},
                                      {"209 gated_activation", "activations run"}}) {
    CAPTURE(kernel);
    const StandIn refuses(kError, kernel);
    const auto model = load_torch_model(folder.path().string(), DType::kF32);
    CHECK(model->info().warning ==
          steps + std::string(" on libtorch's operations instead of a kernel") + kSlower +
              "the kernel cannot be launched on cpu: an error of the stand-in");
    CHECK(logits_of(*model).size() == 4 * static_cast<std::size_t>(model->info().vocab_size));
  }
}

TEST_CASE("kernel check: blocks that a kernel reads wrongly are expanded on loading") {
  const TempDir folder;
  const std::string path = (folder.path() / "model.gguf").string();
  std::ofstream(path, std::ios::binary)
      << llama_file([](const std::string&) { return GgmlType::kQ6_K; }, 502);
  const auto plain = load_torch_model(path, DType::kF32, LayerSteps::kOperations);
  for (const auto& [launcher, reason] :
       {std::pair{"block_linear", "on cpu a result of the kernel is off by 1.0e+00, and "},
        {"block_rows", "on cpu the kernel's weights are not the bits of the file's"}}) {
    CAPTURE(launcher);
    const StandIn wrong(kWrong, launcher);
    const auto model = load_torch_model(path, DType::kF32);
    CHECK(begins(
        model->info().warning,
        std::string("the file's quantised matrices are expanded to f32 on loading: ") + reason));
    CHECK(model->info().row_costs.cheap_rows == 33);
    const std::vector<float> want = logits_of(*plain);
    float largest = 0;
    for (const float logit : want) largest = std::max(largest, std::abs(logit));
    CHECK(max_difference(logits_of(*model), want) < 1e-4 * largest);
  }
}

TEST_CASE("kernel check: logits of 16 bits are rounded only where the kernel cannot do without") {
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf})
    for (const std::int64_t inputs : {8, 576, 4096})
      CHECK(check_dense_kernel(inputs, at::TensorOptions(dtype)) == "");
  CHECK(check_dense_kernel(64, at::TensorOptions(at::kFloat)) == "fp32 is not rounded");
  CHECK(check_dense_kernel(12, at::TensorOptions(at::kHalf)) ==
        "the kernel takes a multiple of 8 inputs, and this model is 12 wide");

  const TempDir folder;
  write_golden_model(golden_cases()["llama"], folder.path());
  const std::string path = folder.path().string();
  const auto are_rounded = [](const std::vector<float>& logits) {
    return std::ranges::all_of(
        logits, [](float logit) { return bf16_to_float(float_to_bf16(logit)) == logit; });
  };
  const auto plain = load_torch_model(path, DType::kBF16, LayerSteps::kOperations);
  CHECK(are_rounded(logits_of(*plain)));
  CHECK_FALSE(are_rounded(logits_of(*load_torch_model(path, DType::kBF16))));
  const StandIn wrong(kWrong, "block_linear");
  const auto model = load_torch_model(path, DType::kBF16);
  CHECK(
      begins(model->info().warning,
             "logits are rounded to bf16: on cpu a result of the kernel is off by 1.0e+00, and "));
  CHECK(are_rounded(logits_of(*model)));
}

TEST_CASE("kernel check: a row summary that is right passes, in every size of vocabulary") {
  for (const std::int64_t vocab : {1, 63, 64, 5000, 49152}) {
    CAPTURE(vocab);
    CHECK(check_row_summary(vocab, at::TensorOptions(at::kBFloat16)) == "");
  }
}

TEST_CASE("kernel check: a row summary that is wrong, refused or too short is not used") {
  const at::TensorOptions options(at::kFloat);
  CHECK(check_row_summary(kTriescopeRowSummaryTokens + 1, options) ==
        "the kernel takes rows of at most 262144 tokens, and this vocabulary has 262145");
  {
    const StandIn wrong(kWrong, "row_summary");
    CHECK(begins(check_row_summary(300, options),
                 "on cpu a result of the kernel is off by 1.0e+00, and "));
  }
  {
    const StandIn wrong(kWrong, "row_summary_values");
    CHECK(check_row_summary(300, options) ==
          "on cpu the kernel's best tokens are not those that sorting finds");
  }
  for (const char* kernel : {"209 summary_of_parts", "209 summary_of_rows"}) {
    CAPTURE(kernel);
    const StandIn refuses(kError, kernel);
    CHECK(check_row_summary(300, options) ==
          "the kernel cannot be launched on cpu: an error of the stand-in");
  }
}

TEST_CASE("row summaries: what one copy brings holds every row's sum, values and tokens") {
  constexpr int kBest = 5;
  // Rows that lie apart, as one of several does; and one alone, whose stride says nothing.
  const at::Tensor wide = at::randperm(4 * 700, at::kFloat).reshape({4, 700}) / 256;
  const at::Tensor all = wide.narrow(1, 10, 600);
  const at::Tensor one = all.narrow(0, 2, 1).as_strided({1, 600}, {1, 1});
  for (const at::Tensor& logits : {all, one}) {
    const std::int64_t rows = logits.size(0);
    CAPTURE(rows);
    const RowSummaries found = summarise_rows(logits, kBest);
    const auto [values, tokens] = at::topk(logits, kBest, 1);
    CHECK(at::equal(found.values, values));
    CHECK(at::equal(found.tokens, tokens.to(at::kInt)));
    CHECK(at::allclose(found.log_sum, at::logsumexp(logits, 1)));
    const at::Tensor host = found.all.clone();
    REQUIRE((host.scalar_type() == at::kInt));
    REQUIRE(host.numel() == rows * (1 + 2 * kBest));
    const auto* words = host.const_data_ptr<std::int32_t>();
    const std::size_t best = static_cast<std::size_t>(rows * kBest) * 4;
    CHECK(std::memcmp(words, found.log_sum.const_data_ptr<float>(),
                      static_cast<std::size_t>(rows) * 4) == 0);
    CHECK(std::memcmp(words + rows, found.values.const_data_ptr<float>(), best) == 0);
    CHECK(std::memcmp(words + rows * (1 + kBest), found.tokens.const_data_ptr<std::int32_t>(),
                      best) == 0);
  }
  const RowSummaries none = summarise_rows(all.narrow(0, 0, 0), kBest);
  CHECK(none.tokens.size(1) == kBest);
  CHECK(none.all.numel() == 0);
  CHECK_THROWS_AS(summarise_rows(all, kTriescopeRowSummaryBest + 1), LaunchError);
}

TEST_CASE("kernel check: the stand-in counts page-locked memory, and there may be none") {
  const kernels::CudaModule& module = kernels::cuda_module();
  REQUIRE(module.available());
  void* library = ::dlopen(module.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  const auto count =
      reinterpret_cast<int (*)()>(::dlsym(library, "triescope_stand_in_host_allocations"));
  REQUIRE((count != nullptr));
  const int before = count();
  void* memory = nullptr;
  REQUIRE(module.host_allocate(&memory, 100) == 0);
  CHECK(count() == before + 1);
  CHECK(module.host_free(memory) == 0);
  CHECK(count() == before);
  const StandIn none("TRIESCOPE_CUDA_STAND_IN_NO_PINNED", "1");
  memory = nullptr;
  CHECK(module.host_allocate(&memory, 100) != 0);
  CHECK(memory == nullptr);
  CHECK(count() == before);
}

}  // namespace
}  // namespace triescope::test::test_kernel_check

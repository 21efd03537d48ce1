// A folder whose weights are quantised inside safetensors computes what the same weights, stored as
// plain numbers, compute.
#include <doctest/doctest.h>

#include "core/files/quantised/quantised_tensors.h"
#include "tests/support/files.h"
#include "tests/unit/files/format_test_util.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test {
namespace {

namespace fs = std::filesystem;

fs::path fixture(const std::string& name) {
  return source_dir() / "tests" / "fixtures" / "quantised" / name;
}

// Writes the model of a fixture with its quantised weights as F32.
void write_plain(const fs::path& from, const fs::path& to) {
  nlohmann::json config = nlohmann::json::parse(read_file(from / "config.json"));
  const formats::JsonFields fields(config, "config.json");
  const auto file = formats::SafeTensors::open_folder(from.string());
  const formats::QuantisedTensors quantised(file, *formats::quantisation_of(fields));
  nlohmann::json header = nlohmann::json::object();
  std::string data;
  const auto add = [&](const std::string& name, const std::string& dtype,
                       const std::vector<std::int64_t>& shape, std::span<const std::byte> bytes) {
    header[name] = {{"dtype", dtype},
                    {"shape", shape},
                    {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    data.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  for (const formats::SafeTensor& tensor : file->tensors()) {
    if (quantised.has_part(tensor.name)) continue;
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.bytes));
    file->read_stored(tensor, 0, bytes);
    add(tensor.name, tensor.dtype, tensor.shape, bytes);
  }
  for (const auto& tensor : quantised.tensors()) {
    std::vector<float> values(static_cast<std::size_t>(tensor->elements()));
    tensor->read(0, values);
    add(tensor->name, "F32", tensor->shape(), std::as_bytes(std::span(values)));
  }
  config.erase("quantization_config");
  write_file(to / "config.json", config.dump());
  write_file(to / "model.safetensors", safetensors_bytes(header.dump(), data));
}

std::vector<float> logits_of(const fs::path& folder, DType dtype, bool reference_kernels) {
  LoadOptions options;
  options.dtype = dtype;
  options.reference_kernels = reference_kernels;
  const auto model = load_model(folder.string(), options);
  const auto kv = model->make_kv(20);
  std::vector<std::int32_t> ids;
  for (std::int32_t i = 0; i < 20; ++i) ids.push_back(i * 7 % 32);
  return all_logits(*model, *kv, ids);
}

}  // namespace

TEST_CASE("quantised model: logits have the bits of the same weights stored as plain numbers") {
  for (const char* name : {"fp8_blocks", "gptq", "awq", "nf4", "llm_int8", "packed_int4"}) {
    CAPTURE(name);
    const TempDir plain;
    write_plain(fixture(name), plain.path());
    for (const DType dtype : {DType::kF32, DType::kBF16})
      for (const bool reference : {false, true})
        CHECK(logits_of(fixture(name), dtype, reference) ==
              logits_of(plain.path(), dtype, reference));
  }
}

TEST_CASE("quantised model: info says what is widened, from how much to how much") {
  const ModelInfo info = inspect_model(fixture("gptq").string());
  CHECK(info.quantisation == "mixed: GPTQ 4-bit F16");
  CHECK(info.widened_parameters == 9216);
  // Codes, scales and zero points of groups of 16, and a group for each of the inputs.
  CHECK(info.widened_bytes == 9216 / 2 + 9216 / 16 * 2 + 9216 / 16 / 2 + 4 * (6 * 32 + 64));
  CHECK(std::ranges::any_of(info.notes, [](const std::string& note) {
    return note.starts_with("no kernel computes from matrices in GPTQ 4-bit: they are widened");
  }));
}

}  // namespace triescope::test

// Every architecture of GGUF against transformers' logits of the model it was converted from. The
// files are those of tests/golden/model_gguf.py: the gguf package's bytes, put together again here.
#include <doctest/doctest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "tests/support/paths.h"
#include "tests/unit/model/model_test_util.h"

using namespace triescope;
using namespace triescope::test;

namespace {

nlohmann::json golden(const char* name) {
  std::ifstream file(source_dir() / "tests" / "golden" / name);
  return nlohmann::json::parse(file);
}

// What the converter makes of a tensor of the model.
std::vector<float> converted(const std::string& how, const nlohmann::json& tensor,
                             std::vector<float> values) {
  const auto rows = tensor[1][0].get<std::size_t>();
  const std::size_t cols = values.size() / rows;
  if (how == "as it is") return values;
  if (how == "plus 1") {
    for (float& value : values) value += 1.0f;
    return values;
  }
  std::vector<float> out(values.size());
  if (how == "transposed") {
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c) out[c * rows + r] = values[r * cols + c];
    return out;
  }
  if (how.starts_with("rows ")) {  // a part of every group of rows: gate or up of each expert
    std::size_t first = 0, count = 0, group = 0;
    std::istringstream(how.substr(5)) >> first >> count >> group;
    const auto width = tensor[1].back().get<std::size_t>();
    std::vector<float> taken;
    for (std::size_t at = 0; at < values.size(); at += group * width)
      taken.insert(taken.end(), values.begin() + static_cast<std::ptrdiff_t>(at + first * width),
                   values.begin() + static_cast<std::ptrdiff_t>(at + (first + count) * width));
    return taken;
  }
  if (how.starts_with(
          "experts ")) {  // some columns of every expert's matrix as rows, or of its bias
    std::size_t first = 0, step = 0, transposed = 0;
    std::istringstream(how.substr(8)) >> first >> step >> transposed;
    const auto last = tensor[1].back().get<std::size_t>();
    const std::size_t inner = transposed != 0 ? tensor[1][1].get<std::size_t>() : 1;
    out.clear();
    for (std::size_t expert = 0; expert < rows; ++expert)
      for (std::size_t c = first; c < last; c += step)
        for (std::size_t i = 0; i < inner; ++i)
          out.push_back(values[(expert * inner + i) * last + c]);
    return out;
  }
  if (how.starts_with("parts ")) {  // q, k and v head by head become all q, all k, all v
    const std::size_t heads = std::stoul(how.substr(6)), dim = rows / heads / 3;
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t head = r / (3 * dim), part = r / dim % 3;
      std::copy_n(&values[r * cols], cols, &out[((part * heads + head) * dim + r % dim) * cols]);
    }
    return out;
  }
  REQUIRE(how.starts_with("permuted "));
  const std::size_t per_head = rows / std::stoul(how.substr(9));
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t in_head = r % per_head;
    const std::size_t to = r - in_head + in_head % (per_head / 2) * 2 + in_head / (per_head / 2);
    std::copy_n(&values[r * cols], cols, &out[to * cols]);
  }
  return out;
}

std::string file_bytes(const nlohmann::json& file, const nlohmann::json& tensors) {
  std::string data(file["bytes"].get<std::size_t>(), '\0');
  const auto header = file["header"].get<std::string>();
  for (std::size_t i = 0; 2 * i < header.size(); ++i)
    data[i] = static_cast<char>(std::stoi(header.substr(2 * i, 2), nullptr, 16));
  for (const auto& tensor : file["tensors"]) {
    std::vector<float> values;
    if (tensor.contains("values")) {
      values = tensor["values"].get<std::vector<float>>();
    } else if (tensor.contains("indices")) {
      for (const auto& index : tensor["indices"]) {
        const std::vector<float> part = golden_values(tensors, index.get<std::size_t>());
        values.insert(values.end(), part.begin(), part.end());
      }
    } else {
      const auto index = tensor["index"].get<std::size_t>();
      values = converted(tensor["how"], tensors[index], golden_values(tensors, index));
    }
    std::memcpy(&data[tensor["at"].get<std::size_t>()], values.data(),
                values.size() * sizeof(float));
  }
  std::uint64_t hash = 0;
  for (std::size_t i = 0; 4 * i < data.size(); ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, &data[4 * i], sizeof word);
    hash += word * (2 * static_cast<std::uint64_t>(i) + 1);
  }
  CHECK(std::to_string(hash) == file["hash"].get<std::string>());
  return data;
}

// Writes the files of a case and returns the path of the first.
std::filesystem::path write_case(const nlohmann::json& entry, const nlohmann::json& families,
                                 const std::filesystem::path& folder) {
  const auto& tensors = families["cases"][entry["case"].get<std::string>()]["tensors"];
  for (const auto& file : entry["files"])
    std::ofstream(folder / file["name"].get<std::string>(), std::ios::binary)
        << file_bytes(file, tensors);
  return folder / entry["files"][0]["name"].get<std::string>();
}

}  // namespace

TEST_CASE("GGUF families: GGUF of every architecture has transformers' logits") {
  const nlohmann::json families = golden("model_families.json"), files = golden("model_gguf.json");
  const auto ids = families["ids"].get<std::vector<std::int32_t>>();
  for (const auto& [name, entry] : files["cases"].items()) {
    const TempDir folder;
    const std::filesystem::path path = write_case(entry, families, folder.path());
    for (const bool reference : {false, true}) {
      const std::string label = name + (reference ? ", reference kernels" : ", own kernels");
      CAPTURE(label);
      LoadOptions options;
      options.reference_kernels = reference;
      options.threads = 2;
      const auto model = load_model(path.string(), options);
      const auto kv = model->make_kv(static_cast<int>(ids.size()));
      const std::vector<float> logits = all_logits(*model, *kv, ids);
      const double largest =
          golden_difference(families["cases"][entry["case"].get<std::string>()], logits);
      CAPTURE(largest);
      CHECK(largest < 2e-4);
      CHECK(model->info().name == name);
      CHECK(model->info().eos_token_ids == std::vector<std::int32_t>{2});
    }
  }
}

TEST_CASE(
    "GGUF families: a model in several GGUF files is one model, and a part that is missing is named") {
  const nlohmann::json families = golden("model_families.json"), files = golden("model_gguf.json");
  const auto& entry = files["cases"]["llama in parts"];
  REQUIRE(entry["files"].size() == 3);
  const TempDir folder;
  const std::filesystem::path first = write_case(entry, families, folder.path());
  const ModelInfo info = inspect_model(first.string());
  CHECK(info.family == "llama");
  std::int64_t bytes = 0;
  for (const auto& file : entry["files"]) bytes += file["bytes"].get<std::int64_t>();
  CHECK(info.file_bytes == bytes);

  const auto last = entry["files"][2]["name"].get<std::string>();
  const auto message = [](const std::filesystem::path& path) -> std::string {
    try {
      load_model(path.string());
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  // Opened by another part, the first one is named.
  CHECK(message(folder.path() / last).find("00001-of-00003") != std::string::npos);
  std::filesystem::remove(folder.path() / last);
  CHECK(message(first).find(last) != std::string::npos);
}

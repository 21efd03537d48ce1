#include "core/files/safetensors.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/files/half.h"
#include "core/files/json.h"

namespace triescope::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxTensorHeaderBytes = 100'000'000;  // as in the reference
constexpr std::uint64_t kMaxIndexBytes = 64u << 20;
constexpr std::size_t kMaxFiles = 4096;

struct Width {
  const char* dtype;
  int bytes;
};
constexpr Width kWidths[] = {{"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F8_E4M3", 1}, {"F8_E5M2", 1},
                             {"F64", 8}, {"I64", 8}, {"U64", 8},  {"I32", 4},     {"U32", 4},
                             {"I16", 2}, {"U16", 2}, {"I8", 1},   {"U8", 1},      {"BOOL", 1}};

[[noreturn]] void corrupt_safetensors(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::kCorruption,
              path + ": " + what + "; the safetensors file is damaged, fetch it again");
}

std::uint64_t unsigned_of(const nlohmann::json& value, const std::string& path,
                          const std::string& what) {
  if (!value.is_number_unsigned())
    corrupt_safetensors(
        path, what + ": expected an unsigned integer, found " + dump_json(value).substr(0, 80));
  return value.get<std::uint64_t>();
}

SafeTensor read_entry(const std::string& path, const std::string& name, const nlohmann::json& entry,
                      int part, std::uint64_t header_end, std::uint64_t data_bytes) {
  const std::string who = "tensor '" + name + "'";
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
      !entry.contains("shape") || !entry["shape"].is_array() || !entry.contains("data_offsets") ||
      !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2) {
    corrupt_safetensors(path, who + ": expected dtype, shape and two data_offsets");
  }
  SafeTensor tensor;
  tensor.name = name;
  tensor.part = part;
  tensor.dtype = entry["dtype"].get<std::string>();
  int width = 0;
  for (const Width& known : kWidths) {
    if (tensor.dtype == known.dtype) width = known.bytes;
  }
  if (width == 0) {
    throw Error(ErrorCode::kNotSupported,
                path + ": " + who + ": dtype " + tensor.dtype.substr(0, 40) + " is not supported");
  }
  if (entry["shape"].size() > 8) corrupt_safetensors(path, who + ": expected at most 8 dimensions");
  std::uint64_t elements = 1;
  for (const auto& extent_json : entry["shape"]) {
    const std::uint64_t extent = unsigned_of(extent_json, path, who + ": shape");
    if (extent != 0 && elements > (std::uint64_t{1} << 56) / extent) {
      corrupt_safetensors(path, who + ": expected fewer than 2^56 values, found a dimension of " +
                                    std::to_string(extent));
    }
    elements *= extent;
    tensor.shape.push_back(static_cast<std::int64_t>(extent));
  }
  const std::uint64_t begin = unsigned_of(entry["data_offsets"][0], path, who + ": data_offsets");
  const std::uint64_t end = unsigned_of(entry["data_offsets"][1], path, who + ": data_offsets");
  if (begin > end || end > data_bytes) {
    corrupt_safetensors(path, who + ": expected data_offsets within the " +
                                  std::to_string(data_bytes) + " bytes of data, found " +
                                  std::to_string(begin) + " to " + std::to_string(end));
  }
  if (end - begin != elements * static_cast<std::uint64_t>(width)) {
    corrupt_safetensors(
        path, who + ": expected " + std::to_string(elements * static_cast<std::uint64_t>(width)) +
                  " bytes by dtype and shape, found " + std::to_string(end - begin));
  }
  tensor.elements = static_cast<std::int64_t>(elements);
  tensor.bytes = static_cast<std::int64_t>(end - begin);
  tensor.offset = header_end + begin;
  return tensor;
}

template <typename T, typename Convert>
void convert(std::span<const std::byte> bytes, std::span<float> out, Convert to_float) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    T bits;
    std::memcpy(&bits, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = to_float(bits);
  }
}

}  // namespace

void SafeTensors::add(std::unique_ptr<InputFile> opened) {
  const int part = static_cast<int>(files_.size());
  files_.push_back(std::move(opened));
  const InputFile& file = *files_.back();
  const std::string& path = file.path();
  if (file.size() < 8)
    corrupt_safetensors(path, "expected at least 8 bytes, found " + std::to_string(file.size()));
  std::uint64_t length = 0;
  file.read(0, std::as_writable_bytes(std::span(&length, 1)));
  if (length > kMaxTensorHeaderBytes || length > file.size() - 8) {
    corrupt_safetensors(path, "expected a header of at most " +
                                  std::to_string(std::min(kMaxTensorHeaderBytes, file.size() - 8)) +
                                  " bytes, found a length of " + std::to_string(length));
  }
  std::string text(length, '\0');
  file.read(8, std::as_writable_bytes(std::span(text)));
  const nlohmann::json header = parse_json(text, path + " (header)");
  if (!header.is_object()) corrupt_safetensors(path, "expected the header to be a JSON object");

  const std::uint64_t data_bytes = file.size() - 8 - length;
  std::vector<SafeTensor> found;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    found.push_back(read_entry(path, name, entry, part, 8 + length, data_bytes));
  }
  std::sort(found.begin(), found.end(), [](const SafeTensor& a, const SafeTensor& b) {
    return std::pair(a.offset, a.bytes) < std::pair(b.offset, b.bytes);
  });
  std::uint64_t expected = 8 + length;
  for (SafeTensor& tensor : found) {
    if (tensor.offset != expected) {
      corrupt_safetensors(path, "tensor '" + tensor.name + "': expected its data at byte " +
                                    std::to_string(expected) +
                                    " (no overlap, no hole), found it at " +
                                    std::to_string(tensor.offset));
    }
    expected += static_cast<std::uint64_t>(tensor.bytes);
    tensors_.push_back(std::move(tensor));
  }
  if (expected != file.size()) {
    corrupt_safetensors(path, "expected the tensors to end with the file at byte " +
                                  std::to_string(file.size()) + ", found their end at " +
                                  std::to_string(expected));
  }
}

void SafeTensors::index() {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (!by_name_.emplace(tensors_[i].name, i).second) {
      corrupt_safetensors(path_of(tensors_[i]),
                          "tensor '" + tensors_[i].name + "' is in two files");
    }
  }
}

std::shared_ptr<const SafeTensors> SafeTensors::open_file(const std::string& path) {
  return open(std::make_unique<InputFile>(path));
}

std::shared_ptr<const SafeTensors> SafeTensors::open(std::unique_ptr<InputFile> file) {
  auto result = std::make_shared<SafeTensors>();
  result->add(std::move(file));
  result->index();
  return result;
}

std::shared_ptr<const SafeTensors> SafeTensors::open_folder(const std::string& folder) {
  std::error_code ignored;
  if (fs::exists(fs::path(folder) / "model.safetensors", ignored)) {
    return open_file(path_in_folder(folder, "model.safetensors"));
  }
  if (!fs::exists(fs::path(folder) / "model.safetensors.index.json", ignored)) {
    throw Error(
        ErrorCode::kNotFound,
        folder + ": expected model.safetensors or model.safetensors.index.json, found neither" +
            (fs::exists(fs::path(folder) / "pytorch_model.bin", ignored)
                 ? "; of pytorch_model.bin only draft heads are read, convert it to safetensors"
                 : ""));
  }
  const std::string index_path = path_in_folder(folder, "model.safetensors.index.json");
  const nlohmann::json index = read_json_file(index_path, kMaxIndexBytes);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object()) {
    throw Error(ErrorCode::kCorruption, index_path + ": expected an object weight_map, found none");
  }
  std::set<std::string> names;
  for (const auto& [tensor, file] : index["weight_map"].items()) {
    if (!file.is_string())
      throw Error(ErrorCode::kCorruption, index_path + ": weight_map: expected file names");
    names.insert(file.get<std::string>());
  }
  if (names.empty() || names.size() > kMaxFiles) {
    throw Error(ErrorCode::kCorruption, index_path + ": expected 1 to " +
                                            std::to_string(kMaxFiles) + " files, found " +
                                            std::to_string(names.size()));
  }
  std::string missing;
  for (const std::string& name : names)
    if (!fs::exists(path_in_folder(folder, name), ignored))
      missing += (missing.empty() ? "" : ", ") + name;
  if (!missing.empty())
    throw Error(ErrorCode::kNotFound,
                index_path + ": expected all of its " + std::to_string(names.size()) +
                    " files in this folder, found no " + missing + "; fetch what is missing");
  auto result = std::make_shared<SafeTensors>();
  for (const std::string& name : names)
    result->add(std::make_unique<InputFile>(path_in_folder(folder, name)));
  result->index();
  for (const auto& [tensor, file] : index["weight_map"].items()) {
    const SafeTensor* found = result->find(tensor);
    if (found == nullptr ||
        fs::path(result->path_of(*found)).filename() != file.get<std::string>()) {
      throw Error(ErrorCode::kCorruption, index_path + ": expected tensor '" + tensor + "' in " +
                                              file.get<std::string>() + ", which does not hold it");
    }
  }
  return result;
}

std::int64_t SafeTensors::file_bytes() const {
  std::int64_t sum = 0;
  for (const auto& file : files_) sum += static_cast<std::int64_t>(file->size());
  return sum;
}

const SafeTensor* SafeTensors::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

const std::string& SafeTensors::path_of(const SafeTensor& tensor) const {
  return files_[static_cast<std::size_t>(tensor.part)]->path();
}

void SafeTensors::read(const SafeTensor& tensor, std::int64_t begin, std::span<float> out) const {
  if (begin < 0 || begin > tensor.elements ||
      out.size() > static_cast<std::size_t>(tensor.elements - begin)) {
    throw Error(ErrorCode::kInvalidArgument, "tensor '" + tensor.name + "': read past its " +
                                                 std::to_string(tensor.elements) + " values");
  }
  const InputFile& file = *files_[static_cast<std::size_t>(tensor.part)];
  const auto width =
      tensor.elements == 0 ? 1 : static_cast<std::uint64_t>(tensor.bytes / tensor.elements);
  const std::uint64_t from = tensor.offset + static_cast<std::uint64_t>(begin) * width;
  if (tensor.dtype == "F32") {
    file.read(from, std::as_writable_bytes(out));
    return;
  }
  std::vector<std::byte> bytes(out.size() * width);
  file.read(from, bytes);
  if (tensor.dtype == "F16") {
    convert<std::uint16_t>(bytes, out, f16_to_float);
  } else if (tensor.dtype == "F64") {
    convert<double>(bytes, out, [](double value) { return static_cast<float>(value); });
  } else if (tensor.dtype == "BF16") {
    convert<std::uint16_t>(bytes, out, bf16_to_float);
  } else if (tensor.dtype == "F8_E4M3") {
    convert<std::uint8_t>(bytes, out, f8_e4m3_to_float);
  } else if (tensor.dtype == "F8_E5M2") {
    convert<std::uint8_t>(bytes, out, f8_e5m2_to_float);
  } else {
    throw Error(ErrorCode::kNotSupported, file.path() + ": tensor '" + tensor.name + "' is " +
                                              tensor.dtype +
                                              ", expected F64, F32, F16, BF16, F8_E4M3 or F8_E5M2");
  }
}

void SafeTensors::read_stored(const SafeTensor& tensor, std::int64_t begin,
                              std::span<std::byte> out) const {
  if (begin < 0 || begin > tensor.bytes ||
      out.size() > static_cast<std::size_t>(tensor.bytes - begin)) {
    throw Error(ErrorCode::kInvalidArgument,
                "tensor '" + tensor.name + "': expected a read within its " +
                    std::to_string(tensor.bytes) + " bytes, found one of " +
                    std::to_string(out.size()) + " at " + std::to_string(begin));
  }
  files_[static_cast<std::size_t>(tensor.part)]->read(
      tensor.offset + static_cast<std::uint64_t>(begin), out);
}

void SafeTensors::will_read(const SafeTensor& tensor) const {
  files_[static_cast<std::size_t>(tensor.part)]->will_read(
      tensor.offset, static_cast<std::uint64_t>(tensor.bytes));
}

void SafeTensors::check_unchanged() const {
  for (const auto& file : files_) file->check_unchanged();
}

}  // namespace triescope::formats

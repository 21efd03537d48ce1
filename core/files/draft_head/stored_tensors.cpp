#include "core/files/draft_head/stored_tensors.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/files/json.h"

namespace triescope::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxIndexBytes = 64u << 20;
constexpr std::size_t kMaxParts = 4096;
constexpr const char* kTorchIndex = "pytorch_model.bin.index.json";
constexpr const char* kSafeIndex = "model.safetensors.index.json";

bool is_torch(const std::string& name) {
  return name.ends_with(".bin") || name.ends_with(".pt") || name.ends_with(".pth");
}
bool is_safetensors(const std::string& name) { return name.ends_with(".safetensors"); }

bool exists(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  return fs::exists(fs::path(folder) / name, ignored);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// The file or index to read in a folder; "" = none.
std::string file_of(const std::string& folder) {
  for (const char* name :
       {"medusa_lm_head.safetensors", "medusa_lm_head.pt", "hydra_lm_head.safetensors",
        "hydra_lm_head.pt", "model.safetensors", kSafeIndex, "pytorch_model.bin", kTorchIndex}) {
    if (exists(folder, name)) return name;
  }
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (is_safetensors(name) || is_torch(name)) names.push_back(name);
  }
  return names.size() == 1 ? names[0] : "";
}

std::set<std::string> parts_of(const std::string& index_path) {
  const nlohmann::json index = read_json_file(index_path, kMaxIndexBytes);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    throw Error(ErrorCode::kCorruption, index_path + ": expected an object weight_map, found none");
  std::set<std::string> names;
  for (const auto& [tensor, file] : index["weight_map"].items()) {
    if (!file.is_string() || names.size() > kMaxParts) {
      throw Error(ErrorCode::kCorruption, index_path +
                                              ": weight_map: expected the names of at most " +
                                              std::to_string(kMaxParts) + " files");
    }
    names.insert(file.get<std::string>());
  }
  return names;
}

}  // namespace

StoredTensors StoredTensors::of(std::shared_ptr<const SafeTensors> file) {
  StoredTensors result;
  result.tensors_.assign(file->tensors().begin(), file->tensors().end());
  result.safe_ = std::move(file);
  return result;
}

StoredTensors StoredTensors::of(std::shared_ptr<const TorchFile> file) {
  StoredTensors result;
  result.add(file);
  return result;
}

void StoredTensors::add(const std::shared_ptr<const TorchFile>& file) {
  for (SafeTensor tensor : file->tensors()) {
    tensor.part = static_cast<int>(torch_.size());
    tensors_.push_back(std::move(tensor));
  }
  torch_.push_back(file);
}

StoredTensors StoredTensors::open(const std::string& path) {
  if (!is_folder(path)) {
    if (is_torch(path)) return of(TorchFile::open(std::make_unique<InputFile>(path)));
    if (is_safetensors(path)) return of(SafeTensors::open_file(path));
    throw Error(ErrorCode::kNotFound,
                path + ": expected a draft head: a folder, or a .safetensors, .bin or .pt file");
  }
  const std::string name = file_of(path);
  if (name.empty()) {
    throw Error(ErrorCode::kNotFound,
                path +
                    ": expected a draft head (model.safetensors, pytorch_model.bin, "
                    "medusa_lm_head.pt, hydra_lm_head.pt or one other such file), found none");
  }
  if (name == kSafeIndex || name == "model.safetensors") return of(SafeTensors::open_folder(path));
  if (name != kTorchIndex) return open(path_in_folder(path, name));
  StoredTensors result;
  for (const std::string& part : parts_of(path_in_folder(path, name)))
    result.add(TorchFile::open(std::make_unique<InputFile>(path_in_folder(path, part))));
  return result;
}

std::vector<std::byte> StoredTensors::read(std::size_t index) const {
  const SafeTensor& tensor = tensors_[index];
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.bytes));
  if (safe_ != nullptr) {
    safe_->read_stored(tensor, 0, bytes);
  } else {
    torch_[static_cast<std::size_t>(tensor.part)]->read_bytes(tensor, bytes);
  }
  return bytes;
}

std::size_t StoredTensors::source(std::size_t index) const {
  const SafeTensor& own = tensors_[index];
  const auto same = [&](const SafeTensor& other) {
    return other.part == own.part && other.offset == own.offset && other.bytes == own.bytes &&
           other.dtype == own.dtype;
  };
  if (own.bytes == 0) return index;
  return static_cast<std::size_t>(std::find_if(tensors_.begin(), tensors_.end(), same) -
                                  tensors_.begin());
}

std::int64_t StoredTensors::file_bytes() const {
  std::int64_t bytes = safe_ != nullptr ? safe_->file_bytes() : 0;
  for (const auto& file : torch_) bytes += file->file_bytes();
  return bytes;
}

bool may_hold_tensors(const std::string& path) {
  if (is_folder(path)) return !file_of(path).empty();
  std::error_code ignored;
  return (is_torch(path) || is_safetensors(path)) && fs::exists(path, ignored);
}

std::string config_beside(const std::string& path) {
  std::string folder = path;
  if (!is_folder(path)) folder = fs::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  if (!exists(folder, "config.json")) return "";
  return InputFile(path_in_folder(folder, "config.json")).text(kMaxConfigBytes);
}

}  // namespace triescope::formats

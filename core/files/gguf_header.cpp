#include "core/files/gguf_header.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "core/base/error.h"

namespace triescope::formats {
namespace {

constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF"
// Limits far above every real model and far below what would hurt.
constexpr std::uint64_t kMaxKeys = 1u << 16;
constexpr std::uint64_t kMaxKeyBytes = 1u << 16;
constexpr std::uint64_t kMaxNameBytes = 256;  // for a tensor's name; ggml's limit is 64
constexpr std::uint64_t kMaxStringBytes = 64u << 20;
constexpr std::uint64_t kMaxStrings = 1u << 22;  // in all lists of a file
constexpr std::uint64_t kMaxNumbers = 1u << 25;  // the same for numbers
constexpr std::uint64_t kMaxHeaderBytes = 256u << 20;

enum class ValueType : std::uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64
};

// Walks the header through a buffer. Every size is compared with the rest of the file before it is
// used.
class Reader {
 public:
  explicit Reader(const InputFile& file) : file_(file) {}

  const std::string& path() const { return file_.path(); }
  std::uint64_t position() const { return position_; }
  std::uint64_t left() const { return file_.size() - position_; }

  // Subtracts a list's entries from the limit for all lists of a file together.
  bool take(std::uint64_t entries, bool texts) {
    std::uint64_t& room = texts ? strings_ : numbers_;
    if (entries > room) return false;
    room -= entries;
    return true;
  }

  template <typename T>
  T number() {
    T value;
    read(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  std::string text(std::uint64_t limit, const char* what) {
    const std::uint64_t start = position_;
    const auto length = number<std::uint64_t>();
    if (length > limit || length > left()) {
      fail(start, std::string("expected ") + what + " of at most " +
                      std::to_string(std::min(limit, left())) + " bytes, found a length of " +
                      std::to_string(length));
    }
    std::string value(length, '\0');
    read(std::as_writable_bytes(std::span(value)));
    return value;
  }

  [[noreturn]] void fail(std::uint64_t at, const std::string& what) const {
    throw Error(ErrorCode::kCorruption, file_.path() + ": at byte " + std::to_string(at) + ": " +
                                            what + "; the GGUF file is damaged, fetch it again");
  }

 private:
  void read(std::span<std::byte> out) {
    if (position_ + out.size() > kMaxHeaderBytes) {
      fail(position_, "expected a header below 256 MiB");
    }
    while (!out.empty()) {
      if (position_ < buffer_begin_ || position_ >= buffer_begin_ + buffer_.size()) fill();
      const std::size_t from = position_ - buffer_begin_;
      const std::size_t count = std::min(out.size(), buffer_.size() - from);
      std::memcpy(out.data(), buffer_.data() + from, count);
      position_ += count;
      out = out.subspan(count);
    }
  }

  void fill() {
    const std::uint64_t count = std::min<std::uint64_t>(left(), 1u << 18);
    if (count == 0) fail(position_, "expected more of the header, found the end of the file");
    buffer_.resize(count);
    file_.read(position_, buffer_);
    buffer_begin_ = position_;
  }

  const InputFile& file_;
  std::vector<std::byte> buffer_;
  std::uint64_t buffer_begin_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t strings_ = kMaxStrings, numbers_ = kMaxNumbers;
};

std::uint64_t size_of(ValueType type) {
  switch (type) {
    case ValueType::kU8:
    case ValueType::kI8:
    case ValueType::kBool:
      return 1;
    case ValueType::kU16:
    case ValueType::kI16:
      return 2;
    case ValueType::kU32:
    case ValueType::kI32:
    case ValueType::kF32:
      return 4;
    case ValueType::kU64:
    case ValueType::kI64:
    case ValueType::kF64:
    case ValueType::kString:
      return 8;
    case ValueType::kArray:
      return 0;
  }
  return 0;
}

std::int64_t read_integer(Reader& reader, ValueType type) {
  switch (type) {
    case ValueType::kU8:
      return reader.number<std::uint8_t>();
    case ValueType::kI8:
      return reader.number<std::int8_t>();
    case ValueType::kU16:
      return reader.number<std::uint16_t>();
    case ValueType::kI16:
      return reader.number<std::int16_t>();
    case ValueType::kU32:
      return reader.number<std::uint32_t>();
    case ValueType::kI32:
      return reader.number<std::int32_t>();
    case ValueType::kI64:
      return reader.number<std::int64_t>();
    case ValueType::kU64: {
      const std::uint64_t at = reader.position();
      const auto value = reader.number<std::uint64_t>();
      if (value > static_cast<std::uint64_t>(INT64_MAX)) {
        reader.fail(at, "expected an integer below 2^63, found " + std::to_string(value));
      }
      return static_cast<std::int64_t>(value);
    }
    case ValueType::kBool: {
      const std::uint64_t at = reader.position();
      const auto value = reader.number<std::uint8_t>();
      if (value > 1) reader.fail(at, "expected a boolean (0 or 1), found " + std::to_string(value));
      return value;
    }
    default:
      reader.fail(reader.position(), "expected an integer type");
  }
}

bool is_float(ValueType type) { return type == ValueType::kF32 || type == ValueType::kF64; }

double read_float(Reader& reader, ValueType type) {
  return type == ValueType::kF32 ? static_cast<double>(reader.number<float>())
                                 : reader.number<double>();
}

ValueType read_type(Reader& reader) {
  const std::uint64_t at = reader.position();
  const auto type = reader.number<std::uint32_t>();
  if (type > static_cast<std::uint32_t>(ValueType::kF64)) {
    reader.fail(at, "expected a value type 0 to 12, found " + std::to_string(type));
  }
  return static_cast<ValueType>(type);
}

GgufValue read_array(Reader& reader) {
  const std::uint64_t at = reader.position();
  const ValueType type = read_type(reader);
  const auto count = reader.number<std::uint64_t>();
  if (type == ValueType::kArray)
    reader.fail(at, "expected a list of plain values, found a list of lists");
  const std::uint64_t limit = type == ValueType::kString ? kMaxStrings : kMaxNumbers;
  if (count > reader.left() / size_of(type) || !reader.take(count, type == ValueType::kString)) {
    reader.fail(at, "expected a list that fits into the rest of the file (and at most " +
                        std::to_string(limit) + " entries in all lists), found " +
                        std::to_string(count) + " entries");
  }
  if (type == ValueType::kString) {
    std::vector<std::string> values;
    values.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i)
      values.push_back(reader.text(kMaxStringBytes, "a text"));
    return values;
  }
  if (is_float(type)) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(read_float(reader, type));
    return values;
  }
  std::vector<std::int64_t> values(count);
  for (std::int64_t& value : values) value = read_integer(reader, type);
  return values;
}

GgufValue read_value(Reader& reader) {
  const ValueType type = read_type(reader);
  if (type == ValueType::kArray) return read_array(reader);
  if (type == ValueType::kString) return reader.text(kMaxStringBytes, "a text");
  if (type == ValueType::kBool) return read_integer(reader, type) != 0;
  if (is_float(type)) return read_float(reader, type);
  return read_integer(reader, type);
}

GgufTensor read_tensor(Reader& reader, int part) {
  const std::uint64_t at = reader.position();
  GgufTensor tensor;
  tensor.part = part;
  tensor.name = reader.text(kMaxNameBytes, "a tensor's name");
  const auto dimensions = reader.number<std::uint32_t>();
  if (dimensions < 1 || dimensions > 4) {
    reader.fail(at, "tensor '" + tensor.name + "': expected 1 to 4 dimensions, found " +
                        std::to_string(dimensions));
  }
  tensor.elements = 1;
  for (std::uint32_t d = 0; d < dimensions; ++d) {
    const auto extent = reader.number<std::uint64_t>();
    // The limit of 2^56 elements ensures that bytes (at most 8 each) cannot overflow.
    if (extent == 0 ||
        extent > (std::uint64_t{1} << 56) / static_cast<std::uint64_t>(tensor.elements)) {
      reader.fail(at, "tensor '" + tensor.name +
                          "': expected a dimension of 1 or more and fewer than "
                          "2^56 values in all, found a dimension of " +
                          std::to_string(extent));
    }
    tensor.elements *= static_cast<std::int64_t>(extent);
    tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(extent));
  }
  tensor.type = static_cast<GgmlType>(reader.number<std::uint32_t>());
  if (find_type(tensor.type) == nullptr) {
    std::string known;
    for (const TypeInfo& info : ggml_types())
      known += (known.empty() ? "" : ", ") + std::string(info.name);
    throw Error(ErrorCode::kNotSupported, reader.path() + ": tensor '" + tensor.name +
                                              "' has ggml " + to_string(tensor.type) +
                                              ", which is not supported; take a file in one of " +
                                              known);
  }
  if (tensor.shape.back() % block_elements(tensor.type) != 0) {
    reader.fail(at, "tensor '" + tensor.name + "': expected rows of a multiple of " +
                        std::to_string(block_elements(tensor.type)) + " values, found " +
                        std::to_string(tensor.shape.back()));
  }
  tensor.bytes = tensor.elements / block_elements(tensor.type) * block_bytes(tensor.type);
  tensor.offset = reader.number<std::uint64_t>();
  return tensor;
}

// Offsets in the file are relative to the data section; here they become absolute and are checked.
void place_tensors(const Reader& reader, std::uint64_t alignment, std::uint64_t size,
                   std::vector<GgufTensor>& tensors) {
  const std::uint64_t data = (reader.position() + alignment - 1) / alignment * alignment;
  const std::uint64_t room = data <= size ? size - data : 0;
  for (GgufTensor& tensor : tensors) {
    const std::string who = "tensor '" + tensor.name + "'";
    if (tensor.offset % alignment != 0) {
      reader.fail(data, who + ": expected an offset that is a multiple of " +
                            std::to_string(alignment) + ", found " + std::to_string(tensor.offset));
    }
    if (tensor.offset > room || static_cast<std::uint64_t>(tensor.bytes) > room - tensor.offset) {
      reader.fail(data, who + ": expected its " + std::to_string(tensor.bytes) +
                            " bytes at data offset " + std::to_string(tensor.offset) +
                            ", found only " + std::to_string(room) + " bytes of data");
    }
    tensor.offset += data;
  }
  std::vector<const GgufTensor*> order;
  for (const GgufTensor& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(),
            [](const GgufTensor* a, const GgufTensor* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i - 1]->offset + static_cast<std::uint64_t>(order[i - 1]->bytes) > order[i]->offset) {
      reader.fail(order[i]->offset,
                  "tensors '" + order[i - 1]->name + "' and '" + order[i]->name + "' overlap");
    }
  }
}

}  // namespace

std::optional<std::int64_t> integer_of(const GgufPart& part, std::string_view key) {
  const auto found = part.values.find(key);
  if (found == part.values.end()) return std::nullopt;
  const auto* value = std::get_if<std::int64_t>(&found->second);
  return value ? std::optional(*value) : std::nullopt;
}

GgufPart read_gguf_part(const InputFile& file, int index) {
  Reader reader(file);
  if (file.size() < 24 || reader.number<std::uint32_t>() != kMagic) {
    throw Error(ErrorCode::kCorruption, file.path() +
                                            ": expected a GGUF file (it starts with \"GGUF\"), "
                                            "found something else");
  }
  const auto version = reader.number<std::uint32_t>();
  if (version != 2 && version != 3) {  // same layout; a big-endian version 3 is not read
    throw Error(ErrorCode::kNotSupported,
                file.path() + ": expected GGUF version 2 or 3, found version " +
                    std::to_string(version) + (version > 0xffff ? " (a big-endian file?)" : "") +
                    "; convert the model again");
  }
  const auto tensor_count = reader.number<std::uint64_t>();
  const auto key_count = reader.number<std::uint64_t>();
  if (tensor_count > kMaxGgufTensors || key_count > kMaxKeys) {
    reader.fail(8, "expected at most " + std::to_string(kMaxGgufTensors) + " tensors and " +
                       std::to_string(kMaxKeys) + " keys, found " + std::to_string(tensor_count) +
                       " and " + std::to_string(key_count));
  }
  GgufPart part;
  for (std::uint64_t i = 0; i < key_count; ++i) {
    const std::uint64_t at = reader.position();
    std::string key = reader.text(kMaxKeyBytes, "a key");
    GgufValue value = read_value(reader);
    if (!part.values.emplace(key, std::move(value)).second)
      reader.fail(at, "key '" + key + "' appears twice");
  }
  for (std::uint64_t i = 0; i < tensor_count; ++i)
    part.tensors.push_back(read_tensor(reader, index));

  const std::int64_t alignment = integer_of(part, "general.alignment").value_or(32);
  if (alignment < 8 || alignment > 1 << 20 || (alignment & (alignment - 1)) != 0) {
    reader.fail(0, "general.alignment: expected a power of two from 8 to 2^20, found " +
                       std::to_string(alignment));
  }
  place_tensors(reader, static_cast<std::uint64_t>(alignment), file.size(), part.tensors);
  return part;
}

}  // namespace triescope::formats

// The header of one GGUF file: its metadata and tensor directory. Every size is compared with the
// rest of the file before it is used. Internal to gguf*.cpp; other code uses gguf.h. Source: the
// GGUF specification (ggml).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/files/gguf.h"
#include "core/files/input_file.h"

namespace triescope::formats {

// A limit far above every real model and far below what would hurt.
inline constexpr std::uint64_t kMaxGgufTensors = 1u << 20;  // in all parts

// Every kind of integer except booleans is read as 64 bits, and every kind of float as a double.
// Lists of booleans are lists of integers.
using GgufValue = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>,
                               std::vector<float>, std::vector<std::string>>;
inline constexpr const char* kGgufKinds[] = {  // by GgufValue::index(), for messages
    "an integer",         "a number",         "a boolean",      "a text",
    "a list of integers", "a list of floats", "a list of texts"};

struct GgufPart {
  std::map<std::string, GgufValue, std::less<>> values;
  std::vector<GgufTensor> tensors;
};

// nullopt: absent, or no integer.
std::optional<std::int64_t> integer_of(const GgufPart& part, std::string_view key);

// Tensor offsets are absolute and inside the file, and no two tensors overlap. Errors: kCorruption
// (byte, expected, found), kNotSupported (version, tensor type).
GgufPart read_gguf_part(const InputFile& file, int index);

}  // namespace triescope::formats

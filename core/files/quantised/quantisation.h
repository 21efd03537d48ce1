// How the weights of a model folder are quantised: quantization_config of config.json.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/files/family.h"

namespace triescope::formats {

enum class QuantMethod : std::uint8_t { kFp8, kGptq, kAwq, kBitsAndBytes, kCompressedTensors };

struct Quantisation {
  QuantMethod method = QuantMethod::kFp8;
  // Of a code: of kAwq, and of kGptq in most weights; 0: the other methods' tensors tell.
  int bits = 0;
  // kFp8, kCompressedTensors: the rows and columns that share a scale; 0, 0: the scales' own shape
  // tells.
  std::array<std::int64_t, 2> block = {0, 0};
  // kGptq: the file holds zero points less one (checkpoint_format "gptq"; "gptq_v2" does not).
  bool zeros_less_one = false;
};

// Reads quantization_config out of the fields of a config.json. nullopt: it has none. Errors:
// kNotSupported for a method that triescope does not read, with what to convert the model to;
// kCorruption for a value out of its range.
std::optional<Quantisation> quantisation_of(const JsonFields& config);
// Whether the experts are MXFP4, which lies in tensors of its own kind (weights_mxfp4.cpp).
bool is_mxfp4(const JsonFields& config);
// quantisation_of() of a model folder's config.json, which must be there.
std::optional<Quantisation> quantisation_of_folder(const std::string& folder);

}  // namespace triescope::formats

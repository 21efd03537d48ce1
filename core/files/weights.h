// WeightSource: the weights of a model by role, as fp32 rows in Hugging Face order, whatever file
// they come from. Names and shapes are checked against the configuration when it is made, before
// anything of their size is allocated. Where the two disagree, the tensors decide and config() says
// so in a note, or the file is refused: a tensor of the network that nothing reads is a property
// that triescope does not support. Several threads may call const functions at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/files/config.h"
#include "core/files/dequantise.h"
#include "core/files/safetensors.h"
#include "core/files/weight_names.h"

namespace triescope::formats {

class QuantisedTensor;
class QuantisedTensors;

class WeightSource {
 public:
  // Opens a .gguf file or a Hugging Face folder. Errors: kNotFound, kCorruption, kNotSupported,
  // kIoError.
  static std::unique_ptr<WeightSource> open(const std::string& path);

  const ModelConfig& config() const { return config_; }
  // As if the file asked for plain rotary positions: what a program that does not know its scaling
  // computes.
  void drop_rope_scaling();
  // Shape of the weight, nullopt: this model has none.
  std::optional<WeightShape> shape(const Part& part) const { return expected_shape(config_, part); }
  // Reads rows [first, first + out.size() / cols) into out, row-major.
  void read_rows(const Part& part, std::int64_t first, std::span<float> out) const;
  // True: reading some rows reads the whole tensor, so ask for all rows at once.
  bool reads_whole(const Part& part) const;
  // The type of the weight's rows in the file, if they can be used as they are. nullopt for a
  // tensor that is stored transposed, or in a dtype that has no ggml type (FP8).
  std::optional<GgmlType> stored_type(const Part& part) const;
  // Reads rows [first, first + out.size() / bytes of a row) as they are in the file, in Hugging
  // Face's order. Error{kInvalidArgument} without a stored_type().
  void read_stored_rows(const Part& part, std::int64_t first, std::span<std::byte> out) const;
  // The tensor that holds the weight as codes of a quantised safetensors file; nullptr: it is plain,
  // or of a GGUF.
  const QuantisedTensor* quantised(const Part& part) const;
  void will_read(const Part& part) const;  // all rows will be read soon: InputFile::will_read
  void check_unchanged() const;

  bool is_gguf() const { return gguf_ != nullptr; }
  const GgufFile* gguf() const { return gguf_.get(); }
  std::int64_t file_bytes() const;
  std::int64_t parameters() const;  // values in all tensors of the file
  std::string quantisation()
      const;  // the matrices' type: "BF16", "mixed: Q8_0 Q4_1" (largest share first)

 private:
  WeightSource() = default;
  struct Tensor;
  Tensor find(const std::string& name) const;
  WeightSlice slice_of(const Part& part) const;
  void find_renames();
  std::string renamed(std::string name) const;
  // Handle what config.json and the tensors disagree about: change config_, with a note, or throw.
  void settle_head();
  void settle_biases();
  void check_shapes();
  void check_unread();
  bool is_part(const SafeTensor& tensor) const;  // of a quantised weight
  bool have_equal_values(const Tensor& a, const Tensor& b) const;
  bool is_zero_bias(const Tensor& tensor) const;
  // As GGUF's blocks: their scale, then values i and i + 16 in a byte.
  void read_mxfp4_rows(const Part& part, std::int64_t first, std::span<std::byte> out) const;
  std::int64_t mxfp4_values(const SafeTensor& tensor) const;
  void read_elements(const Tensor& tensor, std::int64_t begin, std::span<float> out) const;
  void read_plain_rows(const Tensor& tensor, std::int64_t cols, std::int64_t first,
                       std::span<float> out) const;

  std::string path_;
  ModelConfig config_;
  // Beginnings of names that this file's tensors have in place of the family's.
  std::vector<std::pair<std::string, std::string>> renames_;
  bool embedding_is_head_ = false;  // tied, and stored only under the output head's name
  std::shared_ptr<const GgufFile> gguf_;
  std::shared_ptr<const SafeTensors> safetensors_;
  std::shared_ptr<const QuantisedTensors> quantised_;  // null: all weights are plain
};

}  // namespace triescope::formats

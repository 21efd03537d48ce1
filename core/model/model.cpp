#include "core/model/model.h"

#include <algorithm>

#include "core/base/error.h"

namespace triescope {

std::vector<Piece> pieces_of(std::size_t total, std::size_t rows) {
  std::vector<Piece> pieces;
  for (std::size_t first = 0; first < total; first += rows)
    pieces.push_back({first, std::min(rows, total - first)});
  return pieces;
}

namespace {

[[noreturn]] void refuse_to_share(const Model& model, const char* what) {
  throw Error(ErrorCode::kNotSupported, "model " + model.info().name +
                                            ": expected a model that shares its " + what +
                                            " with a draft head; found one that cannot");
}

}  // namespace

void KvStorage::write(std::span<const std::int32_t>, std::span<const float>,
                      std::span<const float>) {
  throw Error(
      ErrorCode::kNotSupported,
      "KV write: expected the KV of a transformer, which takes keys and values from outside; "
      "found another storage");
}

std::unique_ptr<KvStorage> Model::make_kv_of(int, std::span<const std::int32_t>) {
  throw Error(ErrorCode::kNotSupported,
              "model " + info().name +
                  ": expected a model whose layers can be left out; found one that runs whole");
}

void Model::embed(std::span<const std::int32_t>, std::span<float>) {
  refuse_to_share(*this, "embedding");
}

std::span<const float> Model::output_head(std::span<const float>) {
  refuse_to_share(*this, "output head");
}

}  // namespace triescope

#include "core/base/error.h"
#include "core/model/model.h"

namespace triescope {

const char* to_string(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kBF16:
      return "bf16";
    case DType::kF16:
      return "f16";
  }
  return "unknown";
}

DType dtype_from_string(const std::string& s) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    if (s == to_string(dtype)) return dtype;
  }
  throw Error(ErrorCode::kInvalidArgument, "dtype: expected f32, bf16 or f16, found '" + s + "'");
}

}  // namespace triescope

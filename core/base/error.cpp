#include "core/base/error.h"

namespace triescope {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kCorruption:
      return "corruption";
    case ErrorCode::kNotSupported:
      return "not supported";
    case ErrorCode::kIoError:
      return "input/output error";
    case ErrorCode::kOutOfMemory:
      return "out of memory";
    case ErrorCode::kCuda:
      return "CUDA error";
    case ErrorCode::kCancelled:
      return "cancelled";
  }
  return "unknown error";
}

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return 2;
    case ErrorCode::kNotFound:
    case ErrorCode::kCorruption:
    case ErrorCode::kNotSupported:
      return 3;
    case ErrorCode::kIoError:
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kCuda:
      return 4;
    case ErrorCode::kCancelled:
      return 130;
  }
  return 4;
}

}  // namespace triescope

#include "core/method/method.h"

namespace triescope {

const char* to_string(Need need) {
  switch (need) {
    case Need::kNothing:
      return "";
    case Need::kDraftModel:
      return "draft model";
    case Need::kDraftHead:
      return "draft head";
  }
  return "";
}

}  // namespace triescope

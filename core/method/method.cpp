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

int run_width(const MethodInfo& method, const Settings& settings) {
  return method.width_setting.empty() ? 1 : settings.integer(method.width_setting);
}

}  // namespace triescope

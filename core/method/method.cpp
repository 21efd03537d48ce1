#include "core/method/method.h"

namespace triescope {

const char* to_string(Need need) { return need == Need::kDraftModel ? "draft model" : ""; }

}  // namespace triescope

#include "app/run/setting_title.h"

#include <algorithm>

#include "core/method/parameters_of.h"
#include "core/methods/registry.h"

namespace triescope::app {

std::string setting_title(std::string_view method, std::string_view name) {
  const auto known = std::ranges::find(methods(), method, &MethodInfo::name);
  if (known == methods().end()) return "";
  for (const Parameter& parameter : parameters_of(*known))
    if (parameter.name == name) return parameter.title;
  return "";
}

}  // namespace triescope::app

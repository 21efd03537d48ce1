// Links the installed core: the methods it knows, and the libtorch behind it.
#include <cstdio>

#include "core/methods/registry.h"
#include "core/model/model.h"

int main() {
  for (const triescope::MethodInfo& method : triescope::methods())
    std::printf("%s: %s\n", method.name.c_str(), method.title.c_str());
  std::printf("libtorch %s\n", triescope::libtorch_version().c_str());
  return triescope::methods().empty() ? 1 : 0;
}

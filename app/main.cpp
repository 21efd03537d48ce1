#include "app/cli/cli.h"
#include "core/base/exit.h"

int main(int argc, char** argv) {
  triescope::skip_library_teardown();
  return triescope::app::run_command_line(argc, argv);
}

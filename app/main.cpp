#include "app/cli/cli.h"

int main(int argc, char** argv) { return triescope::app::run_command_line(argc, argv); }

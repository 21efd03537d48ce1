// The command line that docs/cli.md describes. Results go to stdout, log and progress to stderr.
#pragma once

namespace triescope::app {

// Exit codes: 0 done, 2 usage, 3 bad input, 4 failed while running, 130 interrupted.
int run_command_line(int argc, char** argv);

}  // namespace triescope::app

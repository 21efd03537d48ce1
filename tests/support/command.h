// Runs a command line in a shell and waits for it.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace triescope::test {

struct CommandAnswer {
  int status = -1;     // its exit status; -1 = it could not be run
  std::string output;  // what it wrote to its standard output
};

inline CommandAnswer run_command(const std::string& command) {
  CommandAnswer answer;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return answer;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    answer.output.append(buffer, n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) answer.status = WEXITSTATUS(status);
  return answer;
}

}  // namespace triescope::test

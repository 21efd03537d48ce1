#include "app/cli/command_line.h"

#include <fstream>

namespace triescope::app {
namespace {

std::string shell_quoted(const std::string& argument) {
  if (!argument.empty() && argument.find_first_of(" \t\n'\"\\$") == std::string::npos)
    return argument;
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string line;
  for (std::string argument; std::getline(file, argument, '\0');)
    line += (line.empty() ? "" : " ") + shell_quoted(argument);
  return line;
}

}  // namespace triescope::app

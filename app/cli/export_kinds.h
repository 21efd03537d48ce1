// The kinds of files that `triescope export` writes: pictures and figures of panels, frames by step, the whole run as a page or as data.
#pragma once

#include <string>
#include <vector>

namespace triescope::app {

inline constexpr const char* kGifFormat = "gif";

struct ExportCommandOptions {
  std::string capture, other, format, output, theme = "light", size, steps, whose, part = "whole";
  std::vector<std::string> panels;
  int step = -1;
  float scale = 1;
  bool notes = false;
  int delay = 800, loops = 0;
  // the first given option that only a panel, or only a picture, has
  std::string of_panels, of_pictures;
};

// The names that --panel takes, with commas.
std::string panel_list();

// Writes what the options ask for, and returns the exit code. Errors: a wrong name or option before any file is opened; then those of
// opening a capture and of writing a file.
int run_export(const ExportCommandOptions& options, bool quiet);

}  // namespace triescope::app

// A small file browser: folders and the files of the wanted kinds, and a path that can be typed.
#pragma once

#include <string>
#include <vector>

namespace triescope::app {

struct FileBrowser {
  std::string folder, path;             // `path` is chosen or typed
  std::vector<std::string> extensions;  // of the files listed; empty: only folders
  // Returns true when a file was chosen by double click or Enter. `height` is the list's, in px.
  bool draw(float height);
};

}  // namespace triescope::app

// Texts that are part of the program and are written by people who need no C++: the narration's
// sentences (assets/narration), the lessons and their captures (assets/lessons), the glossary (docs/glossary.md). The build puts them into the
// program (cmake/EmbedFiles.cmake), so that it finds them wherever it lies; a folder named by
// $TRIESCOPE_ASSETS may hold others in their place. Pure but for that folder; safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace triescope::viz {

struct Asset {
  std::string_view name;  // path below the project's folder: "assets/narration/accept.txt"
  std::string_view text;
};
// As they were when the program was built. Written at build time.
std::span<const Asset> assets();

// One file of one's own, read in place of, or over, the built-in one.
struct AssetFile {
  std::string path;  // for error messages
  std::string text;
};
// The built-in files whose names begin with `prefix`, in the order of their names; behind each the
// file of the same name below `folder` ("" = none), where there is one.
// Error{kIoError}: the folder is not there, or a file in it cannot be read.
std::vector<AssetFile> asset_files(std::string_view prefix, const std::string& folder);
// $TRIESCOPE_ASSETS, "" where it is not set.
std::string asset_folder();

}  // namespace triescope::viz

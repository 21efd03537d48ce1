// The formats that are written, by name, with the ending of their files.
#pragma once

#include <string>
#include <string_view>

#include "viz/export/export.h"

namespace triescope::viz {

std::string_view name_of(ExportFormat format);  // "svg"

// The format by the path's ending. Error{kInvalidArgument}: no format of pictures has it.
ExportFormat format_of_path(const std::string& path);

// ".svg" for "svg", ".png" for "png-frames", ".html" for "html"; "" = no such format.
std::string_view ending_of(std::string_view format);

// The same path with the ending of `format`, where it has that of another one.
std::string with_ending_of(const std::string& path, std::string_view format);

// One panel's file of several: of "figures.svg" and "trie", "figures-trie.svg".
// Error{kInvalidArgument}: the path has no name, as "figures/".
std::string file_of_panel(const std::string& path, std::string_view format,
                          const std::string& panel);

// Error{kInvalidArgument}: the name ends as files of another format do, as "x.png" with "svg". A name
// without an ending, or with one that no format has, is taken.
void check_file_ending(const std::string& path, std::string_view format);

}  // namespace triescope::viz

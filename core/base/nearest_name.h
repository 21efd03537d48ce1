// The name that a person most likely meant when they gave one that does not exist. Pure functions.
// Every message that refuses a name uses them: subcommands, methods, parameters, panels, models.
// Source of the distance: Damerau-Levenshtein, optimal string alignment.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace triescope {

// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. It
// works on bytes; ASCII letters match in either case, and '-' matches '_'.
int edit_distance(std::string_view a, std::string_view b);

// The name closest to `given`, of which at most a third of the longer one may differ; else the
// shortest name that begins with `given` (two letters or more). Ties go to the earlier name. "" =
// none is close.
std::string nearest_name(std::string_view given, std::span<const std::string> names);

// "; did you mean beam?" for the end of a refusal; "" if no name is close.
std::string did_you_mean(std::string_view given, std::span<const std::string> names);

}  // namespace triescope

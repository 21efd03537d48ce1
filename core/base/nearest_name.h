// The name a person most likely meant when they gave one that does not exist. Pure functions; used
// by every message that refuses a name: subcommands, methods, parameters, panels, models.
// Source of the distance: Damerau-Levenshtein, optimal string alignment.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace triescope {

// Insertions, deletions, replacements and swaps of neighbours that make `b` out of `a`. Bytes;
// ASCII letters match in either case, and '-' matches '_'.
int edit_distance(std::string_view a, std::string_view b);

// The name closest to `given`: at most a third of the longer one may differ; else the shortest name
// that begins with `given` (two letters or more). Ties go to the earlier name. "" = none is close.
std::string nearest_name(std::string_view given, std::span<const std::string> names);

// "; did you mean beam?", to go at the end of a refusal; "" where no name is close.
std::string did_you_mean(std::string_view given, std::span<const std::string> names);

}  // namespace triescope

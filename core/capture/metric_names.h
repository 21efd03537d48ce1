// Names of figures (MetricRow) that more than a curve is drawn of. Any recorder may write them.
#pragma once

#include <string_view>

namespace triescope::capture {

// The number of a layer, from 0, that the drafting model leaves out, or of which it leaves out attention or the MLP
// alone: a row for each such layer, all of one tick. They hold until the next tick that has such rows.
inline constexpr std::string_view kLeftOutLayer = "left-out layer";
inline constexpr std::string_view kLeftOutAttention = "left-out attention";
inline constexpr std::string_view kLeftOutMlp = "left-out MLP";
constexpr bool is_left_out(std::string_view name) {
  return name == kLeftOutLayer || name == kLeftOutAttention || name == kLeftOutMlp;
}

// What a step's drafter drew on, as lists of tokens: a line of a datastore, an n-gram of a pool, a row of a
// window. A row a token, in order, all of the draft phase's tick: the value is the token's id, the node the one
// that stands for it in the tree (-1 = none). The list's title follows: "tokens: pool 2".
inline constexpr std::string_view kTokenList = "tokens: ";

// How many of the text's last tokens a drafter found before what it drafts. The node is the first draft.
inline constexpr std::string_view kMatchedTokens = "matched tokens";
// In how many places a draft that was looked up stood there.
inline constexpr std::string_view kPlaces = "places found";
// Where the first matched token stands in another text that was searched, from 0. The node is the first draft.
inline constexpr std::string_view kFoundAt = "found at token";
// Which node of a tree that grows node by node a draft was, from 1.
inline constexpr std::string_view kGrownAs = "grown as";

// Whether a figure is the step's too, as a mean over its nodes, or a curve over the steps.
constexpr bool is_curve(std::string_view name) {
  return !is_left_out(name) && !name.starts_with(kTokenList) && name != kPlaces &&
         name != kFoundAt && name != kGrownAs;
}

}  // namespace triescope::capture

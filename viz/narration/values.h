// The values that sentences are told with: what a number or a token reads like, what it belongs to.
// One place for both, so that all sentences write a probability, a score and a token alike. Pure
// functions of the capture and the cursor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viz/narration/narration.h"

namespace triescope::viz {

// A value of a template: its name, what to print, and the number that chooses between {x:one|many}.
struct Value {
  std::string name;
  std::vector<Part> parts;
  double number = std::numeric_limits<double>::quiet_NaN();
};

Target to_node(std::int32_t node);
Target to_panel(std::string_view panel);
Target to_step(capture::Tick tick);
// `cursor`: when the slot is looked at, to find whose KV lies there.
Target to_slot(const capture::Capture& capture, std::int32_t slot, capture::Tick cursor,
               capture::Whose whose = capture::Whose::kTarget);

// "three", "49,152".
Value count(std::string name, std::int64_t number, Target target = {});
// Digits always: step, position, slot, rank.
Value ordinal(std::string name, std::int64_t number, Target target = {});
// "0.413".
Value number(std::string name, double number, Target target, int digits = 3);
// "p = 0.413": `label` says what it is.
Value labelled(std::string name, std::string_view label, double number, int digits, Target target);
Value bytes(std::string name, double number, Target target);
Value duration(std::string name, double us, Target target);
// A name that the run brings: its method's, its model's.
Value word(std::string name, std::string_view text, Target target = {});
// "'·the'", a link to the node; the root: "the prompt".
Value node(const capture::Capture& capture, std::string name, std::int32_t node);
// A token that is not in the tree; `target`: the node whose row has it.
Value token(const capture::Capture& capture, std::string name, std::int32_t token, Target target);

}  // namespace triescope::viz

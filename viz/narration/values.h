// The values of sentences: how a number or a token reads, and what it points at. They are made in
// one place, so that all sentences write a probability, a score and a token alike. Pure functions
// of the capture and the cursor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viz/narration/narration.h"

namespace triescope::viz {

// A template's value: its name, its text, and the number that chooses between {x:one|many}.
struct Value {
  std::string name;
  std::vector<Part> parts;
  double number = std::numeric_limits<double>::quiet_NaN();
};

Target to_node(std::int32_t node);
Target to_panel(std::string_view panel);
Target to_step(capture::Tick tick);
// `cursor` is the time at which the slot is looked at: it decides whose KV lies there.
Target to_slot(const capture::Capture& capture, std::int32_t slot, capture::Tick cursor,
               capture::Whose whose = capture::Whose::kTarget);

// "three", "49,152".
Value count(std::string name, std::int64_t number, Target target = {});
// Always in digits: a step, position, slot or rank.
Value ordinal(std::string name, std::int64_t number, Target target = {});
// "0.413".
Value number(std::string name, double number, Target target, int digits = 3);
// "p = 0.413", where `label` is "p".
Value labelled(std::string name, std::string_view label, double number, int digits, Target target);
Value bytes(std::string name, double number, Target target);
Value duration(std::string name, double us, Target target);
// A name from the run: its method's, its model's.
Value word(std::string name, std::string_view text, Target target = {});
// "'·the'", a link to the node; the root: "the prompt".
Value node(const capture::Capture& capture, std::string name, std::int32_t node);
// A token that is not in the tree. `target` is the node whose row has it.
Value token(const capture::Capture& capture, std::string name, std::int32_t token, Target target);

}  // namespace triescope::viz

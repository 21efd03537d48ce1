// Start here. Narration: tells what a run did at one place, in two to five sentences with that
// place's own numbers. It reads only the capture.
//
//   assets/narration/*.txt  the sentences, with names for their values: "{node} is the argmax"
//   sentences.h             reads and checks them
//   story.h                 a story under construction: says a sentence by its name, with its values
//   *_story.cpp             one phase each: which sentences to say, and the values
//   narration_text.h        a narration as text, Markdown, JSON
//
// A narration consists of parts. The templates' words are plain. Every value (a token, a number, a
// slot) is a part of its own: it names its fact, carries its number and points at its target. No
// digit stands outside a value.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

class Sentences;

// The thing that a part points at.
struct Target {
  enum class Kind : std::uint8_t { kNone, kNode, kSlot, kStep, kPanel };
  Kind kind = Kind::kNone;
  // kNode: a node (prompt token i is -2 - i). kSlot: a slot. kStep: a tick.
  std::int64_t id = 0;
  // The node to focus: kNode's own, or the one whose KV lay in the slot; -1 = none.
  std::int32_t node = -1;
  std::string panel = {};  // kPanel: its name
  bool operator==(const Target&) const = default;
};
// "node/7", "slot/3", "step/12/accept", "panel/memory"; "" = nothing.
std::string to_string(const Target& target);

struct Part {
  std::string text;
  Target target = {};
  std::string fact =
      {};  // name of the value in the template: "accepted"; "" = the template's words
  double number = std::numeric_limits<double>::quiet_NaN();  // NaN where the value is not a number
  bool is_token = false;                                     // the text is a token's, in quotes
  bool is_value() const { return !fact.empty(); }
};

struct Sentence {
  std::string name;  // its template's: "accept.bonus"
  std::vector<Part> parts;
};

struct Narration {
  capture::Tick cursor = 0;
  std::int32_t step = -1;  // -1 = the run has not begun
  capture::Phase phase = capture::Phase::kDraft;
  std::vector<Sentence> sentences;
};

// Tells what the phase before the cursor did, so that it matches the panels. At cursor 0 it tells
// what is about to begin. A tick that the capture lacks is told as missing.
Narration narrate(const capture::Capture& capture, capture::Tick cursor,
                  const Sentences& sentences);

}  // namespace triescope::viz

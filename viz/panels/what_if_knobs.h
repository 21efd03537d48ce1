// WhatIfKnobs: the settings that recorded drafts are judged again by, as buttons: the rule, and at
// most how many drafts, levels and ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/query/rejudge_settings.h"

namespace triescope::viz {

class WhatIfKnobs {
 public:
  // The settings for this run: as it was decoded, but for what is chosen and goes with its drafts.
  RejudgeSettings settings(const capture::Capture& capture) const;
  // The choice in words: "verify top_k, drafts at most 4"; "as recorded".
  std::string words(const capture::Capture& capture) const;

  // Draws the buttons from the top of `room` down; returns the height used. `most`: the largest
  // number of drafts, levels and ranks that there is.
  struct Most {
    int drafts = 1, depth = 1, rank = 1;
    bool operator==(const Most&) const = default;
  };
  float draw(Canvas& canvas, Rect room, const Most& most, const Scene& scene);
  // True: a button was pressed. Input::next and previous choose the next rule or the one before.
  bool input(const Input& in, const capture::Capture& capture);
  void clear() { buttons_.clear(); }

  // "verify=top_k accept_top_k=3 drafts=4"
  std::string state() const;
  void set_state(const std::string& state);

 private:
  struct Button {
    Rect box;
    std::string verify;                               // chooses a rule, or
    std::optional<int> WhatIfKnobs::*knob = nullptr;  // sets a bound
    std::optional<int> value = {};
  };
  void choose_rule(const capture::Capture& capture, int steps);

  std::string verify_;  // "" = as recorded
  std::optional<int> drafts_, depth_, rank_, accept_top_k_;
  std::vector<Button> buttons_;
};

}  // namespace triescope::viz

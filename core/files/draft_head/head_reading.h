// HeadReading: a draft head read or used in another way than its file says. Published heads, and the
// programs that run them, disagree on each of these; the doctor tries them one at a time. Plain values.
#pragma once

#include <optional>
#include <vector>

namespace triescope::formats {

struct HeadReading {
  // --- how the file is read ---
  // EAGLE-3, DFlash: the target's states in place of the file's list, counted as entering, in fc's order.
  std::vector<int> layers = {};
  bool map_holds_ids = false;     // d2t: the target's ids, not offsets
  bool target_embedding = false;  // the target's embedding in place of the file's own
  std::optional<bool> norm_before_residual = {}, norm_output = {};  // EAGLE-3
  std::optional<double> rope_base = {};

  // --- how the head is used ---
  // EAGLE-1, Medusa, Hydra, MTP: the one state of the target that is read, counted as entering (L: what
  // leaves the last layer, before the final norm), in place of the final norm's output.
  std::optional<int> state = {};
  bool no_final_norm = false;  // EAGLE-3: logits from what leaves the last layer as it is
  // EAGLE, MTP: the row at position t pairs the target's state at t with the token at t, not at t + 1. Hydra:
  // its heads read every token one place too early.
  bool own_token = false;
  int first_head = 0;  // Medusa: this head is for t + 2; those before it are not used
};

}  // namespace triescope::formats

// A run as every check asks about it: its settings, its special tokens, and how nodes are called.
// Borrows the capture.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/run_fields.h"

namespace triescope::doctor {

class RunView {
 public:
  explicit RunView(const capture::Capture& capture);

  const capture::Capture& capture;
  const std::int32_t prompt;  // tokens
  const std::int32_t window;  // the target's; 0 = none
  const capture::RunFields settings, model;
  std::set<std::int32_t> end_tokens;  // empty: not known

  bool has(const char* setting) const { return settings.has(setting); }
  double number(const char* setting, double otherwise) const {
    return settings.number(setting, otherwise);
  }
  std::string text(const char* setting) const { return settings.text(setting); }  // "" = none
  // The model's number type, as short as ours: "torch.bfloat16" is "bf16"; "" = not recorded.
  std::string dtype() const;
  // Scores were changed before a token was chosen, so candidates do not say which was.
  bool has_processors() const;
  bool is_lossy_or_drawn() const;  // the settings say that verification is not greedy
  bool says_greedy() const;        // the settings say that it is

  std::int32_t position(std::int32_t occupant) const { return capture.position_of(occupant); }
  // Whether a row of `node` sees `occupant`, with no regard to a window.
  bool is_on_path(std::int32_t occupant, std::int32_t node) const {
    return capture.is_on_path(occupant, node);
  }
  std::string name(std::int32_t occupant) const;     // "node 14 (' the')", "prompt token 3"
  std::string token_text(std::int32_t token) const;  // "' the'"
  std::int32_t parent(std::int32_t node) const { return at(node).parent; }
  const capture::NodeRow& at(std::int32_t node) const {
    return capture.nodes()[static_cast<std::size_t>(node)];
  }
  bool ends(std::int32_t node) const { return node > 0 && end_tokens.contains(at(node).token); }
};

// A number with at most four digits behind the point.
std::string number_of(double value);

}  // namespace triescope::doctor

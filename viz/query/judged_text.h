// What a capture knows about a run's text, for drafts that are judged again: its tokens, where it
// ends, and what the target held of a token there. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/capture/capture.h"
#include "viz/query/rejudge_settings.h"

namespace triescope::viz {

// Yes, no, or not known from what was recorded.
enum class Passes : std::uint8_t { kNo, kYes, kUnknown };

class JudgedText {
 public:
  // The text that the cursor has seen.
  JudgedText(const capture::Capture& capture, capture::Tick cursor);

  const capture::Capture& capture() const { return capture_; }
  std::int32_t token(std::int32_t node) const { return row(node).token; }
  float logprob(std::int32_t node, capture::Tick cursor) const;  // the model's own; NaN = unknown
  bool has(std::int32_t node) const;                             // it is a node of the text
  // The node of the text after this one; -1 = the text is not known further, or the node is not in the text.
  std::int32_t next(std::int32_t node) const;
  bool has_drawn_drafts() const { return drawn_; }  // of the run
  // Whether no token follows the node: it ends the text, or the text has its full length.
  bool ends(std::int32_t node) const;

  // The target's argmax after a node, as its row was in this step; -1 = not recorded.
  std::int32_t argmax(std::int32_t node, std::int32_t step) const;
  // Whether a draft is among the K best of the row above it.
  Passes in_top_k(std::int32_t draft, std::int32_t step, int k) const;
  // Whether it passes typical acceptance: p′ > min(epsilon, delta e^−H). Rows hold their
  // best tokens alone, so p′ and H have bounds; where these do not decide it is not known.
  Passes is_typical(std::int32_t draft, std::int32_t step, double epsilon, double delta) const;

 private:
  const capture::NodeRow& row(std::int32_t node) const {
    return capture_.nodes()[static_cast<std::size_t>(node)];
  }
  std::span<const capture::CandidateRow> above(std::int32_t node, std::int32_t step) const;

  const capture::Capture& capture_;
  std::map<std::int32_t, std::int32_t> next_;  // by node of the text; its last has -1
  std::vector<std::int32_t> eos_;
  bool drawn_ = false, has_processors_ = false;
  bool only_top_k_ = true;  // no other warper is on
  std::int32_t vocab_ = 0, top_k_ = 0;
};

}  // namespace triescope::viz

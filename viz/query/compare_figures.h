// CompareFigures: the figures by which two runs are compared, all of one moment: those that the
// panels show at the same cursor. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "core/capture/capture.h"

namespace triescope::viz {

struct CompareFigures {
  std::int64_t tokens = 0;   // the best text's, as the panels draw it; a branch's whole text
  std::int64_t steps = 0;    // finished ones, prefill included
  std::int64_t rows = 0;     // in the target's forwards after prefill
  std::int64_t peak_kv = 0;  // the most slots of the target's KV that held a token, live or garbage
  std::int64_t decode_us = 0;  // in the phases after prefill
  // As `triescope decode` counts them, over finished steps: all emitted tokens per forward, prefill
  // included in both; the tokens emitted after prefill per second of decoding. nullopt = none yet.
  std::optional<double> tokens_per_forward, tokens_per_second;
  std::optional<double> acceptance;  // share of the drafts that were accepted; nullopt = no drafts
  // Beams with drafts: levels of the search a step beyond its first. nullopt: no such run, or none yet.
  std::optional<double> levels_gained;
  bool timed_while_drawing = false;
};

// Tokens of the best text at the cursor, as the panels draw it.
std::int64_t text_tokens_at(const capture::Capture& capture, capture::Tick cursor);

CompareFigures compare_figures(const capture::Capture& capture, capture::Tick cursor);

}  // namespace triescope::viz

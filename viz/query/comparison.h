// Comparison: two runs side by side. It tells which tick of one corresponds to a tick of the other,
// which node of one corresponds to which of the other (its twin: the same tokens from the root on),
// what one keeps and the other does not, and where the two texts part. Pure: no drawing. The same
// arguments give the same answer, so going forward and back gives the identical pair of pictures.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

// The unit of the shared cursor.
enum class Along : std::uint8_t {
  kTokens,  // tokens of the text: keeps runs together whose steps emit different numbers of tokens
  kText,    // the same, and behind a difference from where the texts agree again (align_texts)
  kSteps,
  kTime,  // time of decoding: the phases after prefill
};
const char* to_string(Along along);  // "tokens", "text", "steps", "time"
std::span<const Along> all_alongs();

// The token of `other` with which each token of `one` goes, by index; -1 = none. Tokens are paired
// one by one up to a difference. Behind it they are paired from the nearest place where the texts
// agree in kAgain tokens in a row, or to both ends. The nearest place is that with the fewest
// tokens left out in both together, at most kFarthest.
constexpr std::size_t kAgain = 3, kFarthest = 200;
std::vector<std::int32_t> align_texts(std::span<const std::int32_t> one,
                                      std::span<const std::int32_t> other);

// Number of the text's tokens after the finished steps before `cursor`: what those steps emitted,
// and what a branch, or a slice that begins later, began with.
std::int64_t text_tokens_before(const capture::Capture& capture, capture::Tick cursor);
// Microseconds of decoding before `cursor`: the durations of the phases after prefill. Pauses
// between them do not count.
std::int64_t decoding_us_before(const capture::Capture& capture, capture::Tick cursor);

// The tick of `to` that corresponds to `cursor` of `from`: the latest at which `to` is not further
// on. A branch waits behind its prefill until its origin has come as far. Prefill goes phase by
// phase with prefill. A step of `to` goes phase by phase with the step of `from` in which it ends,
// and until then waits before its draft phase. Monotone: `to` never goes back while `from` goes
// forward.
capture::Tick matching_tick(const capture::Capture& from, capture::Tick cursor,
                            const capture::Capture& to, Along along);

// One run as seen from the other.
struct Twins {
  std::vector<std::int32_t> node;    // by node id: its twin in the other tree, -1 = none there
  std::vector<std::uint8_t> differ;  // by node id: whether one run kept it and the other did not
  std::int32_t parting_node = -1;    // first token of this text that the other lacks; -1 = none
  std::int32_t parting_step = -1;    // the step that added it
  // Where the texts differ, first to last, equally many in both runs: this text's token there.
  std::vector<std::int32_t> partings;
  // By node id, for a token of this text without a twin: the token of the other text with which it
  // goes (align_texts); -1 = none.
  std::vector<std::int32_t> echo;
  std::uint64_t version = 0;  // changes whenever a field above changes

  bool differs(std::int32_t id) const {
    return id >= 0 && id < static_cast<std::int32_t>(differ.size()) &&
           differ[static_cast<std::size_t>(id)] != 0;
  }
  // The same, except for tokens at which the texts agree again behind a difference.
  bool differs_as_text(std::int32_t id) const {
    return differs(id) && echo[static_cast<std::size_t>(id)] < 0;
  }
  // The node that shows the same token in the other run: its twin, else where the texts agree
  // again.
  std::int32_t counterpart_of(std::int32_t id) const {
    const std::int32_t twin = twin_of(id);
    return twin == -1 && id >= 0 && id < static_cast<std::int32_t>(echo.size())
               ? echo[static_cast<std::size_t>(id)]
               : twin;
  }
  // Prompt tokens (-2 - i) are their own twins.
  std::int32_t twin_of(std::int32_t id) const {
    if (id < 0) return id;
    return id < static_cast<std::int32_t>(node.size()) ? node[static_cast<std::size_t>(id)] : -1;
  }
};

// A node without a twin does not count as different while the other run may still reach it, nor
// while it is a draft that waits for its verdict.
Twins find_twins(const capture::Capture& own, capture::Tick own_cursor,
                 const capture::Capture& other, capture::Tick other_cursor);

}  // namespace triescope::viz

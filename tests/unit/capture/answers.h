// Everything a capture answers at a cursor, as one text: two captures that show the same have the
// same text.
#pragma once

#include <sstream>
#include <string>

#include "core/capture/capture.h"

namespace triescope::test {

inline std::string answers_at(const capture::Capture& c, capture::Tick cursor) {
  std::ostringstream out;
  const auto nodes = c.nodes_at(cursor);
  out << "cursor " << cursor << " nodes " << nodes.size() << " frontier " << c.frontier_step(cursor)
      << "\n";
  for (const auto& row : nodes) {
    const auto view = c.node_at(row.node, cursor);
    out << row.node << ' ' << row.parent << ' ' << row.token << ' ' << row.depth << ' '
        << view.row.logprob << ' ' << view.row.score << ' ' << row.q << ' ' << to_string(row.source)
        << ' ' << to_string(view.state) << ' ' << view.beam_rank << ' ' << view.slot << ' '
        << c.piece(row.token);
    if (const auto v = c.verdict_at(row.node, cursor))
      out << " | " << v->tick << ' ' << to_string(v->verdict) << ' ' << v->p << ' ' << v->q << ' '
          << v->u << ' ' << v->rank << ' ' << v->score << ' ' << v->gap << ' ' << v->replacement
          << ' ' << static_cast<int>(v->reason) << ' ' << v->value << ' ' << v->threshold << ' '
          << v->count << ' ' << v->why;
    out << '\n';
  }
  const std::int32_t slots = c.slot_count_at(cursor);
  for (std::int32_t s = 0; s < slots; ++s) {
    const auto view = c.slot_at(s, cursor);
    out << "slot " << s << ' ' << static_cast<int>(view.state) << ' ' << view.node << ' '
        << view.moved_this_step << view.reused_this_step << ' ' << view.moved_from << '\n';
  }
  return out.str();
}

inline std::string candidates_at(const capture::Capture& c, capture::Tick cursor) {
  std::ostringstream out;
  for (const auto& row : c.nodes_at(cursor))
    for (const auto& candidate : c.candidates(row.node, cursor))
      out << candidate.tick << ' ' << candidate.node << ' ' << candidate.rank << ' '
          << candidate.token << ' ' << candidate.logprob << ' ' << candidate.chosen << '\n';
  return out.str();
}

}  // namespace triescope::test

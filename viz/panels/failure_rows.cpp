#include "viz/panels/failure_rows.h"

#include <sstream>

#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {

std::string failures_csv(const capture::Capture& capture,
                         const std::vector<DraftFailure>& failures) {
  std::ostringstream out;
  out << "step,node,parent,token,text,cause,p,drafter_rank,drafter_q,drafter_score\n";
  for (const DraftFailure& failure : failures) {
    const std::int32_t token = capture.nodes()[static_cast<std::size_t>(failure.node)].token;
    out << failure.step << ',' << failure.node << ',' << failure.parent << ',' << token << ','
        << csv_field(plain_text(capture.piece(token))) << ',' << to_string(failure.cause) << ','
        << csv_number(failure.p) << ','
        << (failure.rank < 0 ? "" : std::to_string(failure.rank + 1)) << ','
        << csv_number(failure.q) << ',' << csv_number(failure.score) << '\n';
  }
  return out.str();
}

}  // namespace triescope::viz

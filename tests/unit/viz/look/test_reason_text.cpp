// Acceptors speak of token numbers; panels and exports show texts.
#include <doctest/doctest.h>

#include "tests/unit/viz/captures.h"
#include "viz/look/node_text.h"
#include "viz/words/token_text.h"

namespace triescope::viz {
namespace {

TEST_CASE("a token's number in a reason becomes its text, everything else stays") {
  const capture::Capture& run = test::beam_capture();
  const std::int32_t token = run.nodes()[1].token;
  const std::string text = "'" + token_text(run.piece(token)) + "'", number = std::to_string(token);
  CHECK(reason_text(run, "argmax is token " + number + " (p 0.41)") ==
        "argmax is " + text + " (p 0.41)");
  CHECK(reason_text(run, "token " + number) == text);
  CHECK(reason_text(run, "token " + number + ", then token " + number) == text + ", then " + text);
  CHECK(reason_text(run, "the parent (token " + number + ") went") ==
        "the parent (" + text + ") went");
  for (const char* same : {"", "it is the argmax, p 0.40", "token ", "not this token", "token -3",
                           "token x", "token 99999999999999999999", "subtoken 4"})
    CHECK(reason_text(run, same) == same);
  // A token that the capture has no text for keeps its number.
  CHECK(reason_text(run, "token 2000000000").find("2000000000") != std::string::npos);
}

}  // namespace
}  // namespace triescope::viz

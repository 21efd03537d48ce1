#include <doctest/doctest.h>

#include "app/session/request.h"
#include "app/window/workspace/messages.h"
#include "core/base/error.h"

namespace triescope::app::test_window_words {
namespace {

TEST_CASE(
    "window words: in the window a message names the run bar's fields, not the command line's options") {
  CHECK(in_window_words("found none. Name one with --draft PATH, or in the run bar") ==
        "found none. Name one in the run bar, below the method");
  CHECK(in_window_words("or pass --model with a Hugging Face directory") ==
        "or open a Hugging Face directory");
  CHECK(in_window_words("head is eagle, which --method eagle takes") ==
        "head is eagle, which method eagle takes");
  CHECK(in_window_words("give --prompt some text, or --prompt-ids") ==
        "type a prompt, or a prompt of token ids");
  CHECK(in_window_words("set the layers (--set layers=1); try --set layers=2") ==
        "set the layers (layers=1); try layers=2");
  CHECK(in_window_words("a template that names tool_calls (--chat-template FILE)") ==
        "a template that names tool_calls (open a .jinja file)");
  CHECK(in_window_words("a text without options -- and a dash") ==
        "a text without options -- and a dash");
  CHECK(in_window_words("") == "");
}

TEST_CASE("window words: what a run is refused for reads without options") {
  RunRequest request;
  for (const char* method : {"draft_model", "eagle"}) {
    request.method = method;
    std::string said;
    try {
      check_request(request);
    } catch (const Error& error) {
      said = in_window_words(error.what());
    }
    CAPTURE(said);
    CHECK(said.find("in the run bar") != std::string::npos);
    CHECK(said.find("--") == std::string::npos);
  }
}

}  // namespace
}  // namespace triescope::app::test_window_words

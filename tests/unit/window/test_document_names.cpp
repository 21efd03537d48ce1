// Names of runs in lists and in the window's title.
#include <doctest/doctest.h>

#include "app/window/workspace/document_names.h"

namespace triescope::app::test_document_names {
namespace {

TEST_CASE("first words: one line, cut behind a word, never within a character") {
  CHECK(first_words("Once upon a time", 48) == "Once upon a time");
  CHECK(first_words("  Once\n\nupon\ta time ", 48) == "Once upon a time");
  CHECK(first_words("Once upon a time", 11) == "Once upon a…");
  CHECK(first_words("Once upon a time", 9) == "Once upon…");
  CHECK(first_words("Once upon a time", 8) == "Once…");
  CHECK(first_words("Donaudampfschiff", 5) == "Donau…");
  CHECK(first_words("ééééé", 3) == "ééé…");
  CHECK(first_words("", 3) == "");
}

TEST_CASE("document names: recent runs are named by their prompts, other captures by their files") {
  CHECK(recent_name({"/a/run.tscap", "Greedy", "", "Once upon a time"}) == "Once upon a time");
  CHECK(recent_name({"/a/run.tscap", "Greedy", "", ""}) == "run.tscap");
}

TEST_CASE(
    "document names: the window's title names model, method and prompt, as far as a run says them") {
  capture::RunInfo run;
  run.model_json = R"({"name": "SmolLM2 135M"})";
  run.method = "beam";
  run.method_title = "Trie beam search";
  run.prompt_text = "Once upon\na time";
  CHECK(window_title(run) == "SmolLM2 135M · Trie beam search · Once upon a time - triescope");
  run.model_json = "damaged";
  run.method_title = "";
  CHECK(window_title(run) == "beam · Once upon a time - triescope");
  CHECK(window_title({}) == "triescope");
}

}  // namespace
}  // namespace triescope::app::test_document_names

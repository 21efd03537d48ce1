#include <doctest/doctest.h>

#include "app/window/lessons/presenter_words.h"
#include "core/base/error.h"
#include "viz/narration/narration_text.h"
#include "viz/narration/sentences.h"

namespace triescope::app::test_presenter_words {
namespace {

struct Desk {
  Workspace workspace{Preferences{}, [] {}};
  Document& open() {
    workspace.documents.open(std::string(TRIESCOPE_TEST_SOURCE_DIR) + "/assets/lessons/beam.tscap");
    REQUIRE(workspace.log.problems.empty());
    return *workspace.active();
  }
};

TEST_CASE_FIXTURE(
    Desk, "presenter: now as the audience reads it, and what the next position begins with") {
  Document& document = open();
  const capture::Capture& run = *document.capture;
  document.cursor = capture::make_tick(3, capture::Phase::kCommit);  // accept is done
  const PresenterWords words = presenter_words(document);
  CHECK(words.now_heading == "Step 3, accept");
  CHECK(words.place == "of " + std::to_string(run.last_step()) + " steps");
  const auto now = viz::narrate(run, document.cursor, viz::Sentences::standard());
  REQUIRE(words.now.size() == now.sentences.size());
  for (std::size_t i = 0; i < words.now.size(); ++i)
    CHECK(words.now[i] == viz::sentence_text(now.sentences[i]));
  CHECK(words.next_heading == "Next: Step 3, commit");
  CHECK(words.next ==
        viz::sentence_text(
            viz::narrate(run, document.cursor + 1, viz::Sentences::standard()).sentences.front()));
  const nlohmann::json state = to_json(words);
  CHECK(state["heading"] == words.now_heading);
  CHECK(state["sentences"].size() == words.now.size());
  CHECK(state["next"] == words.next_heading);
  CHECK(state["next_sentence"] == words.next);
}

TEST_CASE_FIXTURE(Desk, "presenter: before the first step, and at the end") {
  Document& document = open();
  document.cursor = 0;
  CHECK(presenter_words(document).now_heading == "Before the first step");
  CHECK(presenter_words(document).next_heading == "Next: Step 0, draft");
  document.cursor = document.capture->end_tick();
  const PresenterWords words = presenter_words(document);
  CHECK(words.next_heading == "The run ends here.");
  CHECK(words.next.empty());
  CHECK_FALSE(words.now.empty());
}

TEST_CASE("presenter: elapsed time in minutes and seconds, hours where there are some") {
  CHECK(elapsed_text(0) == "0:00");
  CHECK(elapsed_text(9.99) == "0:09");
  CHECK(elapsed_text(65) == "1:05");
  CHECK(elapsed_text(3599.5) == "59:59");
  CHECK(elapsed_text(3600) == "1:00:00");
  CHECK(elapsed_text(45296) == "12:34:56");
  CHECK(elapsed_text(-3) == "0:00");
}

}  // namespace
}  // namespace triescope::app::test_presenter_words

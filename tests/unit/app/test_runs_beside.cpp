// Runs of the table beside each other: their figures, the differences to the first, and the files.
#include "app/study/runs_beside.h"

#include <doctest/doctest.h>

namespace triescope::app::test_runs_beside {
namespace {

using nlohmann::json;

std::vector<StudyRow> three() {
  return {{{"name", "greedy"}, {"tokens_per_forward", 1.0}, {"steps", 12}, {"finish", "eos"}},
          {{"name", "lookup"}, {"tokens_per_forward", 1.5}, {"steps", 8}, {"finish", "eos"}},
          {{"name", "lookup"}, {"tokens_per_forward", 0.75}, {"steps", 16}, {"draft", nullptr}}};
}

TEST_CASE("runs beside: figures have their difference to the first run, words have none") {
  const RunsBeside beside =
      runs_beside(three(), {"name", "tokens_per_forward", "steps", "finish", "draft"});
  CHECK(beside.names == std::vector<std::string>{"1 greedy", "2 lookup", "3 lookup"});
  REQUIRE(beside.figures.size() == 4);  // no run has a draft
  const BesideFigure& rate = beside.figures[1];
  CHECK(rate.column == "tokens_per_forward");
  CHECK(rate.differences[1] == 0.5);
  CHECK(rate.differences[2] == -0.25);
  CHECK_FALSE(beside.figures[0].differences[1]);
  CHECK_FALSE(beside.figures[3].differences[1]);
  CHECK(beside.figures[3].values[2].is_null());
}

TEST_CASE("runs beside: as CSV a line a figure, each run with its difference, then the texts") {
  const RunsBeside beside = runs_beside(three(), {"tokens_per_forward", "finish"});
  const TextPartings partings = {viz::TextParting{.same_text = true, .tokens = 12},
                                 viz::TextParting{.tokens = 5, .step = 4, .first_step = 6}};
  CHECK(study_csv(beside_table(beside, partings)) ==
        "figure,1 greedy,2 lookup,2 lookup − 1 greedy,3 lookup,3 lookup − 1 greedy\n"
        "tokens_per_forward,1.0,1.5,0.5,0.75,-0.25\n"
        "finish,eos,eos,,,\n"
        "same_text_as_first,,true,,false,\n"
        "tokens_before_parting,,,,5,\n"
        "parting_step,,,,4,\n"
        "parting_step_of_first,,,,6,\n");
  CHECK(beside_table(beside, {}).rows.size() == 2);
}

TEST_CASE("runs beside: in words, where two texts part") {
  CHECK(parting_words(std::nullopt) == "");
  CHECK(parting_words(viz::TextParting{.same_prompt = false}) == "another prompt");
  CHECK(parting_words(viz::TextParting{.same_text = true}) == "same text");
  CHECK(parting_words(viz::TextParting{.tokens = 5, .step = 4, .first_step = 6}) ==
        "parts after 5 tokens, in step 4 (first run: step 6)");
  CHECK(parting_words(viz::TextParting{.tokens = 1, .first_step = 2}) ==
        "parts after 1 token (first run: step 2)");
}

TEST_CASE("runs beside: a run without a capture has no parting, and the others have theirs") {
  const TextPartings partings = part_texts({"", "missing.tscap"}, {});
  REQUIRE(partings.size() == 1);
  CHECK_FALSE(partings[0]);
  CHECK(part_texts({}, {}).empty());
}

}  // namespace
}  // namespace triescope::app::test_runs_beside

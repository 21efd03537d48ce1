// The forward phase of rows that are recorded otherwise than the tree asks for.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/unit/viz/faulty_runs.h"
#include "viz/narration/narration.h"
#include "viz/narration/narration_text.h"
#include "viz/narration/sentences.h"

namespace triescope::test::test_fault_story {
namespace {

viz::Narration told(const Capture& run, std::int32_t step) {
  return viz::narrate(run, make_tick(step, Phase::kForward) + 1, viz::Sentences::standard());
}

const viz::Sentence* sentence(const viz::Narration& narration, const std::string& name) {
  const auto at = std::ranges::find(narration.sentences, name, &viz::Sentence::name);
  return at == narration.sentences.end() ? nullptr : &*at;
}
double number(const viz::Sentence& sentence, const std::string& fact) {
  const auto at = std::ranges::find(sentence.parts, fact, &viz::Part::fact);
  REQUIRE(at != sentence.parts.end());
  return at->number;
}
std::int64_t node(const viz::Sentence& sentence, const std::string& fact) {
  const auto at = std::ranges::find(sentence.parts, fact, &viz::Part::fact);
  REQUIRE(at != sentence.parts.end());
  return at->target.id;
}

TEST_CASE("fault story: the mask's cells are counted, and the first of each kind is told") {
  const Capture& run = faulty_capture<masked_wrongly>();
  const StepNodes at = masked_wrongly().of_step[3];
  const viz::Narration narration = told(run, 3);
  const auto* cells = sentence(narration, "forward.fault.cells");
  REQUIRE(cells);
  CHECK(number(*cells, "cells") == 2);
  CHECK(number(*cells, "rows") == 2);
  const auto* extra = sentence(narration, "forward.fault.extra");
  REQUIRE(extra);
  CHECK(node(*extra, "node") == at.c);
  CHECK(node(*extra, "seen") == at.a);
  const auto* missing = sentence(narration, "forward.fault.missing");
  REQUIRE(missing);
  CHECK(node(*missing, "node") == at.b);
  CHECK(node(*missing, "missing") == at.root);
  // a and c share a position; that neither sees the other would be a lie.
  CHECK_FALSE(sentence(narration, "forward.siblings"));
  CHECK_FALSE(sentence(told(run, 2), "forward.fault.cells"));
  CHECK(sentence(told(run, 2), "forward.siblings"));
}

TEST_CASE("fault story: stale KV, positions and slots") {
  const viz::Narration stale = told(faulty_capture<stale_and_shifted>(), 3);
  const auto* position = sentence(stale, "forward.fault.position");
  REQUIRE(position);
  const InputRow row = faulty_capture<stale_and_shifted>().inputs(3)[1];
  CHECK(number(*position, "position") == row.position);
  CHECK(number(*position, "expected") == row.position - 1);
  REQUIRE(sentence(stale, "forward.fault.extra"));

  const MadeRun made = slots_taken_wrongly();
  const Capture& run = faulty_capture<slots_taken_wrongly>();
  const auto over = told(run, 3), twice = told(run, 5);
  const auto* gone = sentence(over, "forward.fault.slot");
  REQUIRE(gone);
  CHECK(node(*gone, "lost") == made.of_step[2].root);
  CHECK(number(*gone, "slot") == run.inputs(3)[3].slot);
  const auto* both = sentence(twice, "forward.fault.slot_twice");
  REQUIRE(both);
  CHECK(node(*both, "one") == made.of_step[5].b);
  CHECK(node(*both, "other") == made.of_step[5].c);
}

}  // namespace
}  // namespace triescope::test::test_fault_story

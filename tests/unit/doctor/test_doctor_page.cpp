// docs/doctor.md and the codes are held to each other; the report says what a finding holds.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/doctor/report.h"
#include "tests/support/files.h"
#include "tests/unit/doctor/made_run.h"

namespace triescope::test::test_doctor_page {
namespace {

using doctor::Code;

TEST_CASE(
    "doctor's page: a section a code, with rule, reason, causes and what to do, and no other") {
  const std::string page = read_file(source_dir() / "docs" / "doctor.md");
  std::size_t sections = 0;
  for (std::size_t at = page.find("\n### "); at != std::string::npos;
       at = page.find("\n### ", at + 1))
    ++sections;
  CHECK(sections == doctor::kCodeCount);
  for (int i = 0; i < doctor::kCodeCount; ++i) {
    const auto code = static_cast<Code>(i);
    const std::string name = to_string(code);
    CAPTURE(name);
    const std::size_t begin = page.find("\n### " + name + "\n");
    REQUIRE(begin != std::string::npos);
    const std::string section = page.substr(begin, page.find("\n### ", begin + 1) - begin);
    for (const char* part : {"*Rule:*", "*Why it matters:*", "*Usual causes:*", "*Mend it:*"}) {
      CAPTURE(part);
      CHECK(section.find(part) != std::string::npos);
    }
    CHECK(std::string(rule_of(code)).size() > 20);
  }
}

TEST_CASE("doctor's report: places, numbers and rule, as text and as JSON") {
  MadeRun made = made_drafts({.steps = 8});
  for (InputRow& row : made.rows.inputs)
    if (row.step >= 3 && row.row == 3) row.position += 2;
  const doctor::Diagnosis diagnosis = diagnosed(made.rows);
  const std::string text = report_text(diagnosis, "run.tscap");
  CHECK(text.find("run.tscap: 1 finding") == 0);
  CHECK(text.find("position.depth: ") != std::string::npos);
  CHECK(text.find("step 3, row 3, node ") != std::string::npos);
  CHECK(text.find("5 times in 5 steps, first at step 3") != std::string::npos);
  CHECK(text.find("--open") == std::string::npos);
  CHECK(report_text(diagnosis, "a, b", "run.tscap")
            .find("\nLook at it: triescope run.tscap --open step/3/node/" +
                  std::to_string(made.of_step[3].c) + "\n") != std::string::npos);
  const auto json = nlohmann::json::parse(report_json(diagnosis));
  REQUIRE(json["findings"].size() == 1);
  const auto& finding = json["findings"][0];
  CHECK(finding["code"] == "position.depth");
  CHECK(finding["count"] == 5);
  CHECK(finding["first"]["step"] == 3);
  CHECK(finding["first"]["row"] == 3);
  CHECK(finding["first"]["node"] == made.of_step[3].c);
  CHECK_FALSE(finding["text"].get<std::string>().empty());
}

TEST_CASE("doctor's report: nothing found, and what could not be checked") {
  MadeRun made = made_drafts();
  made.rows.seen.clear();
  const doctor::Diagnosis diagnosis = diagnosed(made.rows);
  const std::string text = report_text(diagnosis, "run.tscap");
  CHECK(text.find("run.tscap: nothing found\n") == 0);
  CHECK(text.find("not checked: masks: no rows in seen\n") != std::string::npos);
  CHECK(nlohmann::json::parse(report_json(diagnosis))["findings"].empty());
}

}  // namespace
}  // namespace triescope::test::test_doctor_page

// A capture that is checked beside whoever looks at it.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "core/doctor/watch.h"
#include "tests/unit/viz/faulty_runs.h"

namespace triescope::test::test_watch {
namespace {

using doctor::DoctorWatch;

// Looks until nothing is being checked any more.
const DoctorWatch::Opinion& settled(DoctorWatch& watch, const Capture& run) {
  const DoctorWatch::Opinion* opinion = &watch.look(run);
  while (opinion->is_working) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    opinion = &watch.look(run);
  }
  return *opinion;
}

std::string report_of(const doctor::Diagnosis& diagnosis) {
  std::string text;
  for (const auto& group : diagnosis.groups) text += group.first.text + "\n";
  return text;
}

TEST_CASE("watch: a small capture is checked at once, a large one beside") {
  const OpenedRun opened(masked_wrongly().rows);
  const Capture& run = *opened.capture;
  const std::string expected = report_of(doctor::diagnose(run));
  REQUIRE_FALSE(expected.empty());
  DoctorWatch at_once;
  CHECK(at_once.look(run).is_current);
  CHECK_FALSE(at_once.look(run).is_working);
  CHECK(report_of(at_once.look(run).diagnosis) == expected);
  DoctorWatch beside(0);
  const auto& first = beside.look(run);
  CHECK(first.is_working);
  CHECK(first.last_step == -1);
  CHECK(first.diagnosis.groups.empty());
  const auto& last = settled(beside, run);
  CHECK(last.is_current);
  CHECK(last.last_step == run.last_step());
  CHECK(report_of(last.diagnosis) == expected);
  // Nothing is left to do.
  CHECK_FALSE(beside.look(run).is_working);
}

TEST_CASE("watch: who cannot wait has it checked here, and another capture ends the work") {
  const OpenedRun one(masked_wrongly().rows), other(stale_and_shifted().rows);
  DoctorWatch watch(0);
  watch.look(*one.capture);
  CHECK(watch.complete(*other.capture).is_current);
  CHECK(report_of(watch.complete(*other.capture).diagnosis) ==
        report_of(doctor::diagnose(*other.capture)));
  CHECK(watch.look(*one.capture).diagnosis.groups.empty());
  CHECK(report_of(settled(watch, *one.capture).diagnosis) ==
        report_of(doctor::diagnose(*one.capture)));
  watch.look(*other.capture);  // and nobody waits for the end of it
}

TEST_CASE("watch: what a run gains is found, and what was found stays until then") {
  const TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  const MadeRun made = masked_wrongly();
  RowTables rest = made.rows;
  const auto recorder = open_recorder(path);
  RowTables begin = made.rows;
  begin.finish.reset();
  const auto cut = [](auto& rows, auto is_early, bool early) {
    std::erase_if(rows, [&](const auto& row) { return is_early(row) != early; });
  };
  const auto split = [&](RowTables& rows, bool early) {
    const Tick at = make_tick(4, Phase::kDraft);
    const auto by_tick = [at](const auto& row) { return row.tick < at; };
    const auto by_step = [](const auto& row) { return row.step < 4; };
    cut(rows.nodes, by_tick, early);
    cut(rows.candidates, by_tick, early);
    cut(rows.verdicts, by_tick, early);
    cut(rows.slots, by_tick, early);
    cut(rows.phases, by_tick, early);
    cut(rows.sequences, by_tick, early);
    cut(rows.inputs, by_step, early);
    cut(rows.seen, by_step, early);
    cut(rows.frontier, by_step, early);
    cut(rows.steps, by_step, early);
  };
  split(begin, true);
  split(rest, false);
  rest.run.reset();
  rest.drafters.clear();
  recorder->write(begin);
  recorder->flush();
  const auto run = Capture::open(path);
  DoctorWatch watch(0);
  const auto before = settled(watch, *run);
  REQUIRE_FALSE(before.diagnosis.groups.empty());
  CHECK(before.last_step == 3);
  recorder->write(rest);
  recorder->flush();
  run->poll();
  const auto& now = watch.look(*run);
  CHECK_FALSE(now.is_current);
  CHECK(now.diagnosis.groups.size() == before.diagnosis.groups.size());
  const auto& after = settled(watch, *run);
  CHECK(after.is_current);
  CHECK(after.last_step == 5);
  CHECK(after.diagnosis.groups.front().count > before.diagnosis.groups.front().count);
}

TEST_CASE("watch: a file that is gone is told, and its capture stays open") {
  const OpenedRun opened(masked_wrongly().rows);
  std::filesystem::remove(opened.capture->path());
  DoctorWatch watch(0);
  const auto& opinion = settled(watch, *opened.capture);
  CHECK(opinion.problem.find("run.tscap") != std::string::npos);
  CHECK_FALSE(watch.look(*opened.capture).is_working);
}

}  // namespace
}  // namespace triescope::test::test_watch

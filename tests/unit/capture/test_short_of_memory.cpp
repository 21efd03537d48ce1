// A recorder whose SQLite is refused memory keeps what it was given and writes it once there is some.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/capture/capture.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/capture/answers.h"
#include "tests/unit/capture/sample_run.h"

namespace triescope::test {
namespace {

void refuse_memory() { sqlite3_hard_heap_limit64(1); }
void allow_memory() { sqlite3_hard_heap_limit64(0); }

// Makes every call again until it is not refused memory; of each, `times` are.
class Patient final : public Recorder {
 public:
  Patient(Recorder& inner, int times) : inner_(inner), times_(times) {}
  Level level() const override { return inner_.level(); }
  void write(const RowTables& rows) override {
    again([&] { inner_.write(rows); });
  }
  void flush() override {
    again([&] { inner_.flush(); });
  }
  int refused = 0;

 private:
  template <class Call>
  void again(const Call& call) {
    for (int tried = 0;; ++tried) {
      if (tried == times_) allow_memory();
      try {
        return call();
      } catch (const Error& error) {
        REQUIRE(error.code() == ErrorCode::kOutOfMemory);
        CHECK(std::string(error.what()) ==
              "out of memory: the recording found no room; nothing of it is lost. Close other "
              "programs, then go on");
        REQUIRE(tried < times_);
        ++refused;
      }
    }
  }

  Recorder& inner_;
  int times_;
};

TEST_CASE("capture: rows for which memory was refused are written later, each once") {
  TempDir dir;
  const std::string plain = dir.path() / "plain.tscap", waited = dir.path() / "waited.tscap";
  const auto last = [](int steps) { return make_tick(steps - 1, Phase::kObserve); };
  constexpr int kSteps = 30;
  record_sample(*open_recorder(plain), kSteps, 4);
  // Told by the next call, by a flush, or by the last call of the run.
  for (const bool flushes : {false, true}) {
    CAPTURE(flushes);
    {
      // At once, or nothing but for a flush.
      const auto recorder = open_recorder(waited, {.flush_interval_ms = flushes ? 60'000 : 1});
      Patient patient(*recorder, 3);
      record_sample(patient, kSteps, 4, [&](Tick tick) {
        if (tick % 7 == 0) refuse_memory();
        if (flushes) patient.flush();
        if (tick == last(kSteps)) refuse_memory();
      });
      allow_memory();
      CHECK(patient.refused >= (flushes ? 3 * kSteps / 2 : 3));
    }
    const auto expected = Capture::open(plain), found = Capture::open(waited);
    CHECK(found->status() == RunStatus::kDone);
    for (const Tick tick :
         {make_tick(0, Phase::kObserve), make_tick(kSteps / 2, Phase::kAccept), last(kSteps)}) {
      CHECK(answers_at(*found, tick) == answers_at(*expected, tick));
      CHECK(candidates_at(*found, tick) == candidates_at(*expected, tick));
    }
  }
}

TEST_CASE("capture: a recorder given up while memory is refused leaves what was written before") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  {
    const auto recorder = open_recorder(path);
    record_sample(*recorder, 5, 4, {}, /*finish=*/false);
    recorder->flush();
    refuse_memory();
    recorder->write({.pieces = {{7, "x"}}});
    CHECK(
        refusal(ErrorCode::kOutOfMemory, [&] { recorder->flush(); }).starts_with("out of memory"));
    CHECK(refusal(ErrorCode::kOutOfMemory, [&] {
            recorder->write({.pieces = {{8, "y"}}});
          }).starts_with("out of memory"));
  }
  allow_memory();
  const auto capture = Capture::open(path);
  CHECK(capture->frontier_step(make_tick(4, Phase::kObserve)) >= 0);
  CHECK(capture->piece(7) != "x");
}

}  // namespace
}  // namespace triescope::test

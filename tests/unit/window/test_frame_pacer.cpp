#include <doctest/doctest.h>

#include <initializer_list>

#include "app/window/frame_pacer.h"

namespace triescope::app::test_frame_pacer {
namespace {

TEST_CASE(
    "frame pacer: while a run decodes, drawing takes a tenth of the time at most, whatever a frame costs") {
  for (const double cost : {0.001, 0.02, 0.3}) {
    CAPTURE(cost);
    FramePacer pacer;
    double now = 5, drawn = 0;
    const double begin = now;
    for (int frame = 0; frame < 50; ++frame) {
      now += pacer.seconds_left(now);
      now += cost;
      drawn += cost;
      pacer.drew(now, cost);
    }
    now += pacer.seconds_left(now);
    CHECK(drawn / (now - begin) <= FramePacer::kShare + 1e-9);
    CHECK(drawn / (now - begin) > FramePacer::kShare * 0.99);
  }
}

TEST_CASE(
    "frame pacer: a frame that cost nothing lets the next one come, unless a least time was asked for") {
  FramePacer pacer;
  CHECK(pacer.seconds_left(0) == 0);
  pacer.drew(1, 0);
  CHECK(pacer.seconds_left(1) == 0);
  pacer.drew(1, 0.001, 0.25);
  CHECK(pacer.seconds_left(1) == doctest::Approx(0.25));
  CHECK(pacer.seconds_left(1.2) == doctest::Approx(0.05));
  CHECK(pacer.seconds_left(9) == 0);
}

}  // namespace
}  // namespace triescope::app::test_frame_pacer

// How fast a large capture is written and opened. Plain figures, printed. (What recording costs a
// run: `triescope bench --only recording`.)
//   bench_capture
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "core/capture/capture.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"
#include "tests/unit/capture/sample_run.h"

namespace {

using namespace triescope::capture;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void throughput_and_opening(const std::string& path, int steps, int beams) {
  auto start = Clock::now();
  {
    const auto recorder = open_recorder(path);
    triescope::test::record_sample(*recorder, steps, beams);
  }
  const double write_ms = ms_since(start);
  start = Clock::now();
  const auto capture = Capture::open(path);
  const double open_ms = ms_since(start);
  const Counts counts = capture->counts();
  std::printf(
      "%lld nodes, %lld candidates, %lld slot events, %.1f MB: written in %.0f ms, opened in %.0f "
      "ms\n",
      static_cast<long long>(counts.nodes), static_cast<long long>(counts.candidates),
      static_cast<long long>(counts.slots),
      static_cast<double>(std::filesystem::file_size(path)) / 1e6, write_ms, open_ms);
  start = Clock::now();
  std::int64_t live = 0;
  const Tick now = capture->end_tick();
  for (const NodeRow& row : capture->nodes_at(now))
    live += capture->node_at(row.node, now).state == NodeState::kLive;
  std::printf("  state of every node at one cursor: %.1f ms (%lld live)\n", ms_since(start),
              static_cast<long long>(live));
  start = Clock::now();
  for (int i = 0; i < 100; ++i) capture->poll();
  std::printf("  poll with nothing new: %.3f ms\n", ms_since(start) / 100);
}

}  // namespace

int main() {
  const triescope::test::TempDir dir;
  throughput_and_opening(dir.path() / "large.tscap", 10'000, 9);
}

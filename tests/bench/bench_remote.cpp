// What a run on another machine costs over one that is decoded here, on a line within this process:
// a step until its rows can be read here, and a whole run. `line_ms` delays what either end sends.
#include <benchmark/benchmark.h>

#include <atomic>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "app/remote/dial.h"
#include "app/remote/remote_host.h"
#include "app/remote/served_session.h"
#include "app/session/session_thread.h"
#include "core/base/error.h"
#include "tests/support/line_pair.h"
#include "tests/support/paths.h"

using namespace triescope;
using namespace triescope::app;

namespace {

RunRequest request(int tokens) {
  RunRequest run;
  run.model = test::model_path()->string();
  run.method = "beam";
  run.settings = {{"num_beams", 4}};
  run.prompt = "The three primary colours are red, green and blue. The three primary colours are";
  run.max_new_tokens = tokens;
  return run;
}

void settle(const RunHost& host) {
  while (true) {
    const auto status = host.status();
    if (status->commands_done >= host.commands_sent() && status->state != LiveState::kRunning &&
        status->state != LiveState::kLoading)
      return;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

// A line whose bytes arrive `delay` after they were sent, as over a long way.
class SlowLine final : public Line {
 public:
  SlowLine(std::unique_ptr<Line> line, std::chrono::milliseconds delay)
      : line_(std::move(line)), delay_(delay), sender_([this] { send(); }) {}
  ~SlowLine() override {
    shut();
    sender_.join();
  }
  void write(std::string_view bytes) override {
    std::lock_guard lock(mutex_);
    waiting_.emplace_back(std::chrono::steady_clock::now() + delay_, bytes);
  }
  std::string read() override { return line_->read(); }
  void shut() override {
    over_ = true;
    line_->shut();
  }

 private:
  void send() {
    while (!over_) {
      std::string bytes;
      {
        std::lock_guard lock(mutex_);
        if (!waiting_.empty() && waiting_.front().first <= std::chrono::steady_clock::now()) {
          bytes = std::move(waiting_.front().second);
          waiting_.pop_front();
        }
      }
      if (bytes.empty()) {
        std::this_thread::sleep_for(std::chrono::microseconds(500));
        continue;
      }
      try {
        line_->write(bytes);
      } catch (const Error&) {
        return;
      }
    }
  }

  std::unique_ptr<Line> line_;
  const std::chrono::milliseconds delay_;
  std::mutex mutex_;
  std::deque<std::pair<std::chrono::steady_clock::time_point, std::string>> waiting_;
  std::atomic<bool> over_{false};
  std::thread sender_;
};

// A decoder and a host over a line whose way takes half of `round_trip` in each direction.
struct Far {
  explicit Far(std::chrono::milliseconds round_trip) {
    std::filesystem::create_directory(folder.path() / "served");
    session = std::make_unique<ServedSession>(ServedSetup{
        .name = "bench",
        .folder = folder.path() / "served",
        .paths = AllowedPaths({test::model_path()->parent_path()}),
        .version = "1",
        .host = [](auto wake) { return std::make_unique<SessionThread>(std::move(wake)); }});
    auto [mine, theirs] = test::line_pair();
    near_end = std::make_unique<SlowLine>(std::move(mine), round_trip / 2);
    far_end = std::make_unique<SlowLine>(std::move(theirs), round_trip / 2);
    server = std::thread([this] { session->serve(*far_end, false); });
    host = std::make_unique<RemoteHost>(
        RemoteSetup{.where = "far",
                    .dial = [this](const std::string&) { return std::move(near_end); },
                    .wake = [] {},
                    .captures = folder.path(),
                    .version = "1"});
    host->wait_connected();
  }
  ~Far() {
    host.reset();
    session->shut();
    server.join();
  }
  std::string capture() { return (folder.path() / "run.tscap").string(); }

  test::TempDir folder;
  std::unique_ptr<ServedSession> session;
  std::unique_ptr<Line> near_end, far_end;
  std::thread server;
  std::unique_ptr<RemoteHost> host;
};

void step_here(benchmark::State& state) {
  if (!test::model_path()) return state.SkipWithError("the model is not installed");
  test::TempDir folder;
  SessionThread host([] {});
  host.start(request(1000), (folder.path() / "run.tscap").string(), false);
  host.step();
  settle(host);
  for (auto _ : state) {
    host.step();
    settle(host);
  }
}
BENCHMARK(step_here)->Iterations(40)->UseRealTime()->Unit(benchmark::kMillisecond);

void step_far(benchmark::State& state) {
  if (!test::model_path()) return state.SkipWithError("the model is not installed");
  Far far(std::chrono::milliseconds(state.range(0)));
  far.host->start(request(1000), far.capture(), false);
  far.host->step();
  settle(*far.host);
  for (auto _ : state) {
    far.host->step();
    settle(*far.host);
  }
}
BENCHMARK(step_far)->ArgName("line_ms")->Arg(0)->Arg(200)->Iterations(40)->UseRealTime()->Unit(
    benchmark::kMillisecond);

// Over a real line: TRIESCOPE_REMOTE_COMMAND reaches it (`ssh host`), TRIESCOPE_REMOTE_PROGRAM is
// the program there, and TRIESCOPE_REMOTE_MODEL a model there.
void step_over_a_command(benchmark::State& state) {
  const auto named = [](const char* name, const char* otherwise) -> std::string {
    const char* const value = std::getenv(name);
    return value ? value : otherwise;
  };
  const std::string command = named("TRIESCOPE_REMOTE_COMMAND", "");
  if (command.empty()) return state.SkipWithError("TRIESCOPE_REMOTE_COMMAND is not set");
  test::TempDir folder;
  const auto host = remote_host(
      {.command = command, .program = named("TRIESCOPE_REMOTE_PROGRAM", "triescope")}, [] {});
  host->wait_connected();
  RunRequest run = request(1000);
  run.model = named("TRIESCOPE_REMOTE_MODEL", "");
  host->start(run, (folder.path() / "run.tscap").string(), false);
  host->step();
  settle(*host);
  for (auto _ : state) {
    host->step();
    settle(*host);
  }
}
BENCHMARK(step_over_a_command)->Iterations(40)->UseRealTime()->Unit(benchmark::kMillisecond);

void run_here(benchmark::State& state) {
  if (!test::model_path()) return state.SkipWithError("the model is not installed");
  test::TempDir folder;
  SessionThread host([] {});
  for (auto _ : state) {
    host.start(request(100), (folder.path() / "run.tscap").string(), true);
    settle(host);
  }
}
BENCHMARK(run_here)->Iterations(3)->UseRealTime()->Unit(benchmark::kMillisecond);

void run_far(benchmark::State& state) {
  if (!test::model_path()) return state.SkipWithError("the model is not installed");
  Far far(std::chrono::milliseconds(0));
  for (auto _ : state) {
    far.host->start(request(100), far.capture(), true);
    settle(*far.host);
  }
}
BENCHMARK(run_far)->Iterations(3)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

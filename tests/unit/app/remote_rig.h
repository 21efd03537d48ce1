// A decoder and a window that reaches it over a line within this process. Tests cut the line, and
// end either side.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/remote/remote_host.h"
#include "app/remote/served_session.h"
#include "app/session/session_thread.h"
#include "core/base/error.h"
#include "tests/support/line_pair.h"
#include "tests/support/paths.h"
#include "tests/unit/app/tiny_model.h"

namespace triescope::app {

// A tiny model's run: 16 steps of a beam search.
inline RunRequest tiny_request(const std::string& model) {
  RunRequest request;
  request.model = model;
  request.method = "beam";
  request.settings = {{"num_beams", 3}};
  request.prompt_ids = {1, 2, 3, 4};
  request.max_new_tokens = 16;
  return request;
}

class RemoteRig {
 public:
  RemoteRig() {
    for (const char* name : {"models", "served", "here"})
      std::filesystem::create_directory(folder.path() / name);
    model = write_tiny_model(folder.path() / "models", "tiny");
    serve("first");
  }
  ~RemoteRig() {
    host.reset();
    stop_serving();
  }

  // Starts a decoder in place of the one before it.
  void serve(const std::string& name) {
    stop_serving();
    auto fresh = std::make_shared<ServedSession>(
        ServedSetup{.name = name,
                    .folder = folder.path() / "served",
                    .paths = AllowedPaths({folder.path() / "models"}),
                    .version = "1",
                    .host = [this](auto wake) { return decoder(std::move(wake)); },
                    .report =
                        [this](const std::string& what, const nlohmann::json& about) {
                          during_report();
                          return nlohmann::json{{"what", what}, {"about", about}};
                        }});
    std::lock_guard lock(mutex_);
    session_ = std::move(fresh);
    session_name = name;
  }

  // Ends the decoder as a kill would: nothing is said.
  void stop_serving() {
    std::shared_ptr<ServedSession> old;
    std::vector<std::thread> threads;
    {
      std::lock_guard lock(mutex_);
      old = std::exchange(session_, nullptr);
      far_end_.reset();
    }
    if (old) old->shut();
    {
      std::lock_guard lock(mutex_);
      threads = std::exchange(threads_, {});
    }
    for (std::thread& thread : threads) thread.join();
  }

  // A line to the decoder. Error{kIoError}: there is none.
  std::unique_ptr<Line> dial(bool watch) {
    std::lock_guard lock(mutex_);
    if (!session_) throw Error(ErrorCode::kIoError, "nobody answers");
    auto [mine, theirs] = test::line_pair();
    far_end_ = std::shared_ptr<Line>(std::move(theirs));
    threads_.emplace_back([session = session_, line = far_end_, watch] {
      session->serve(*line, watch);
      line->shut();
    });
    // The thread's end of the line goes when the test drops it too.
    return std::move(mine);
  }

  // Breaks the newest line, wherever its bytes are.
  void cut() {
    std::shared_ptr<Line> line;
    {
      std::lock_guard lock(mutex_);
      line = std::exchange(far_end_, nullptr);
    }
    if (line) line->shut();
  }

  RemoteHost& connect(bool watch = false) {
    host = make_host(watch);
    host->wait_connected();
    return *host;
  }
  std::unique_ptr<RemoteHost> make_host(bool watch = false) {
    return std::make_unique<RemoteHost>(
        RemoteSetup{.where = "box",
                    .dial = [this, watch](const std::string&) { return dial(watch); },
                    .wake = [] {},
                    .captures = folder.path() / "here",
                    .version = "1"});
  }

  std::string here(const std::string& name) const {
    return (folder.path() / "here" / name).string();
  }
  std::string there(int run) const {
    return (folder.path() / "served" / ("run-" + std::to_string(run) + ".tscap")).string();
  }

  test::TempDir folder;
  std::string model, session_name;
  std::function<void()> during_report = [] {};
  // Makes what decodes, from the next serve() on.
  std::function<std::unique_ptr<RunHost>(std::function<void()>)> decoder = [](auto wake) {
    return std::make_unique<SessionThread>(std::move(wake));
  };
  std::unique_ptr<RemoteHost> host;

 private:
  std::mutex mutex_;
  std::shared_ptr<ServedSession> session_;
  std::shared_ptr<Line> far_end_;
  std::vector<std::thread> threads_;
};

// Waits until `condition` holds. False after two minutes: something is stuck then.
template <class Condition>
bool wait_until(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Waits until every command is done and nothing runs on its own.
inline void settle(const RunHost& host) {
  REQUIRE(wait_until([&] {
    const auto status = host.status();
    return status->commands_done >= host.commands_sent() && status->state != LiveState::kRunning &&
           status->state != LiveState::kLoading;
  }));
}

inline std::string last_notice(const RunHost& host) {
  const auto status = host.status();
  return status->notices.empty() ? "" : status->notices.back().text;
}

}  // namespace triescope::app

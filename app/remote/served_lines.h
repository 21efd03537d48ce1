// The parts of a ServedSession: its host, its runs, and the lines to its clients. A line has a
// thread that reads, one that writes and one that answers questions; all meet at one mutex.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/remote/client_backlog.h"
#include "app/remote/messages.h"
#include "app/remote/served_session.h"

namespace triescope::app {

// Whether a host decodes or loads by itself.
inline bool works_by_itself(LiveState state) {
  return state == LiveState::kRunning || state == LiveState::kLoading;
}

// The error of `body`, if it fails.
template <class Body>
std::string failure_of(Body body) {
  try {
    body();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

struct ServedSession::Impl {
  explicit Impl(ServedSetup given) : setup(std::move(given)) {}

  // One client's line, with the questions that its answering thread has before it, and what its
  // writing thread has to send beside rows and status.
  struct Client {
    Line& line;
    ClientGreeting greeting;
    bool watch = false;
    std::deque<Ask> questions = {};
    std::deque<std::string> answers = {};  // frames
    bool quit = false;
  };

  // Everything about a moment that a status tells.
  struct Moment {
    std::shared_ptr<const LiveStatus> status;
    std::uint64_t sent = 0, taken = 0, version = 0;
    std::vector<ServedRun> runs;
    std::deque<std::string> answers;
    bool quit = false;
  };

  // --- runs ---

  // Called by the host after every new snapshot.
  void wake();
  // REQUIRES: the mutex is held.
  void note_run();
  std::string new_path(const ClientGreeting& greeting, std::uint64_t serial);

  // --- what a client asks; errors end its line ---

  // Does what an Ask says, and leaves a question to the answering thread.
  void take(Client& client, const Ask& ask);
  // An answer may take long (a file is read, a machine is checked), and no command waits for it.
  void answer_later(Client& client, const Ask& ask);
  void answer(Client& client, const Ask& ask);
  void send_later(Client& client, const Told& told);

  // --- a line ---

  // Speaks with one client until the line ends; the calling thread reads. Errors: why it ended, if
  // that was no plain end.
  void talk(Line& line, bool watch);
  // Reads the client's greeting and answers it. Errors: the client does not speak this protocol.
  ClientGreeting greet(Line& line, FrameReader& reader, bool watch);
  void answer_all(Client& client);  // the answering thread
  void tell(Client& client);        // the writing thread
  // Waits until there is something to send since `seen`, when the client was told of `told`.
  Moment next_moment(Client& client, std::uint64_t seen,
                     const std::shared_ptr<const LiveStatus>& told);

  ServedSetup setup;
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t version = 1;
  std::vector<ServedRun> runs;
  std::map<std::string, std::pair<std::string, std::uint64_t>> starts;  // by capture
  std::uint64_t started = 0;
  Client* controller = nullptr;
  std::string controller_name;  // the client whose Asks `taken` counts
  std::uint64_t taken = 0;
  std::set<Line*> lines;
  std::atomic<bool> ended{false};
  std::chrono::steady_clock::time_point busy_until = std::chrono::steady_clock::now();
  std::unique_ptr<RunHost> host;  // last: it calls wake()
};

}  // namespace triescope::app

#include "app/remote/served_session.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "app/remote/messages.h"
#include "app/remote/row_pump.h"
#include "app/remote/served_answers.h"
#include "app/remote/status_diff.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

using Clock = std::chrono::steady_clock;

// How often a running capture is looked at where no new snapshot tells of it.
constexpr auto kLookInterval = std::chrono::milliseconds(50);
constexpr std::size_t kMaxAnswers = 64;  // that wait on one line

bool works(LiveState state) { return state == LiveState::kRunning || state == LiveState::kLoading; }

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

}  // namespace

struct ServedSession::Impl {
  explicit Impl(ServedSetup given) : setup(std::move(given)) {}

  // One client's line, with what its writing thread has to send beside rows and status.
  struct Client {
    Line& line;
    ClientGreeting greeting;
    bool watch = false;
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

  // Called by the host after every new snapshot.
  void wake() {
    std::lock_guard lock(mutex);
    ++version;
    if (host) note_run();
    changed.notify_all();
  }

  // REQUIRES: the mutex is held.
  void note_run() {
    const auto status = host->status();
    if (status->run_serial <= runs.size()) return;
    ServedRun run{status->capture_path, "", 0};
    if (const auto start = starts.find(status->capture_path); start != starts.end()) {
      run.asked_by = start->second.first;
      run.asked_serial = start->second.second;
    }
    runs.push_back(std::move(run));
  }

  std::string new_path(const ClientGreeting& greeting, std::uint64_t serial) {
    std::string path = (setup.folder / ("run-" + std::to_string(++started) + ".tscap")).string();
    starts[path] = {greeting.client, serial};
    return path;
  }

  void send_later(Client& client, const Told& told) {
    std::lock_guard lock(mutex);
    if (client.answers.size() >= kMaxAnswers)
      throw Error(ErrorCode::kInvalidArgument, "the client asks more than it reads");
    client.answers.push_back(bytes_of(told));
    changed.notify_all();
  }

  void answer(Client& client, const Ask& ask) {
    Told told{.kind = ToldKind::kAnswer, .serial = ask.serial};
    try {
      if (ask.question.starts_with("report ") && setup.report)
        told.answer = setup.report(ask.question.substr(7), ask.about);
      else
        told.answer = answer_of(*host, setup.paths, ask);
    } catch (const Error& error) {
      told.code = error.code();
      told.text = error.what();
    } catch (const std::exception& error) {
      told.text = std::string("unexpected error: ") + error.what();
    }
    send_later(client, told);
  }

  void take(Client& client, const Ask& ask) {
    if (client.watch)
      return send_later(
          client, {.kind = ask.kind == AskKind::kQuestion ? ToldKind::kAnswer : ToldKind::kNotice,
                   .serial = ask.serial,
                   .text = "this line only watches the run"});
    if (ask.kind == AskKind::kQuestion) return answer(client, ask);
    std::string refused;
    {
      std::lock_guard lock(mutex);
      if (controller != &client || ask.serial <= taken) return;  // it came before a break already
      refused = failure_of([&] {
        if (ask.kind == AskKind::kEnd)
          ended = true;
        else
          obey(ask, *host, setup.paths, [&] { return new_path(client.greeting, ask.serial); });
      });
      taken = ask.serial;
      ++version;
      changed.notify_all();
    }
    if (!refused.empty()) send_later(client, {.kind = ToldKind::kNotice, .text = refused});
  }

  // Waits until there is something to send since `seen`.
  Moment next_moment(Client& client, std::uint64_t seen) {
    std::unique_lock lock(mutex);
    const auto ready = [&] { return version != seen || client.quit || !client.answers.empty(); };
    if (works(host->status()->state))
      changed.wait_for(lock, kLookInterval, ready);
    else
      changed.wait(lock, ready);
    return {host->status(),
            host->commands_sent(),
            controller == &client ? taken : 0,
            version,
            runs,
            std::exchange(client.answers, {}),
            client.quit};
  }

  // The writing thread of a line.
  void tell(Client& client) {
    RowPump pump(client.greeting.run, client.greeting.marks);
    const auto send = [&](const std::string& bytes) { client.line.write(bytes); };
    StatusDiff diff(client.greeting.notice, client.watch);
    std::uint64_t seen = 0;
    while (true) {
      Moment now = next_moment(client, seen);
      if (now.quit) return;
      for (const std::string& bytes : now.answers) send(bytes);
      // The rows come first: what a status speaks of is there when it arrives.
      pump.send_all(now.runs, send);
      if (now.version == seen) continue;
      seen = now.version;
      send(bytes_of(diff.next(*now.status, now.sent, now.taken)));
    }
  }

  // Reads the client's greeting and answers it. Errors: the client does not speak this protocol.
  ClientGreeting greet(Line& line, FrameReader& reader, bool watch) {
    ServerGreeting mine{.protocol = kProtocol,
                        .version = setup.version,
                        .session = setup.name,
                        .watch = watch,
                        .refused = {}};
    ClientGreeting theirs;
    try {
      const std::optional<Frame> frame = next_frame(line, reader);
      if (!frame) throw Error(ErrorCode::kIoError, "the client left without a greeting");
      if (frame->kind != FrameKind::kGreeting) refuse_field("greeting", "a greeting first");
      theirs = read_client_greeting(frame->payload);
      mine.refused = protocol_problem(theirs.protocol, theirs.version, setup.version);
      if (!theirs.session.empty() && theirs.session != setup.name) theirs.run = theirs.notice = 0;
    } catch (const Error& error) {
      mine.refused = error.what();
    }
    if (mine.refused.empty() && !watch) {
      std::lock_guard lock(mutex);
      if (theirs.client != controller_name) taken = 0;
      controller_name = theirs.client;
      mine.taken = taken;
    }
    line.write(greeting_bytes(mine));
    if (!mine.refused.empty()) throw Error(ErrorCode::kNotSupported, mine.refused);
    return theirs;
  }

  void talk(Line& line, bool watch) {
    FrameReader reader;
    Client client{line, {}, watch};
    client.greeting = greet(line, reader, watch);
    if (!watch) {
      std::lock_guard lock(mutex);
      if (Client* const other = std::exchange(controller, &client)) other->line.shut();
      ++version;
    }
    std::thread writer([&] {
      failure_of([&] { tell(client); });
      line.shut();
    });
    const std::string why = failure_of([&] {
      while (const std::optional<Frame> frame = next_frame(line, reader)) {
        if (frame->kind != FrameKind::kMessage) refuse_field("frame", "a message");
        take(client, read_ask(frame->payload));
        if (ended) break;
      }
    });
    {
      std::lock_guard lock(mutex);
      client.quit = true;
      if (controller == &client) controller = nullptr;
      changed.notify_all();
    }
    line.shut();
    writer.join();
    if (!why.empty()) throw Error(ErrorCode::kCorruption, why);
  }

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
  Clock::time_point busy_until = Clock::now();
  std::unique_ptr<RunHost> host;  // last: it calls wake()
};

ServedSession::ServedSession(ServedSetup setup) : impl_(std::make_unique<Impl>(std::move(setup))) {
  auto host = impl_->setup.host([impl = impl_.get()] { impl->wake(); });
  std::lock_guard lock(impl_->mutex);
  impl_->host = std::move(host);
}

ServedSession::~ServedSession() {
  // Its thread calls wake() until it is gone.
  std::unique_ptr<RunHost> host;
  {
    std::lock_guard lock(impl_->mutex);
    host = std::move(impl_->host);
  }
}

std::string ServedSession::serve(Line& line, bool watch) {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->lines.insert(&line);
  }
  const std::string why = failure_of([&] { impl_->talk(line, watch); });
  std::lock_guard lock(impl_->mutex);
  impl_->lines.erase(&line);
  impl_->busy_until = Clock::now();
  return why;
}

bool ServedSession::ended() const { return impl_->ended; }

Clock::duration ServedSession::idle() const {
  std::lock_guard lock(impl_->mutex);
  if (!impl_->lines.empty() || works(impl_->host->status()->state))
    impl_->busy_until = Clock::now();
  return Clock::now() - impl_->busy_until;
}

void ServedSession::shut() {
  std::lock_guard lock(impl_->mutex);
  for (Line* const line : impl_->lines) line->shut();
}

}  // namespace triescope::app

// The parts of a RemoteHost: what it knows of the run, and its line. Its two threads and its
// callers meet at one mutex.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "app/remote/messages.h"
#include "app/remote/remote_host.h"
#include "app/remote/remote_rows.h"

namespace triescope::app {

struct RemoteHost::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(RemoteSetup given);

  // --- reports to the window ---

  void tell(LogLevel level, const std::string& text);
  // REQUIRES (of both): the mutex is held.
  void add_notice(LogLevel level, const std::string& text);
  void publish() { published = std::make_shared<const LiveStatus>(now); }

  // --- commands ---

  // Why nothing can be sent; "" = it can. REQUIRES: the mutex is held.
  std::string unable() const;
  // Sends an Ask that starts a run into `capture_path`; "" = it starts none. What cannot be sent becomes
  // a notice.
  void send(Ask ask, const std::string& capture_path = "");
  // Asks, and waits for the answer. Errors: the other machine's; kIoError: it does not come.
  nlohmann::json ask(const std::string& question, const nlohmann::json& about,
                     std::chrono::milliseconds patience);

  // --- what comes ---

  // Errors: what came is not what it should be, or cannot be written here.
  void take(const Frame& frame);
  // Serials go on from one session to the next; those of the server begin again.
  void take_status(Told told);
  // Whoever holds it may hold it longer than the host.
  std::shared_ptr<const Tokenizer> remote_tokenizer(TokenizerFacts facts);

  // --- the line ---

  // Exchanges greetings. Errors: the other end refuses, or does not speak this protocol.
  void greet(Line& on, FrameReader& reader);
  // The thread that writes, while the line stands.
  void write_all(Line& on);
  // Speaks over one line until it ends; returns why it did.
  std::string talk();
  void disconnect();
  // The thread that reads.
  void loop();

  const RemoteSetup setup;
  const std::string client;

  mutable std::mutex mutex;
  std::condition_variable changed;
  LiveStatus now;
  std::shared_ptr<const LiveStatus> published = std::make_shared<LiveStatus>();
  std::string session, lost;
  std::shared_ptr<Line> line;
  bool connected = false, watch = false, quit = false, keeps = false;
  bool connected_before = false;
  bool hung_up = false;              // nobody waits for answers
  bool gone = false;                 // the session has ended; the reading thread's
  bool wanted = false;               // somebody wants a new line
  std::uint64_t attempts = 0;        // that ended
  std::deque<std::string> outgoing;  // frames
  std::deque<std::pair<std::uint64_t, std::string>> unseen;  // Asks that may not have arrived
  std::uint64_t last_ask = 0, last_question = 0, last_notice = 0;
  std::map<std::uint64_t, std::optional<Told>> waiting;  // questions, by serial
  std::uint64_t server_sent = 0, server_taken = 0, server_notice = 0;
  std::uint64_t runs_before = 0, pauses_before = 0;  // of earlier sessions

  RemoteRows rows;  // the reading thread's, but for expect()
  std::thread thread;
};

}  // namespace triescope::app

#include "app/remote/remote_host.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "app/remote/messages.h"
#include "app/remote/remote_rows.h"
#include "app/remote/remote_tokenizer.h"
#include "app/remote/served_answers.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

constexpr std::size_t kMaxNoticesKept = 200;

std::string random_name() {
  std::random_device random;
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string name;
  for (int i = 0; i < 16; ++i) name += kDigits[random() % 16];
  return name;
}

}  // namespace

struct RemoteHost::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(RemoteSetup given)
      : setup(std::move(given)), client(random_name()), rows(client, setup.captures) {
    session = setup.session;
  }

  // --- reports to the window ---

  // REQUIRES: the mutex is held.
  void publish() { published = std::make_shared<const LiveStatus>(now); }

  void tell(LogLevel level, const std::string& text) {
    {
      std::lock_guard lock(mutex);
      add_notice(level, text);
      publish();
    }
    setup.wake();
  }

  void add_notice(LogLevel level, const std::string& text) {
    now.notices.push_back({++last_notice, level, text});
    if (now.notices.size() > kMaxNoticesKept) now.notices.erase(now.notices.begin());
  }

  // --- commands ---

  std::string unable() const {
    if (watch) return "this window only watches the run on " + setup.where;
    if (!connected) return "not sent: the line to " + setup.where + " is broken. Reconnect first";
    return "";
  }

  void send(Ask ask, const std::string& capture_path = "") {
    std::string refused;
    {
      std::lock_guard lock(mutex);
      refused = unable();
      if (refused.empty()) {
        ask.serial = last_ask + 1;
        try {
          std::string bytes = bytes_of(ask);
          if (!capture_path.empty()) rows.expect(ask.serial, capture_path);
          last_ask = ask.serial;
          unseen.emplace_back(ask.serial, bytes);
          outgoing.push_back(std::move(bytes));
        } catch (const Error& error) {
          refused = error.what();
        }
        changed.notify_all();
      }
    }
    if (!refused.empty()) tell(LogLevel::kError, refused);
  }

  // Asks, and waits for the answer.
  nlohmann::json ask(const std::string& question, const nlohmann::json& about,
                     std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex);
    if (!connected)
      throw Error(ErrorCode::kIoError, "the line to " + setup.where + " is broken: reconnect");
    const std::uint64_t serial = ++last_question;
    Ask what{.serial = serial, .kind = AskKind::kQuestion, .question = question, .about = about};
    outgoing.push_back(bytes_of(std::move(what)));
    waiting[serial];
    changed.notify_all();
    changed.wait_for(lock, patience, [&] { return waiting[serial] || !connected; });
    std::optional<Told> told = std::move(waiting[serial]);
    waiting.erase(serial);
    if (!told)
      throw Error(ErrorCode::kIoError,
                  connected ? setup.where + " did not answer in " +
                                  std::to_string(patience.count() / 1000) + " s: the line is slow"
                            : "the line to " + setup.where + " broke: reconnect");
    if (!told->text.empty()) throw Error(told->code, told->text);
    return std::move(told->answer);
  }

  // --- what comes ---

  void take(const Frame& frame) {
    if (frame.kind == FrameKind::kRows) return rows.take(read_rows(frame.payload));
    if (frame.kind != FrameKind::kMessage) refuse_field("frame", "rows or a message");
    Told told = read_told(frame.payload);
    switch (told.kind) {
      case ToldKind::kRun:
        return rows.begin(told);
      case ToldKind::kNotice:
        return tell(LogLevel::kError, told.text);
      case ToldKind::kAnswer: {
        std::lock_guard lock(mutex);
        if (const auto found = waiting.find(told.serial); found != waiting.end())
          found->second = std::move(told);
        changed.notify_all();
        return;
      }
      case ToldKind::kStatus:
        take_status(std::move(told));
        setup.wake();
    }
  }

  // Serials go on from one session to the next; those of the server begin again.
  void take_status(Told told) {
    std::lock_guard lock(mutex);
    LiveStatus& from = told.status;
    const LiveStatus before = std::exchange(now, {});
    now.notices = before.notices;
    for (const Notice& notice : from.notices) {
      add_notice(notice.level, notice.text);
      server_notice = std::max(server_notice, notice.serial);
    }
    now.model = told.same_model ? before.model : from.model;
    now.tokenizer = before.tokenizer;
    if (!told.same_model) {
      now.tokenizer = nullptr;
      if (told.tokenizer) now.tokenizer = remote_tokenizer(*told.tokenizer);
    }
    now.state = from.state;
    now.progress = from.progress;
    now.progress_done = from.progress_done;
    now.progress_total = from.progress_total;
    now.next_tick = from.next_tick;
    now.pause_reason = from.pause_reason;
    now.memory_refused = from.memory_refused;
    now.pause_node = from.pause_node;
    now.pause_serial = pauses_before + from.pause_serial;
    now.run_serial = before.run_serial;
    now.capture_path = before.capture_path;
    if (from.run_serial > 0 && rows.has_run()) {
      now.run_serial = runs_before + from.run_serial;
      now.capture_path = rows.path();
    }
    server_sent = told.commands_sent;
    now.commands_done = from.commands_done;
    if (!watch) {
      server_taken = told.taken;
      while (!unseen.empty() && unseen.front().first <= server_taken) unseen.pop_front();
    }
    publish();
  }

  // Whoever holds it may hold it longer than the host.
  std::shared_ptr<const Tokenizer> remote_tokenizer(TokenizerFacts facts) {
    return std::make_shared<RemoteTokenizer>(
        std::move(facts),
        [weak = weak_from_this()](const std::string& question, const nlohmann::json& about) {
          if (const auto host = weak.lock())
            return host->ask(question, about, host->setup.patience);
          throw Error(ErrorCode::kIoError, "the line to the other machine was closed");
        });
  }

  // --- the line ---

  // Exchanges greetings. Errors: the other end refuses, or does not speak this protocol.
  void greet(Line& on, FrameReader& reader) {
    ClientGreeting mine{.protocol = kProtocol,
                        .version = setup.version,
                        .client = client,
                        .session = session,
                        .run = rows.run(),
                        .marks = rows.marks(),
                        .notice = server_notice};
    on.write(greeting_bytes(mine));
    const std::optional<Frame> frame = next_frame(on, reader);
    if (!frame) throw Error(ErrorCode::kIoError, "there was no greeting");
    if (frame->kind != FrameKind::kGreeting) refuse_field("greeting", "a greeting first");
    const ServerGreeting theirs = read_server_greeting(frame->payload);
    const std::string problem = protocol_problem(theirs.protocol, theirs.version, setup.version);
    if (!problem.empty()) throw Error(ErrorCode::kNotSupported, problem);
    if (!theirs.refused.empty()) {
      gone = theirs.gone && connected_before;
      throw Error(ErrorCode::kNotSupported, theirs.refused);
    }
    std::lock_guard lock(mutex);
    if (theirs.session != session) {
      // What was sent to a session that is gone is gone with it.
      if (connected_before)
        add_notice(LogLevel::kWarning,
                   "the decoder on " + setup.where +
                       " ended while the line was broken: what had arrived of its run stays, and a "
                       "new one has begun");
      rows.close("the decoder on the other machine ended");
      session = theirs.session;
      unseen.clear();
      runs_before = now.run_serial;
      pauses_before = now.pause_serial;
      server_notice = server_sent = now.commands_done = 0;
      last_ask = 0;
    }
    connected_before = true;
    watch = theirs.watch;
    outgoing.clear();
    server_taken = theirs.taken;
    while (!unseen.empty() && unseen.front().first <= server_taken) unseen.pop_front();
    for (const auto& [serial, bytes] : unseen) outgoing.push_back(bytes);
    lost.clear();
    connected = true;
    publish();
    changed.notify_all();
  }

  // The thread that writes, while the line stands.
  void write_all(Line& on) {
    while (true) {
      std::deque<std::string> bytes;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return !connected || !outgoing.empty(); });
        if (outgoing.empty()) return;
        bytes = std::exchange(outgoing, {});
      }
      try {
        for (const std::string& one : bytes) on.write(one);
      } catch (const Error&) {
        on.shut();
        return;
      }
    }
  }

  // Speaks over one line until it ends; returns why it did.
  std::string talk() {
    std::shared_ptr<Line> on;
    std::string why;
    try {
      on = setup.dial(std::exchange(gone, false) ? "" : session);
      {
        std::lock_guard lock(mutex);
        line = on;
        if (quit) on->shut();
      }
      FrameReader reader;
      greet(*on, reader);
      setup.wake();
      std::thread writer([&] { write_all(*on); });
      try {
        while (const std::optional<Frame> frame = next_frame(*on, reader)) take(*frame);
      } catch (const std::exception& error) {
        why = error.what();
      }
      on->shut();
      disconnect();
      writer.join();
    } catch (const std::exception& error) {
      why = error.what();
      if (on) on->shut();
    }
    disconnect();
    if (on) {
      // What the program at the other end said tells more than that the line ended.
      const std::string said = on->why_ended();
      if (!said.empty()) why = said;
    }
    return why.empty() ? "the line ended" : why;
  }

  void disconnect() {
    std::lock_guard lock(mutex);
    connected = false;
    line.reset();
    changed.notify_all();
  }

  // The thread that reads.
  void loop() {
    while (true) {
      std::string why = talk();
      rows.rewind();
      if (gone) why = talk();  // a new session takes its place
      rows.rewind();
      {
        std::unique_lock lock(mutex);
        if (quit) return;
        lost = why;
        publish();
        ++attempts;
        changed.notify_all();
        lock.unlock();
        setup.wake();
        lock.lock();
        changed.wait(lock, [&] { return quit || wanted; });
        if (quit) return;
        wanted = false;
      }
    }
  }

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

RemoteHost::RemoteHost(RemoteSetup setup) : impl_(std::make_shared<Impl>(std::move(setup))) {
  impl_->publish();
  impl_->thread = std::thread([impl = impl_.get()] { impl->loop(); });
}

RemoteHost::~RemoteHost() {
  bool ends = false;
  {
    std::lock_guard lock(impl_->mutex);
    ends = impl_->connected && !impl_->watch && !impl_->keeps;
  }
  if (ends) impl_->send({.kind = AskKind::kEnd});
  {
    std::unique_lock lock(impl_->mutex);
    // The other end closes the line once it has read that.
    if (ends)
      impl_->changed.wait_for(lock, std::chrono::seconds(2), [&] { return !impl_->connected; });
    impl_->quit = true;
    if (impl_->line) impl_->line->shut();
    impl_->changed.notify_all();
  }
  impl_->thread.join();
}

void RemoteHost::wait_connected() {
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait(lock, [&] { return impl_->connected || impl_->attempts > 0; });
  if (!impl_->connected) throw Error(ErrorCode::kIoError, impl_->lost);
}

void RemoteHost::keep() {
  std::lock_guard lock(impl_->mutex);
  impl_->keeps = true;
}

std::string RemoteHost::session() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->session;
}

nlohmann::json RemoteHost::report(const std::string& name, const nlohmann::json& about,
                                  std::chrono::milliseconds patience) {
  return impl_->ask("report " + name, about, patience);
}

std::shared_ptr<const LiveStatus> RemoteHost::status() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->published;
}

// Those that the other machine counts, and those that have not arrived there.
std::uint64_t RemoteHost::commands_sent() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->server_sent + impl_->unseen.size();
}

namespace {

// The list that the other machine answers with; empty where it does not answer.
template <class Item, class Question>
std::vector<Item> list_of(Question question) {
  try {
    return value_of<std::vector<Item>>(question(), "list");
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::vector<DeviceInfo> RemoteHost::devices() const {
  return list_of<DeviceInfo>([&] { return impl_->ask(kAskDevices, {}, impl_->setup.patience); });
}
std::vector<CatalogEntry> RemoteHost::models() const {
  return list_of<CatalogEntry>([&] { return impl_->ask(kAskModels, {}, impl_->setup.patience); });
}
std::vector<CatalogEntry> RemoteHost::draft_heads() const {
  return list_of<CatalogEntry>([&] { return impl_->ask(kAskHeads, {}, impl_->setup.patience); });
}
std::vector<CatalogEntry> RemoteHost::draft_models() const {
  return list_of<CatalogEntry>([&] { return impl_->ask(kAskDrafts, {}, impl_->setup.patience); });
}

std::string RemoteHost::model_path(const std::string& model) const {
  return value_of<std::string>(impl_->ask(kAskModelPath, {{"model", model}}, impl_->setup.patience),
                               kAskModelPath);
}

std::string RemoteHost::drafts_by_default(const RunRequest& request) const {
  return value_of<std::string>(
      impl_->ask(kAskDefaultDraft, {{"request", json_of(request)}}, impl_->setup.patience),
      kAskDefaultDraft);
}

void RemoteHost::load(const std::string& model, const std::string& device, DType dtype,
                      std::optional<DType> kv_dtype) {
  impl_->send({.kind = AskKind::kLoad,
               .model = model,
               .device = device,
               .dtype = dtype,
               .kv_dtype = kv_dtype});
}
void RemoteHost::start(const RunRequest& request, const std::string& capture_path,
                       bool run_at_once) {
  impl_->send({.kind = AskKind::kStart, .request = request, .run_at_once = run_at_once},
              capture_path);
}
void RemoteHost::measure(const RunRequest& request, const std::string& capture_path) {
  impl_->send({.kind = AskKind::kMeasure, .request = request}, capture_path);
}
void RemoteHost::step() { impl_->send({.kind = AskKind::kStep}); }
void RemoteHost::step_phase() { impl_->send({.kind = AskKind::kPhase}); }
void RemoteHost::run() { impl_->send({.kind = AskKind::kRun}); }
void RemoteHost::run_to(capture::Tick tick) {
  impl_->send({.kind = AskKind::kRunTo, .tick = tick});
}
void RemoteHost::try_again() { impl_->send({.kind = AskKind::kTryAgain}); }
void RemoteHost::branch(std::int32_t node, std::int32_t token, const std::string& capture_path) {
  impl_->send({.kind = AskKind::kBranch, .node = node, .token = token}, capture_path);
}
void RemoteHost::set_breakpoints(std::vector<Breakpoint> breakpoints) {
  impl_->send({.kind = AskKind::kBreakpoints, .breakpoints = std::move(breakpoints)});
}
void RemoteHost::pause() { impl_->send({.kind = AskKind::kPause}); }
void RemoteHost::stop() { impl_->send({.kind = AskKind::kStop}); }
void RemoteHost::cancel() { impl_->send({.kind = AskKind::kCancel}); }

HostLine RemoteHost::line() const {
  std::lock_guard lock(impl_->mutex);
  return {impl_->setup.where, impl_->lost, impl_->watch};
}

void RemoteHost::reconnect() {
  std::lock_guard lock(impl_->mutex);
  if (impl_->connected) return;
  impl_->wanted = true;
  impl_->changed.notify_all();
}

}  // namespace triescope::app

#include "app/remote/remote_link.h"

#include "core/base/error.h"

namespace triescope::app {
namespace {

constexpr std::size_t kMaxWhy = 4096;  // bytes of the reason why a line ended

}  // namespace

nlohmann::json RemoteHost::Impl::ask(const std::string& question, const nlohmann::json& about,
                                     std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex);
  if (!connected)
    throw Error(ErrorCode::kIoError, "the line to " + setup.where + " is broken: reconnect");
  if (hung_up) throw Error(ErrorCode::kCancelled, "nobody waits for an answer");
  const std::uint64_t serial = ++last_question;
  Ask what{.serial = serial, .kind = AskKind::kQuestion, .question = question, .about = about};
  outgoing.push_back(bytes_of(std::move(what)));
  waiting[serial];
  changed.notify_all();
  changed.wait_for(lock, patience, [&] { return waiting[serial] || !connected || hung_up; });
  std::optional<Told> told = std::move(waiting[serial]);
  waiting.erase(serial);
  if (!told && hung_up) throw Error(ErrorCode::kCancelled, "nobody waits for an answer");
  if (!told)
    throw Error(ErrorCode::kIoError,
                connected ? setup.where + " did not answer in " +
                                std::to_string(patience.count() / 1000) + " s: the line is slow"
                          : "the line to " + setup.where + " broke: reconnect");
  if (!told->text.empty()) throw Error(told->code, told->text);
  return std::move(told->answer);
}

void RemoteHost::Impl::greet(Line& on, FrameReader& reader) {
  ClientGreeting mine{.protocol = kProtocol,
                      .version = setup.version,
                      .client = client,
                      .session = session,
                      .run = rows.run(),
                      .marks = rows.marks(),
                      .notice = server_notice};
  try {
    on.write(greeting_bytes(mine));
  } catch (const Error&) {
    // The words of the other end before it left tell why.
  }
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
    // Commands to a session that is gone are gone with it.
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

void RemoteHost::Impl::write_all(Line& on) {
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

std::string RemoteHost::Impl::talk() {
  std::shared_ptr<Line> on;
  std::string why;
  bool told = false;  // the other end, or what it sent, says why
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
      told = true;
    }
    on->shut();
    disconnect();
    writer.join();
  } catch (const Error& error) {
    why = error.what();
    told = error.code() != ErrorCode::kIoError;
    if (on) on->shut();
  } catch (const std::exception& error) {
    why = error.what();
    told = true;
    if (on) on->shut();
  }
  disconnect();
  // The words of the program at the other end tell more than that the line ended.
  if (const std::string said = on ? on->why_ended() : ""; !told && !said.empty()) why = said;
  return why.empty() ? "the line ended" : plain_text(why, kMaxWhy);
}

void RemoteHost::Impl::disconnect() {
  std::lock_guard lock(mutex);
  connected = false;
  line.reset();
  changed.notify_all();
}

void RemoteHost::Impl::loop() {
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

}  // namespace triescope::app

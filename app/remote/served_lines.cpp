// A served session writes to its lines, and acts on what comes over them.
#include <thread>

#include "app/remote/client_backlog.h"
#include "app/remote/served_answers.h"
#include "app/remote/served_lines.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

// How often a running capture is looked at where no new snapshot tells of it.
constexpr auto kLookInterval = std::chrono::milliseconds(50);
constexpr std::size_t kMaxAnswers = 64;       // that wait on one line
constexpr std::uint64_t kMaxCommands = 1024;  // that wait for the decoder
// A status that only says that a command has arrived waits this long. Most commands are done by then,
// and one message tells both.
constexpr auto kArrivalWait = std::chrono::milliseconds(20);
// The bytes that are written at once. A moment's rows and status travel together: over TCP a second small
// message may wait until the first is acknowledged, for another round trip.
constexpr std::size_t kBatchBytes = 256 << 10;

// Whether a command takes a place behind others.
bool queues(AskKind kind) {
  return kind != AskKind::kPause && kind != AskKind::kStop && kind != AskKind::kCancel &&
         kind != AskKind::kEnd;
}

// Error{kInvalidArgument}: more commands wait than anybody gives by hand.
void check_room(const RunHost& host) {
  const std::uint64_t sent = host.commands_sent(), done = host.status()->commands_done;
  if (sent > done && sent - done >= kMaxCommands)
    throw Error(ErrorCode::kInvalidArgument,
                std::to_string(kMaxCommands) +
                    " commands wait for the decoder already: this one was not taken; wait, or "
                    "cancel them");
}

}  // namespace

void ServedSession::Impl::send_later(Client& client, const Told& told) {
  std::string bytes;
  try {
    bytes = bytes_of(told);
  } catch (const Error& error) {  // an answer that is too long
    bytes = bytes_of(
        Told{.kind = told.kind, .serial = told.serial, .code = error.code(), .text = error.what()});
  }
  std::lock_guard lock(mutex);
  if (client.answers.size() >= kMaxAnswers)
    throw Error(ErrorCode::kInvalidArgument, "the client asks more than it reads");
  client.answers.push_back(std::move(bytes));
  changed.notify_all();
}

void ServedSession::Impl::answer(Client& client, const Ask& ask) {
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

void ServedSession::Impl::answer_later(Client& client, const Ask& ask) {
  std::lock_guard lock(mutex);
  if (client.questions.size() >= kMaxAnswers)
    throw Error(ErrorCode::kInvalidArgument, "the client asks more than can be answered");
  client.questions.push_back(ask);
  changed.notify_all();
}

void ServedSession::Impl::answer_all(Client& client) {
  while (true) {
    Ask ask;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return client.quit || !client.questions.empty(); });
      if (client.quit) return;
      ask = std::move(client.questions.front());
      client.questions.pop_front();
    }
    answer(client, ask);
  }
}

void ServedSession::Impl::take(Client& client, const Ask& ask) {
  if (client.watch)
    return send_later(
        client, {.kind = ask.kind == AskKind::kQuestion ? ToldKind::kAnswer : ToldKind::kNotice,
                 .serial = ask.serial,
                 .text = "this line only watches the run"});
  if (ask.kind == AskKind::kQuestion) return answer_later(client, ask);
  std::string refused;
  {
    std::lock_guard lock(mutex);
    if (controller != &client || ask.serial <= taken) return;  // it came before a break already
    refused = failure_of([&] {
      if (queues(ask.kind)) check_room(*host);
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

ServedSession::Impl::Moment ServedSession::Impl::next_moment(
    Client& client, std::uint64_t seen, const std::shared_ptr<const LiveStatus>& told) {
  std::unique_lock lock(mutex);
  const auto ready = [&] { return version != seen || client.quit || !client.answers.empty(); };
  if (works_by_itself(host->status()->state))
    changed.wait_for(lock, kLookInterval, ready);
  else
    changed.wait(lock, ready);
  if (version != seen)
    changed.wait_for(lock, kArrivalWait, [&] {
      return host->status() != told || client.quit || !client.answers.empty();
    });
  return {host->status(),
          host->commands_sent(),
          controller == &client ? taken : 0,
          version,
          runs,
          std::exchange(client.answers, {}),
          client.quit};
}

void ServedSession::Impl::tell(Client& client) {
  RowPump pump(client.greeting.run, client.greeting.marks);
  std::string batch;
  const auto flush = [&] {
    client.line.write(batch);
    batch.clear();
  };
  const auto send = [&](const std::string& bytes) {
    batch += bytes;
    if (batch.size() >= kBatchBytes) flush();
  };
  StatusDiff diff(client.greeting.notice, client.watch);
  std::uint64_t seen = 0;
  std::shared_ptr<const LiveStatus> told;
  while (true) {
    Moment now = next_moment(client, seen, told);
    if (now.quit) return;
    for (const std::string& bytes : now.answers) send(bytes);
    // The rows come first: what a status speaks of is there when it arrives.
    pump.send_all(now.runs, send);
    if (now.version != seen) send(bytes_of(diff.next(*now.status, now.sent, now.taken)));
    if (!batch.empty()) flush();
    seen = now.version;
    told = now.status;
  }
}

ClientGreeting ServedSession::Impl::greet(Line& line, FrameReader& reader, bool watch) {
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
    // The one before commands no longer: what it still sends must not count as this client's.
    std::lock_guard lock(mutex);
    if (Client* const other = std::exchange(controller, nullptr)) other->line.shut();
    if (theirs.client != controller_name) taken = 0;
    controller_name = theirs.client;
    mine.taken = taken;
  }
  line.write(greeting_bytes(mine));
  if (!mine.refused.empty()) throw Error(ErrorCode::kNotSupported, mine.refused);
  return theirs;
}

void ServedSession::Impl::talk(Line& line, bool watch) {
  FrameReader reader;
  Client client{line, {}, watch};
  client.greeting = greet(line, reader, watch);
  if (!watch) {
    std::lock_guard lock(mutex);
    if (controller_name == client.greeting.client) {
      if (Client* const other = std::exchange(controller, &client)) other->line.shut();
    } else {
      line.shut();  // another client has greeted meanwhile
    }
    ++version;
  }
  std::thread writer([&] {
    failure_of([&] { tell(client); });
    line.shut();
  });
  std::thread answerer;  // who only watches asks nothing
  if (!watch)
    answerer = std::thread([&] {
      if (!failure_of([&] { answer_all(client); }).empty()) line.shut();
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
  if (answerer.joinable()) answerer.join();
  if (!why.empty()) throw Error(ErrorCode::kCorruption, why);
}

}  // namespace triescope::app

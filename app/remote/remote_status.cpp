// A remote host sends commands, and takes in the statuses and answers that come.
#include <algorithm>
#include <random>

#include "app/remote/remote_link.h"
#include "app/remote/remote_tokenizer.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

constexpr std::size_t kMaxNoticesKept = 200;

std::string random_client_name() {
  std::random_device random;
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string name;
  for (int i = 0; i < 16; ++i) name += kDigits[random() % 16];
  return name;
}

}  // namespace

RemoteHost::Impl::Impl(RemoteSetup given)
    : setup(std::move(given)),
      client(random_client_name()),
      session(setup.session),
      runs_before(setup.runs_before),
      rows(client, setup.captures) {
  now.run_serial = setup.runs_before;
}

void RemoteHost::Impl::tell(LogLevel level, const std::string& text) {
  {
    std::lock_guard lock(mutex);
    add_notice(level, text);
    publish();
  }
  setup.wake();
}

void RemoteHost::Impl::add_notice(LogLevel level, const std::string& text) {
  now.notices.push_back({++last_notice, level, text});
  if (now.notices.size() > kMaxNoticesKept) now.notices.erase(now.notices.begin());
}

std::string RemoteHost::Impl::unable() const {
  if (watch) return "this window only watches the run on " + setup.where;
  if (!connected) return "not sent: the line to " + setup.where + " is broken. Reconnect first";
  return "";
}

void RemoteHost::Impl::send(Ask ask, const std::string& capture_path) {
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

void RemoteHost::Impl::take(const Frame& frame) {
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

void RemoteHost::Impl::take_status(Told told) {
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

std::shared_ptr<const Tokenizer> RemoteHost::Impl::remote_tokenizer(TokenizerFacts facts) {
  return std::make_shared<RemoteTokenizer>(
      std::move(facts),
      [weak = weak_from_this()](const std::string& question, const nlohmann::json& about) {
        if (const auto host = weak.lock()) return host->ask(question, about, host->setup.patience);
        throw Error(ErrorCode::kIoError, "the line to the other machine was closed");
      });
}

}  // namespace triescope::app

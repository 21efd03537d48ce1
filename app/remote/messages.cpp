#include "app/remote/messages.h"

#include <algorithm>
#include <utility>

#include "app/remote/wire.h"

namespace triescope::app {

template <class Visit>
void visit_fields(Visit& visit, ClientGreeting& m) {
  visit("protocol", m.protocol), visit("version", m.version), visit("client", m.client);
  visit("session", m.session), visit("run", m.run), visit("marks", m.marks);
  visit("notice", m.notice);
}

template <class Visit>
void visit_fields(Visit& visit, ServerGreeting& m) {
  visit("protocol", m.protocol), visit("version", m.version), visit("session", m.session);
  visit("watch", m.watch), visit("taken", m.taken), visit("refused", m.refused);
  visit("gone", m.gone);
}

template <class Visit>
void visit_fields(Visit& visit, TokenizerFacts& m) {
  visit("encodes_text", m.encodes_text), visit("has_chat_template", m.has_chat_template);
  visit("vocab_size", m.vocab_size), visit("bos_token_id", m.bos_token_id);
  visit("eos_token_ids", m.eos_token_ids), visit("special_ids", m.special_ids);
  visit("description", m.description);
}

// Without the capture's path, which means something only on the other machine, and the tokenizer.
template <class Visit>
void visit_fields(Visit& visit, LiveStatus& m) {
  visit("state", m.state), visit("model", m.model), visit("progress", m.progress);
  visit("progress_done", m.progress_done), visit("progress_total", m.progress_total);
  visit("run_serial", m.run_serial), visit("next_tick", m.next_tick);
  visit("pause_reason", m.pause_reason), visit("memory_refused", m.memory_refused);
  visit("pause_node", m.pause_node), visit("pause_serial", m.pause_serial);
  visit("commands_done", m.commands_done), visit("notices", m.notices);
}

// A field that differs from its default.
template <class Visit, class Value>
void visit_changed(Visit& visit, const char* name, Value& value, const Value& plain) {
  if constexpr (std::is_same_v<Visit, FieldWriter>)
    if (value == plain) return;
  visit(name, value);
}

template <class Visit>
void visit_fields(Visit& visit, Ask& m) {
  visit("serial", m.serial), visit("kind", m.kind);
  switch (m.kind) {
    case AskKind::kQuestion:
      visit("question", m.question), visit("about", m.about);
      break;
    case AskKind::kLoad:
      visit("model", m.model), visit("device", m.device), visit("dtype", m.dtype);
      visit("kv_dtype", m.kv_dtype);
      break;
    case AskKind::kStart:
      visit("request", m.request), visit("run_at_once", m.run_at_once);
      break;
    case AskKind::kMeasure:
      visit("request", m.request), visit("level", m.level), visit("threads", m.threads);
      break;
    case AskKind::kRunTo:
      visit("tick", m.tick);
      break;
    case AskKind::kBranch:
      visit("node", m.node), visit("token", m.token);
      break;
    case AskKind::kBreakpoints:
      visit("breakpoints", m.breakpoints);
      break;
    default:
      break;
  }
}

template <class Visit>
void visit_fields(Visit& visit, Told& m) {
  visit("kind", m.kind);
  switch (m.kind) {
    case ToldKind::kStatus:
      visit("status", m.status), visit("same_model", m.same_model);
      visit("tokenizer", m.tokenizer), visit("commands_sent", m.commands_sent);
      visit("taken", m.taken);
      break;
    case ToldKind::kRun:
      visit("run", m.run), visit("asked_by", m.asked_by), visit("asked_serial", m.asked_serial);
      break;
    case ToldKind::kAnswer:
      visit("serial", m.serial), visit("answer", m.answer), visit("code", m.code);
      visit_changed(visit, "text", m.text, std::string());
      break;
    case ToldKind::kNotice:
      visit("text", m.text);
      break;
  }
}

namespace {

constexpr int kMaxThreads = 1024;
constexpr int kMaxVocabulary = 1 << 24;
constexpr std::size_t kMaxBreakpoints = 256, kMaxName = 64;
constexpr std::size_t kMaxSaid = 16 << 10;  // bytes of a text that people are shown

template <class Value>
std::string frame_of(FrameKind kind, Value& value) {
  return message_bytes(kind, json_of(std::move(value)));
}

template <class Value>
Value message_of(std::string_view payload) {
  return value_of<Value>(read_message(payload), "message");
}

void check_at_most(const char* what, std::size_t found, std::size_t most) {
  if (found > most) refuse_field(what, "at most " + std::to_string(most));
}

// Cuts a decoder's words to people to a line or two of a window or a terminal.
void make_plain(Told& told) {
  LiveStatus& status = told.status;
  for (std::string* const said :
       {&told.text, &status.progress, &status.pause_reason, &status.memory_refused})
    *said = plain_text(*said, kMaxSaid);
  for (Notice& notice : status.notices) notice.text = plain_text(notice.text, kMaxSaid);
}

void check_tokenizer(const TokenizerFacts& facts) {
  if (facts.vocab_size < 0 || facts.vocab_size > kMaxVocabulary)
    refuse_field("vocab_size", "0 to 2^24");
  check_at_most("special_ids", facts.special_ids.size(), kMaxSpecialIds);
}

// It becomes a word of the command that reaches the session again.
void check_session_name(const std::string& name) {
  check_at_most("session", name.size(), kMaxName);
  if (!name.empty() && !is_session_name(name, kMaxName))
    refuse_field("session", "a name of a-z, 0-9 and -");
}

}  // namespace

bool is_session_name(std::string_view name, std::size_t most) {
  return !name.empty() && name.size() <= most && !name.starts_with('-') &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

void refuse_field(const std::string& name, const std::string& expected) {
  throw Error(ErrorCode::kCorruption, "the other end of the line: field '" +
                                          name.substr(0, kMaxName) + "': expected " + expected +
                                          ", found something else");
}

std::string greeting_bytes(ClientGreeting greeting) {
  return std::string(kOpening) + frame_of(FrameKind::kGreeting, greeting);
}
std::string greeting_bytes(ServerGreeting greeting) {
  return std::string(kOpening) + frame_of(FrameKind::kGreeting, greeting);
}
ClientGreeting read_client_greeting(std::string_view payload) {
  auto greeting = message_of<ClientGreeting>(payload);
  check_at_most("client", greeting.client.size(), kMaxName);
  check_at_most("session", greeting.session.size(), kMaxName);
  check_at_most("marks", greeting.marks.size(), kMaxName);
  return greeting;
}
ServerGreeting read_server_greeting(std::string_view payload) {
  auto greeting = message_of<ServerGreeting>(payload);
  check_session_name(greeting.session);
  greeting.refused = plain_text(greeting.refused, kMaxSaid);
  return greeting;
}

std::string bytes_of(Ask ask) { return frame_of(FrameKind::kMessage, ask); }
std::string bytes_of(Told told) { return frame_of(FrameKind::kMessage, told); }

Ask read_ask(std::string_view payload) {
  Ask ask = message_of<Ask>(payload);
  check_at_most("breakpoints", ask.breakpoints.size(), kMaxBreakpoints);
  if (ask.threads < 0 || ask.threads > kMaxThreads)
    refuse_field("threads", "0 to " + std::to_string(kMaxThreads));
  if (!ask.request.settings.is_object()) refuse_field("settings", "named values");
  return ask;
}

Told read_told(std::string_view payload) {
  Told told = message_of<Told>(payload);
  check_at_most("notices", told.status.notices.size(), kMaxNotices);
  if (told.tokenizer) check_tokenizer(*told.tokenizer);
  make_plain(told);
  return told;
}

std::string bytes_of(const RunRows& rows) {
  std::string payload;
  for (int shift = 0; shift < 64; shift += 8)
    payload.push_back(static_cast<char>((rows.run >> shift) & 255));
  payload.push_back(rows.piece.last ? '\1' : '\0');
  return frame_bytes(FrameKind::kRows, payload += rows.piece.bytes);
}

RunRows read_rows(std::string_view payload) {
  constexpr std::size_t kRowsHead = 9;
  if (payload.size() < kRowsHead) refuse_field("rows", "a run's number before them");
  RunRows rows;
  for (std::size_t i = 0; i < 8; ++i)
    rows.run |= static_cast<std::uint64_t>(static_cast<unsigned char>(payload[i])) << (8 * i);
  rows.piece = {std::string(payload.substr(kRowsHead)), payload[kRowsHead - 1] != '\0'};
  return rows;
}

std::string protocol_problem(int there, const std::string& version_there,
                             const std::string& version_here) {
  if (there == kProtocol) return "";
  const auto named = [](const std::string& version, int protocol) {
    return "triescope " + plain_text(version, kMaxName) + " (protocol " + std::to_string(protocol) +
           ")";
  };
  return "the two programs do not understand each other: here is " +
         named(version_here, kProtocol) + ", there " + named(version_there, there) +
         ". Install the same version on both machines";
}

}  // namespace triescope::app

// What the two ends of a line say to each other (wire.h). A client sends an Ask for each thing that a
// person does; a server sends a Told. There is no verb that writes a file or starts a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/remote/field_lists.h"
#include "core/capture/row_stream.h"

namespace triescope::app {

// The first frame of a client.
struct ClientGreeting {
  int protocol = 0;
  std::string version = {};
  std::string client = {};          // a name of its own, the same after a break
  std::string session = {};         // the session that it knows; "" = whichever answers
  std::uint64_t run = 0;            // the run whose rows it has, by the server's number; 0 = none
  capture::StreamMarks marks = {};  // of that run
  std::uint64_t notice = 0;         // the last notice it has, by the server's number
};

// The first frame of a server.
struct ServerGreeting {
  int protocol = 0;
  std::string version = {};
  std::string session = {};
  bool watch = false;        // this line is a watcher's
  std::uint64_t taken = 0;   // the last Ask of this client that arrived
  std::string refused = {};  // why the line ends here; "" = it does not
  bool gone = false;         // because the session that was asked for has ended
};

enum class AskKind : std::uint8_t {
  kQuestion,  // answered with a Told of the same serial
  kLoad,
  kStart,
  kMeasure,
  kStep,
  kPhase,
  kRun,
  kRunTo,
  kTryAgain,
  kBranch,
  kBreakpoints,
  kPause,
  kStop,
  kCancel,
  kEnd,  // the session ends: its run stops, and the server forgets it
};
template <>
inline constexpr AskKind kLastCode<AskKind> = AskKind::kEnd;

struct Ask {
  std::uint64_t serial = 0;  // grows by one with each of this client's, questions apart
  AskKind kind = AskKind::kStep;
  std::string question = {};            // kQuestion: its name
  nlohmann::json about = {};            // kQuestion: what it asks about
  std::string model = {}, device = {};  // kLoad, with the next two
  DType dtype = DType::kF32;
  std::optional<DType> kv_dtype = {};
  RunRequest request = {};  // kStart, kMeasure
  bool run_at_once = false;
  capture::Level level = capture::Level::kFull;  // kMeasure, with the next
  int threads = 0;
  capture::Tick tick = 0;              // kRunTo
  std::int32_t node = -1, token = -1;  // kBranch
  std::vector<Breakpoint> breakpoints = {};
};

inline constexpr std::size_t kMaxSpecialIds = 4096;  // that are told of a tokenizer

// The facts about a tokenizer, without its vocabulary: texts are split where the model is.
struct TokenizerFacts {
  bool encodes_text = false, has_chat_template = false;
  int vocab_size = 0;
  std::int32_t bos_token_id = -1;
  std::vector<std::int32_t> eos_token_ids = {}, special_ids = {};
  std::string description = {};
  bool operator==(const TokenizerFacts&) const = default;
};

enum class ToldKind : std::uint8_t { kStatus, kRun, kAnswer, kNotice };
template <>
inline constexpr ToldKind kLastCode<ToldKind> = ToldKind::kNotice;

struct Told {
  ToldKind kind = ToldKind::kStatus;
  // kStatus: the host's, with the notices that the client lacks. A model or tokenizer that did not
  // change since the last status is left out (`same_model`).
  LiveStatus status = {};
  bool same_model = false;
  std::optional<TokenizerFacts> tokenizer = {};
  std::uint64_t commands_sent = 0;  // by whomever
  std::uint64_t taken = 0;          // the last Ask of this client that is in them
  // kRun: rows of another run follow. `asked_by`: who started it, with which Ask.
  std::uint64_t run = 0;
  std::string asked_by = {};
  std::uint64_t asked_serial = 0;
  // kAnswer, to the question of this serial: a value, or an error where `text` is not empty.
  std::uint64_t serial = 0;
  nlohmann::json answer = {};
  ErrorCode code = ErrorCode::kInvalidArgument;
  // kNotice: what became of an Ask that was refused
  std::string text = {};
};

// Whether a session may have this name, which becomes a folder's and a word of a command: 1 to `most` of
// a-z, 0-9 and -, and nothing that would be taken for an option.
bool is_session_name(std::string_view name, std::size_t most);

// As frames, and back from a payload. Errors of reading: those of read_message() and of fields.h.
std::string greeting_bytes(ClientGreeting greeting);
std::string greeting_bytes(ServerGreeting greeting);
ClientGreeting read_client_greeting(std::string_view payload);
ServerGreeting read_server_greeting(std::string_view payload);
std::string bytes_of(Ask ask);
std::string bytes_of(Told told);
Ask read_ask(std::string_view payload);
Told read_told(std::string_view payload);

// A piece of the rows of a run, by the server's number.
struct RunRows {
  std::uint64_t run = 0;
  capture::RowPiece piece;
};
std::string bytes_of(const RunRows& rows);
RunRows read_rows(std::string_view payload);

// Why two ends do not understand each other; "" = they do. `here` and `there` are versions.
std::string protocol_problem(int there, const std::string& version_there,
                             const std::string& version_here);

}  // namespace triescope::app

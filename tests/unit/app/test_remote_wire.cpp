// Frames and messages between a window and the machine that decodes for it.
#include <doctest/doctest.h>

#include "app/remote/messages.h"
#include "app/remote/wire.h"
#include "tests/support/refusal.h"

namespace triescope::app::test_remote_wire {
namespace {

using test::has;
using test::refusal;

std::string opened(const std::string& bytes) { return std::string(kOpening) + bytes; }

// The payload of the only frame.
std::string payload_of(const std::string& bytes) {
  FrameReader reader;
  reader.push(bytes.starts_with(kOpening) ? bytes : opened(bytes));
  const auto frame = reader.next();
  REQUIRE(frame);
  CHECK(!reader.next());
  return frame->payload;
}

std::string refused(const std::string& bytes) {
  return refusal(ErrorCode::kCorruption, [&] {
    FrameReader reader;
    reader.push(bytes);
    reader.next();
  });
}

TEST_CASE("remote wire: frames arrive whole however their bytes are cut") {
  const std::string bytes = opened(frame_bytes(FrameKind::kMessage, "one") +
                                   frame_bytes(FrameKind::kRows, std::string(3000, 'x')) +
                                   frame_bytes(FrameKind::kMessage, ""));
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    FrameReader reader;
    std::vector<std::size_t> sizes;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      reader.push(std::string_view(bytes).substr(at, step));
      while (const auto frame = reader.next()) sizes.push_back(frame->payload.size());
    }
    CHECK(sizes == std::vector<std::size_t>{3, 3000, 0});
  }
}

TEST_CASE("remote wire: a shell that prints something is quoted") {
  CHECK(has(refused("Welcome to box!\n"), "found: Welcome to box!"));
  CHECK(has(refused("\x1b[31m"), "found: ?[31m"));
}

TEST_CASE("remote wire: frames have limits at their edges") {
  const auto head = [](std::size_t size, int kind) {
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<char>((size >> shift) & 255));
    return bytes + static_cast<char>(kind);
  };
  for (const FrameKind kind : {FrameKind::kGreeting, FrameKind::kMessage, FrameKind::kRows}) {
    FrameReader reader;
    reader.push(opened(head(most_bytes(kind), static_cast<int>(kind))));
    CHECK(!reader.next());  // it waits for the rest
    CHECK(has(refused(opened(head(most_bytes(kind) + 1, static_cast<int>(kind)))), "at most"));
  }
  CHECK(has(refused(opened(head(1, 0))), "unknown kind 0"));
  CHECK(has(refused(opened(head(1, 4))), "unknown kind 4"));
  const std::string most(most_bytes(FrameKind::kGreeting), 'x');
  CHECK(frame_bytes(FrameKind::kGreeting, most).size() == most.size() + 5);
  CHECK(has(
      refusal(ErrorCode::kInvalidArgument, [&] { frame_bytes(FrameKind::kGreeting, most + "x"); }),
      "expected at most 65536 bytes"));
}

TEST_CASE("remote wire: a message is named fields of limited depth") {
  const auto read = [](const std::string& bytes) {
    return refusal(ErrorCode::kCorruption, [&] { read_message(bytes); });
  };
  CHECK(has(read("\x01"), "named fields"));
  CHECK(has(read(""), "expected CBOR"));
  CHECK(has(read("\xa1\x61"), "expected CBOR"));
  CHECK(has(read(std::string(100, '\x81')), "64 deep"));
  CHECK(has(read("\x9b\xff\xff\xff\xff\xff\xff\xff\xff"), "expected CBOR"));
  CHECK(has(read("\xa2\x61\x61\x01\x61\x61\x02"), "appears twice"));
}

TEST_CASE("remote wire: every kind of question comes as it was sent") {
  RunRequest request;
  request.model = "m";
  request.draft_model = "d";
  request.kv_dtype = DType::kBF16;
  request.method = "greedy";
  request.settings = {{"num_beams", 3}, {"verify", "exact"}};
  request.prompt =
      "Gr\xc3\xb6\xc3\x9f"
      "e \xff";
  request.prompt_ids = {1, 2};
  request.chat = true;
  request.turns = {{"user", "a"}, {"assistant", "b"}};
  request.seed = UINT64_MAX;
  const Ask asks[] = {
      {.serial = 1, .kind = AskKind::kStart, .request = request, .run_at_once = true},
      {.serial = 2,
       .kind = AskKind::kMeasure,
       .request = request,
       .level = capture::Level::kTree,
       .threads = 3},
      {.serial = 3,
       .kind = AskKind::kLoad,
       .model = "m",
       .device = "cuda:1",
       .dtype = DType::kF16,
       .kv_dtype = DType::kF32},
      {.serial = 4, .kind = AskKind::kRunTo, .tick = 1234567890123},
      {.serial = 5, .kind = AskKind::kBranch, .node = 7, .token = 9},
      {.serial = 6,
       .kind = AskKind::kBreakpoints,
       .breakpoints = {{BreakKind::kAcceptedBelow, 2.5, false, ""},
                       {BreakKind::kText, 0, true, "x"}}},
      {.serial = 7, .kind = AskKind::kQuestion, .question = "encode", .about = {{"text", "t"}}},
      {.serial = 8, .kind = AskKind::kEnd}};
  for (const Ask& ask : asks) {
    const Ask back = read_ask(payload_of(bytes_of(ask)));
    CHECK(bytes_of(back) == bytes_of(ask));
    CHECK(back.serial == ask.serial);
    CHECK(back.kind == ask.kind);
  }
  const Ask start = read_ask(payload_of(bytes_of(asks[0])));
  CHECK(start.request.prompt == request.prompt);
  CHECK(start.request.seed == UINT64_MAX);
  CHECK(start.request.turns == request.turns);
  CHECK(same_decoding(start.request, request));
  CHECK(read_ask(payload_of(bytes_of(asks[3]))).tick == 1234567890123);
}

TEST_CASE("remote wire: a status comes as it was sent") {
  LiveStatus status;
  status.state = LiveState::kRunning;
  status.model = ModelInfo{};
  status.model->name = "tiny";
  status.model->eos_token_ids = {2, 3};
  status.model->rope_theta = 1e4f;
  status.model->generation.settings = {{"temperature", "0.5"}};
  status.model->kv_dtype = DType::kBF16;
  status.progress = "loading";
  status.progress_total = 1.5;
  status.run_serial = 3;
  status.next_tick = 12;
  status.pause_node = 4;
  status.notices = {{7, LogLevel::kWarning, "careful"}};
  const Told told{.status = status,
                  .tokenizer = TokenizerFacts{.vocab_size = 9, .special_ids = {1}},
                  .commands_sent = 5,
                  .taken = 4};
  const Told back = read_told(payload_of(bytes_of(told)));
  CHECK(bytes_of(back) == bytes_of(told));
  CHECK(back.status.model->rope_theta == 1e4f);
  CHECK(back.status.notices.at(0).text == "careful");
  CHECK(back.tokenizer->special_ids == std::vector<std::int32_t>{1});
  const Told answer{.kind = ToldKind::kAnswer, .serial = 9, .code = ErrorCode::kCuda, .text = "no"};
  CHECK(bytes_of(read_told(payload_of(bytes_of(answer)))) == bytes_of(answer));
}

TEST_CASE("remote wire: a field of another type or out of range is named") {
  const auto read = [](nlohmann::json message) {
    return refusal(ErrorCode::kCorruption,
                   [&] { read_ask(payload_of(message_bytes(FrameKind::kMessage, message))); });
  };
  CHECK(has(read({{"kind", 99}}), "field 'kind': expected a code from 0 to 14"));
  CHECK(has(read({{"kind", -1}}), "field 'kind'"));
  CHECK(has(read({{"kind", "start"}}), "field 'kind': expected a whole number"));
  CHECK(has(read({{"serial", -1}}), "field 'serial': expected a whole number from 0"));
  CHECK(has(read({{"kind", 9}, {"node", 1ll << 31}}),
            "field 'node': expected a whole number from -2147483648 to 2147483647"));
  CHECK(has(read({{"kind", 2}, {"request", {{"prompt", 5}}}}), "field 'prompt': expected a text"));
  CHECK(has(read({{"kind", 2}, {"request", {{"settings", {1, 2}}}}}), "field 'settings'"));
  CHECK(has(read({{"kind", 2}, {"request", 1}}), "field 'request': expected named values"));
  nlohmann::json many = nlohmann::json::array();
  for (int i = 0; i < 257; ++i) many.push_back(nlohmann::json::object());
  CHECK(has(read({{"kind", 10}, {"breakpoints", many}}), "at most 256"));
}

TEST_CASE("remote wire: lists, names and numbers have limits at their edges") {
  const auto ask = [](nlohmann::json message) {
    return read_ask(payload_of(message_bytes(FrameKind::kMessage, message)));
  };
  const auto refused_ask = [&](nlohmann::json message) {
    return refusal(ErrorCode::kCorruption, [&] { ask(message); });
  };
  const auto points = [](std::size_t count) {
    nlohmann::json list = nlohmann::json::array();
    for (std::size_t i = 0; i < count; ++i) list.push_back(nlohmann::json::object());
    return nlohmann::json{{"kind", 10}, {"breakpoints", list}};
  };
  CHECK(ask(points(256)).breakpoints.size() == 256);
  CHECK(has(refused_ask(points(257)), "at most 256"));
  CHECK(ask({{"kind", 3}, {"threads", 1024}}).threads == 1024);
  CHECK(has(refused_ask({{"kind", 3}, {"threads", 1025}}), "field 'threads': expected 0 to 1024"));
  CHECK(has(refused_ask({{"kind", 3}, {"threads", -1}}), "field 'threads'"));
  CHECK(ask({{"kind", 3}, {"level", 3}}).level == capture::Level::kFull);
  CHECK(
      has(refused_ask({{"kind", 3}, {"level", 4}}), "field 'level': expected a code from 0 to 3"));

  const auto greeting = [](std::size_t name, std::size_t marks) {
    ClientGreeting mine{
        .protocol = kProtocol, .client = std::string(name, 'c'), .session = std::string(name, 's')};
    for (std::size_t i = 0; i < marks; ++i) mine.marks["table" + std::to_string(i)] = 1;
    return payload_of(greeting_bytes(mine));
  };
  CHECK(read_client_greeting(greeting(64, 64)).marks.size() == 64);
  for (const auto& [name, marks] : {std::pair{65, 0}, std::pair{0, 65}})
    CHECK(has(refusal(ErrorCode::kCorruption,
                      [&] {
                        read_client_greeting(greeting(static_cast<std::size_t>(name),
                                                      static_cast<std::size_t>(marks)));
                      }),
              "at most 64"));
  const auto zeros = [](std::size_t count) {
    return nlohmann::json{{"kind", 0}, {"about", std::vector<int>(count)}};
  };
  // The message, its two keys, a code and the list are five values.
  CHECK(ask(zeros((4u << 20) - 5)).about.size() == (4u << 20) - 5);
  CHECK(has(refused_ask(zeros((4u << 20) - 4)), "at most 4 million"));

  const auto server = [](std::size_t name) {
    return payload_of(greeting_bytes(ServerGreeting{.session = std::string(name, 's')}));
  };
  CHECK(read_server_greeting(server(64)).session.size() == 64);
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { read_server_greeting(server(65)); }),
            "field 'session': expected at most 64"));
  for (const char* name : {"-x", "a b", "a;b", "A", "../a", "a\n"})
    CHECK(has(refusal(ErrorCode::kCorruption,
                      [&] {
                        read_server_greeting(
                            payload_of(greeting_bytes(ServerGreeting{.session = name})));
                      }),
              "field 'session': expected a name"));

  const auto tokenizer = [](int vocabulary, std::size_t special) {
    const Told one{.tokenizer = TokenizerFacts{.vocab_size = vocabulary,
                                               .special_ids = std::vector<std::int32_t>(special)}};
    return read_told(payload_of(bytes_of(one))).tokenizer->special_ids.size();
  };
  CHECK(tokenizer(1 << 24, 4096) == 4096);
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { tokenizer((1 << 24) + 1, 0); }), "'vocab_size'"));
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { tokenizer(-1, 0); }), "'vocab_size'"));
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { tokenizer(0, 4097); }), "at most 4096"));

  const auto told = [](std::size_t notices) {
    Told one;
    one.status.notices.resize(notices);
    return payload_of(bytes_of(one));
  };
  CHECK(read_told(told(200)).status.notices.size() == 200);
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { read_told(told(201)); }), "at most 200"));

  // Nested lists: a message is the first level.
  const auto nested = [](std::size_t depth) {
    return std::string("\xa1\x61") + "a" + std::string(depth - 1, '\x81') + "\x01";
  };
  CHECK(read_message(nested(64)).is_object());
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { read_message(nested(65)); }), "64 deep"));
  // The longest message is read, one byte more is not sent.
  const std::string most(most_bytes(FrameKind::kMessage) - 16, 'x');
  const Told longest{.kind = ToldKind::kAnswer, .answer = most.substr(0, most.size() - 64)};
  CHECK(read_told(payload_of(bytes_of(longest))).answer == longest.answer);
  CHECK(has(refusal(ErrorCode::kInvalidArgument,
                    [&] { bytes_of(Told{.kind = ToldKind::kNotice, .text = most}); }),
            "expected at most 16777216 bytes"));
}

TEST_CASE("remote wire: what a decoder says is short, valid, and nothing that a terminal obeys") {
  CHECK(plain_text("Gr\xc3\xb6\xc3\x9f"
                   "e\n\t",
                   100) ==
        "Gr\xc3\xb6\xc3\x9f"
        "e\n\t");
  CHECK(plain_text("\x1b]0;x\x07\x7f\xc2\x9b"
                   "1m\r",
                   100) == "?]0;x???1m?");
  CHECK(plain_text("a\xff", 100) == "a\xef\xbf\xbd");
  CHECK(plain_text("abc", 3) == "abc");
  CHECK(plain_text("abcd", 3) == "abc …");
  LiveStatus status;
  status.notices = {{1, LogLevel::kError, "\x1b[2J"}};
  status.progress = std::string(1 << 20, 'x');
  status.pause_reason = "\x1b", status.memory_refused = "\x1b";
  const Told told = read_told(payload_of(bytes_of(Told{.status = status})));
  CHECK(told.status.notices.at(0).text == "?[2J");
  CHECK(told.status.progress.size() < 20'000);
  CHECK(told.status.pause_reason == "?");
  CHECK(told.status.memory_refused == "?");
  const Told answer{.kind = ToldKind::kAnswer, .text = "\x1b"};
  CHECK(read_told(payload_of(bytes_of(answer))).text == "?");
  const ServerGreeting greeting{.refused = "\x1b"};
  CHECK(read_server_greeting(payload_of(greeting_bytes(greeting))).refused == "?");
}

TEST_CASE("remote wire: rows keep their run and their end") {
  const RunRows rows = read_rows(payload_of(bytes_of(RunRows{300, {"abc", true}})));
  CHECK(rows.run == 300);
  CHECK(rows.piece.bytes == "abc");
  CHECK(rows.piece.last);
  CHECK(refusal(ErrorCode::kCorruption, [] { read_rows("12345678"); }) != "not refused");
}

TEST_CASE("remote wire: other protocols are named with what to do") {
  CHECK(protocol_problem(kProtocol, "1", "2").empty());
  const std::string problem = protocol_problem(9, "7.0", "0.1.0");
  CHECK(has(problem, "triescope 0.1.0 (protocol 1)"));
  CHECK(has(problem, "triescope 7.0 (protocol 9)"));
  CHECK(has(problem, "Install the same version"));
}

}  // namespace
}  // namespace triescope::app::test_remote_wire

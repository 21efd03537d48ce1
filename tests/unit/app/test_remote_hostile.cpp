// Ends that do not keep to the protocol: what comes is refused, and whoever comes after finds the
// other end as it was.
#include <doctest/doctest.h>

#include "app/remote/messages.h"
#include "core/base/rng.h"
#include "core/capture/capture.h"
#include "tests/support/line_pair.h"
#include "tests/support/refusal.h"
#include "tests/unit/app/remote_rig.h"

namespace triescope::app::test_remote_hostile {
namespace {

using test::has;
using test::refusal;

std::string client_greeting(const std::string& client = "odd") {
  return greeting_bytes(ClientGreeting{.protocol = kProtocol, .version = "1", .client = client});
}
std::string server_greeting() {
  return greeting_bytes(
      ServerGreeting{.protocol = kProtocol, .version = "1", .session = "s", .refused = {}});
}

// The bytes with a few of them changed, cut off, doubled or made up.
std::string spoiled(std::string bytes, Rng& rng) {
  const auto below = [&](std::size_t limit) {
    return static_cast<std::size_t>(rng.uniform() * static_cast<double>(limit));
  };
  for (std::size_t changes = 1 + below(3); changes > 0 && !bytes.empty(); --changes) {
    const std::size_t at = below(bytes.size()),
                      length = 1 + below(std::min<std::size_t>(64, bytes.size() - at));
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, length));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
    }
  }
  return bytes;
}

// A tiny run over the rig's line, from beginning to end.
void check_usable(RemoteRig& rig, const std::string& name) {
  RemoteHost& host = rig.connect();
  host.cancel();
  host.stop();
  host.set_breakpoints({});
  settle(host);
  const std::uint64_t before = host.status()->run_serial;
  host.start(tiny_request(rig.model), rig.here(name), /*run_at_once=*/true);
  REQUIRE(wait_until([&] { return host.status()->run_serial > before; }));
  settle(host);
  CHECK(host.status()->state == LiveState::kDone);
  CHECK(host.status()->capture_path == rig.here(name));
  CHECK(capture::Capture::open(rig.here(name))->status() == capture::RunStatus::kDone);
}

TEST_CASE("remote hostile: no spelling of a path leads out of the lent folders") {
  RemoteRig rig;
  const std::filesystem::path inside = rig.folder.path() / "models";
  std::filesystem::copy_file(rig.model, rig.folder.path() / "outside.gguf");
  std::filesystem::create_directory(inside / "sub");
  std::filesystem::create_symlink("../../outside.gguf", inside / "sub/deep.gguf");
  std::filesystem::create_symlink("loop.gguf", inside / "sub/loop.gguf");
  const AllowedPaths paths({inside});
  CHECK(paths.model(rig.model) == rig.model);
  CHECK(paths.allows(inside.string() + "/sub/../tiny.gguf"));
  const std::string nul(1, '\0');
  for (const std::string& path :
       {inside.string() + "/../outside.gguf", inside.string() + "/sub/deep.gguf",
        inside.string() + "/sub/loop.gguf", inside.string() + "2/tiny.gguf", rig.model + nul,
        rig.model + nul + "/../../outside.gguf", nul + "/etc/passwd",
        "/proc/self/root" + (rig.folder.path() / "outside.gguf").string(), std::string("/"),
        std::string("./"), inside.string() + "/" + std::string(5000, 'x'), std::string("/dev/zero"),
        std::string("../outside.gguf"), std::string("~/models/tiny.gguf")}) {
    INFO(path);
    CHECK_FALSE(paths.allows(path));
    CHECK(has(refusal(ErrorCode::kInvalidArgument, [&] { paths.model(path); }),
              "is not a file in the folders"));
    CHECK(has(refusal(ErrorCode::kInvalidArgument, [&] { paths.draft(path); }),
              "is not a file in the folders"));
    RunRequest request = tiny_request(rig.model);
    request.method = "rest";
    request.settings = {{"datastore", path}};
    CHECK(has(refusal(ErrorCode::kInvalidArgument, [&] { paths.request(request); }),
              "is not a file in the folders"));
  }
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] { paths.model(rig.model + nul); }).size() < 5000);
}

TEST_CASE("remote hostile: commands in any order, with any values, end nothing") {
  RemoteRig rig;
  Rng rng(11);
  const auto any = [&](auto... values) {
    const std::vector<std::int64_t> list = {static_cast<std::int64_t>(values)...};
    return list[static_cast<std::size_t>(rng.uniform() * static_cast<double>(list.size()))];
  };
  const auto line = rig.dial(/*watch=*/false);
  std::thread drain([&] {
    while (!line->read().empty()) {
    }
  });
  std::string bytes = client_greeting();
  for (std::uint64_t serial = 1; serial <= 600; ++serial) {
    Ask ask{.serial = serial,
            .kind = static_cast<AskKind>(any(0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13))};
    ask.question = std::vector<std::string>{"",     "encode",   "pieces", "memory",
                                            "chat", "report x", "count"}[static_cast<std::size_t>(
        any(0, 1, 2, 3, 4, 5, 6))];
    ask.about =
        any(0, 1) ? nlohmann::json{{"ids", {-1, 99999}}, {"text", "\xff"}} : nlohmann::json();
    ask.model = any(0, 1) ? rig.model : "/etc/passwd";
    ask.device = any(0, 1) ? "cpu" : "cuda:-1";
    ask.dtype = static_cast<DType>(any(0, 1, 2));
    ask.request = tiny_request(any(0, 1, 1) ? rig.model : "");
    ask.request.method = any(0, 1, 1, 1) ? "beam" : "no such method";
    if (any(0, 0, 0, 1)) ask.request.settings = {{"num_beams", any(-1, 0, INT64_MAX)}};
    if (any(0, 0, 0, 1))
      ask.request.prompt_ids = {static_cast<std::int32_t>(any(-1, 48, INT32_MIN))};
    ask.request.max_new_tokens = static_cast<int>(any(16, 16, 0, -5, INT32_MIN));
    ask.run_at_once = any(0, 1) != 0;
    ask.threads = static_cast<int>(any(0, 1, 2));
    ask.tick = any(0, 3, -1, INT64_MIN, INT64_MAX);
    ask.node = static_cast<std::int32_t>(any(0, 1, -1, INT32_MAX, INT32_MIN));
    ask.token = static_cast<std::int32_t>(any(5, 47, 48, -1, INT32_MAX));
    ask.breakpoints = {{static_cast<BreakKind>(any(0, 4, 8, 9, 10, 11)),
                        static_cast<double>(any(0, -1, INT64_MAX)), true, any(0, 1) ? "(" : "a"}};
    bytes += bytes_of(std::move(ask));
  }
  line->write(bytes);
  const auto answered = rig.make_host(/*watch=*/true);
  answered->wait_connected();
  REQUIRE(wait_until([&] { return !answered->status()->notices.empty(); }));
  rig.cut();
  line->shut();
  drain.join();
  check_usable(rig, "after.tscap");
}

TEST_CASE(
    "remote hostile: spoiled bytes of a client end its line, and the decoder serves the next one") {
  RemoteRig rig;
  std::string bytes = client_greeting();
  bytes += bytes_of(Ask{.serial = 1, .kind = AskKind::kLoad, .model = rig.model, .device = "cpu"});
  bytes += bytes_of(Ask{.serial = 2, .kind = AskKind::kStart, .request = tiny_request(rig.model)});
  bytes += bytes_of(Ask{.serial = 3, .kind = AskKind::kStep});
  bytes +=
      bytes_of(Ask{.serial = 4, .kind = AskKind::kQuestion, .question = "devices", .about = {}});
  bytes += bytes_of(Ask{.serial = 5,
                        .kind = AskKind::kBreakpoints,
                        .breakpoints = {{BreakKind::kStep, 3, true, ""}}});
  bytes += bytes_of(Ask{.serial = 6, .kind = AskKind::kBranch, .node = 0, .token = 5});
  Rng rng(5);
  for (int round = 0; round < 150; ++round) {
    const auto line = rig.dial(/*watch=*/round % 3 == 0);
    try {
      line->write(spoiled(bytes, rng));
    } catch (const Error&) {
      // It was ended in the middle.
    }
    rig.cut();
  }
  check_usable(rig, "after.tscap");
}

TEST_CASE(
    "remote hostile: spoiled bytes of a decoder end the line here, and its capture is checked") {
  RemoteRig rig;
  // What a decoder says over a whole run.
  std::string bytes;
  {
    const auto line = rig.dial(/*watch=*/false);
    line->write(client_greeting() + bytes_of(Ask{.serial = 1,
                                                 .kind = AskKind::kStart,
                                                 .request = tiny_request(rig.model),
                                                 .run_at_once = true}));
    FrameReader reader;
    for (bool done = false; !done;) {
      const std::string some = line->read();
      REQUIRE(!some.empty());
      bytes += some;
      reader.push(some);
      while (const auto frame = reader.next())
        done |= frame->kind == FrameKind::kMessage &&
                read_told(frame->payload).status.state == LiveState::kDone;
    }
  }
  Rng rng(8);
  int opened = 0, refused = 0;
  for (int round = 0; round < 150; ++round) {
    const std::filesystem::path folder = rig.folder.path() / ("here" + std::to_string(round));
    {
      auto [mine, theirs] = test::line_pair();
      RemoteHost host({.where = "box",
                       .dial = [&](const std::string&) -> std::unique_ptr<Line> {
                         if (!mine) throw Error(ErrorCode::kIoError, "nobody answers");
                         return std::move(mine);
                       },
                       .wake = [] {},
                       .captures = folder,
                       .version = "1"});
      try {
        theirs->write(round == 0 ? bytes : spoiled(bytes, rng));
      } catch (const Error&) {
        // The host has ended the line.
      }
      theirs.reset();
      REQUIRE(wait_until([&] { return !host.line().lost.empty(); }));
      host.reconnect();
      REQUIRE(wait_until([&] { return has(host.line().lost, "nobody answers"); }));
    }
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
      if (file.path().extension() != ".tscap") continue;
      try {
        const auto capture = capture::Capture::open(file.path().string());
        capture->poll();
        ++opened;
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  CHECK(opened > 20);
  MESSAGE("captures that opened: " << opened << ", that were refused: " << refused);
}

TEST_CASE("remote hostile: a decoder that does not keep the order of things is left") {
  RemoteRig rig;
  const auto why_left = [&](const std::string& bytes) {
    auto [mine, theirs] = test::line_pair();
    const auto host = std::make_unique<RemoteHost>(
        RemoteSetup{.where = "box",
                    .dial = [&](const std::string&) { return std::move(mine); },
                    .wake = [] {},
                    .captures = rig.folder.path() / "here",
                    .version = "1"});
    theirs->write(bytes);
    REQUIRE(wait_until([&] { return !host->line().lost.empty(); }));
    return host->line().lost;
  };
  const auto run = [](std::uint64_t number) {
    return bytes_of(Told{.kind = ToldKind::kRun, .run = number});
  };
  CHECK(has(why_left(server_greeting() + run(2) + run(1)), "run 1 after run 2"));
  CHECK(has(why_left(server_greeting() + run(0)), "run 0 after run 0"));
  CHECK(has(why_left(server_greeting() + bytes_of(RunRows{1, {"x", true}})),
            "rows of run 1, expected run 0"));
  CHECK(has(why_left(server_greeting() + run(1) + bytes_of(RunRows{2, {"x", true}})),
            "rows of run 2, expected run 1"));
  CHECK(has(why_left(server_greeting() + server_greeting().substr(kOpening.size())),
            "rows or a message"));
  CHECK(has(why_left(run(1)), "expected triescope's greeting"));
  CHECK(has(why_left(std::string(kOpening) + run(1)), "a greeting first"));
}

TEST_CASE("remote hostile: a question asks for a limited number of tokens") {
  RemoteRig rig;
  write_tiny_model(rig.folder.path() / "models", "words", {.tokenizer = true});
  RemoteHost& host = rig.connect();
  host.load((rig.folder.path() / "models/words.gguf").string(), "cpu", DType::kF32, {});
  settle(host);
  const auto tokenizer = host.status()->tokenizer;
  REQUIRE(tokenizer);
  std::vector<std::int32_t> ids(1 << 20, 0);
  CHECK(tokenizer->decode(ids, false).size() == ids.size());
  ids.push_back(0);
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { tokenizer->decode(ids, false); }),
            "field 'ids': expected at most a million"));
  CHECK(host.connected());
}

}  // namespace
}  // namespace triescope::app::test_remote_hostile

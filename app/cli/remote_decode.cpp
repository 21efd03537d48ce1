#include "app/cli/remote_decode.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <iostream>
#include <mutex>

#include "app/cli/remote_options.h"
#include "app/cli/terminal.h"
#include "app/session/folders.h"
#include "app/session/result_json.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/capture/capture.h"
#include "core/methods/registry.h"
#include "viz/query/leaves.h"

namespace triescope::app {
namespace {

constexpr int kReconnects = 5;

// Wakes the waiting thread when the host has news.
class Bell {
 public:
  void ring() {
    std::lock_guard lock(mutex_);
    rung_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(1), [&] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

// Prints what the run says, and keeps its first error.
class Notices {
 public:
  explicit Notices(bool quiet) : quiet_(quiet) {}
  void take(const LiveStatus& status) {
    for (const Notice& notice : status.notices) {
      if (notice.serial <= seen_) continue;
      seen_ = notice.serial;
      if (notice.level == LogLevel::kError && error.empty()) error = notice.text;
      if (quiet_ || notice.level == LogLevel::kError) continue;
      clear_progress();
      std::fprintf(stderr, "%s%s\n", notice.level == LogLevel::kWarning ? "warning: " : "",
                   notice.text.c_str());
    }
  }
  std::string error;

 private:
  bool quiet_;
  std::uint64_t seen_ = 0;
};

// Prints a text as it grows. The other machine decodes the whole text each time, in one question for all
// tokens that came meanwhile, so a slow line does not slow the run.
class TextStream {
 public:
  void print(const capture::Capture& capture, const Tokenizer& tokenizer) {
    const auto nodes = capture.nodes();
    std::vector<std::int32_t> tokens;
    for (const std::int32_t node : viz::text_at(capture, capture.end_tick()))
      tokens.push_back(nodes[static_cast<std::size_t>(node)].token);
    if (tokens.size() <= tokens_) return;
    std::string text;
    try {
      text = tokenizer.decode(tokens, /*skip_special_tokens=*/true);
    } catch (const Error&) {
      return;  // the line broke: the text is printed once it stands again
    }
    // Half a character is printed once it is whole.
    constexpr std::string_view kBroken = "\xEF\xBF\xBD";
    while (text.ends_with(kBroken)) text.resize(text.size() - kBroken.size());
    tokens_ = tokens.size();
    grow_to(text);
  }
  // Prints what is missing of the whole text.
  void finish(const std::string& text) {
    grow_to(text);
    std::cout << "\n";
  }

 private:
  void grow_to(const std::string& text) {
    if (!text.starts_with(printed_)) return;  // what was printed cannot be taken back
    std::cout << std::string_view(text).substr(printed_.size());
    flush_standard_output();
    printed_ = text;
  }
  std::size_t tokens_ = 0;
  std::string printed_;
};

struct Sequence {
  capture::SequenceRow row;
  std::string text;
};

// The returned texts, best first, as the capture has them. A token that ended a text is not printed.
std::vector<Sequence> sequences_of(const capture::Capture& capture, const Tokenizer& tokenizer) {
  std::vector<Sequence> found;
  for (const capture::SequenceRow& row : capture.sequences())
    if (row.rank >= 0)
      found.push_back({row, tokenizer.decode(row.tokens, /*skip_special_tokens=*/true)});
  std::ranges::stable_sort(found, {}, [](const Sequence& one) { return one.row.rank; });
  return found;
}

void print_json(const RemoteDecode& options, const capture::Capture& capture,
                const std::vector<Sequence>& sequences) {
  nlohmann::json list = nlohmann::json::array();
  std::int64_t emitted = 0;
  for (const Sequence& one : sequences)
    list.push_back({{"tokens", one.row.tokens},
                    {"text", one.text},
                    {"score", number_or_null(one.row.score)},
                    {"finish", one.row.finish}});
  for (const capture::StepRow& step : capture.steps()) emitted += step.emitted;
  const capture::RunInfo& run = capture.run();
  std::cout << dump_json(nlohmann::json{{"remote", where_text(options.place)},
                                        {"model", json_or_null(run.model_json)},
                                        {"method", run.method},
                                        {"settings", json_or_null(run.settings_json)},
                                        {"seed", run.seed},
                                        {"max_new_tokens", run.max_new_tokens},
                                        {"prompt_tokens", run.prompt_tokens},
                                        {"sequences", list},
                                        {"steps", capture.counts().steps},
                                        {"emitted_tokens", emitted}},
                         2)
            << "\n";
}

}  // namespace

int decode_remote(const RemoteDecode& options) {
  const ScratchFolder scratch("remote");
  const std::string path = options.capture.empty() ? scratch.file("run.tscap") : options.capture;
  Bell bell;
  InterruptGuard interrupt([&] { bell.ring(); });
  const auto host = connect_to(options.place, [&] { bell.ring(); });
  const ProgressSink progress = terminal_progress(options.quiet);
  Notices notices(options.quiet);
  const std::string session = host->session();
  host->measure(options.request, path, options.measure);  // nothing is drawn
  // A beam's best text may change until the end; any other text can be printed as it comes.
  const bool stream = !options.as_json && options.measure.level >= capture::Level::kTree &&
                      find_method(options.request.method).kind != capture::RunKind::kBeams;
  TextStream text;
  std::unique_ptr<capture::Capture> capture;
  const auto print_new = [&](const LiveStatus& status) {
    if (!stream || !status.tokenizer || status.run_serial == 0) return;
    if (!capture) capture = capture::Capture::open(path);
    capture->poll();
    text.print(*capture, *status.tokenizer);
  };
  int reconnects = 0;
  bool stopped = false;
  while (true) {
    const auto status = host->status();
    notices.take(*status);
    if (progress && !status->progress.empty())
      progress(status->progress, status->progress_done, status->progress_total);
    if (const std::string lost = host->line().lost; !lost.empty()) {
      if (reconnects++ == kReconnects) throw Error(ErrorCode::kIoError, lost);
      host->reconnect();
    }
    if (host->session() != session)  // it was killed, and a new one knows nothing of the run
      throw Error(ErrorCode::kIoError,
                  "the decoder on " + where_text(options.place) +
                      " ended in the middle of the run" +
                      (options.capture.empty() ? "" : "; what had arrived is in " + path));
    if (interrupt.interrupted() && !std::exchange(stopped, true)) host->stop();
    const bool at_rest = status->commands_done >= host->commands_sent() &&
                         status->state != LiveState::kRunning &&
                         status->state != LiveState::kLoading;
    if (status->state == LiveState::kDone && at_rest) break;
    if (host->connected()) print_new(*status);
    if (at_rest && (!notices.error.empty() || !status->memory_refused.empty()))
      throw Error(ErrorCode::kInvalidArgument, notices.error.empty()
                                                   ? "out of memory: " + status->memory_refused
                                                   : notices.error);
    bell.wait();
  }
  if (!options.quiet) clear_progress();
  const auto status = host->status();
  if (!status->tokenizer) throw Error(ErrorCode::kIoError, "the other machine named no tokenizer");
  capture = capture::Capture::open(path);
  const std::vector<Sequence> sequences = sequences_of(*capture, *status->tokenizer);
  if (stream) {
    text.finish(sequences.empty() ? "" : sequences.front().text);
  } else if (options.as_json) {
    print_json(options, *capture, sequences);
  } else {
    for (std::size_t i = 0; i < sequences.size(); ++i)
      std::cout << (sequences.size() > 1 ? "[" + std::to_string(i + 1) + "] " : "")
                << sequences[i].text << "\n";
  }
  if (!options.quiet && !options.capture.empty())
    std::fprintf(stderr, "recorded in %s\n", path.c_str());
  return interrupt.interrupted() ? 130 : 0;
}

}  // namespace triescope::app

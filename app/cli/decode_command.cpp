// `triescope decode`: one run, headless.
#include <cstdio>
#include <iostream>
#include <memory>
#include <mutex>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/remote_decode.h"
#include "app/cli/remote_options.h"
#include "app/cli/terminal.h"
#include "app/session/catalog.h"
#include "app/session/loaded_model.h"
#include "app/session/result_json.h"
#include "app/session/run.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/capture/code_names.h"
#include "core/methods/registry.h"

namespace triescope::app {
namespace {

using nlohmann::json;

struct DecodeOptions : RunOptions {
  std::string capture;
  std::string level = "full";
  int threads = 0;
  bool as_json = false, print_prompt = false;
  RemoteOptions remote;
};

capture::Level level_of(const DecodeOptions& options) {
  return *capture::code_from_name<capture::Level>(options.level);
}

// Refuses a draft model or head that the method would not use, instead of ignoring it.
void check_draft_option(const RunRequest& request) {
  if (!request.draft_device.empty() && !find_method(request.method).takes_draft_model())
    throw Error(ErrorCode::kInvalidArgument,
                "--draft-device: method " + request.method +
                    " has no draft model (a draft head runs on its model's device); expected "
                    "--method draft_model, or no --draft-device");
  const auto takes = [](const MethodInfo& method) {
    return method.takes_draft_model() || method.takes_draft_head();
  };
  if (request.draft_model.empty() || takes(find_method(request.method))) return;
  std::string names;
  for (const MethodInfo& method : methods())
    if (takes(method)) names += (names.empty() ? "" : ", ") + method.name;
  throw Error(ErrorCode::kInvalidArgument, "--draft: method " + request.method +
                                               " does not take a draft model or head; "
                                               "expected --method " +
                                               names + ", or no --draft");
}

// Ctrl+C may come while the model loads, before there is a session.
class Stopper {
 public:
  void stop() {
    std::lock_guard lock(mutex_);
    source_.request_stop();
    if (session_) session_->request_stop();
  }
  void watch(Session* session) {
    std::lock_guard lock(mutex_);
    session_ = session;
    if (session_ && source_.stop_requested()) session_->request_stop();
  }
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::mutex mutex_;
  std::stop_source source_;
  Session* session_ = nullptr;
};

// Prints on stderr what the user should know before a run begins.
class DecodeWatcher final : public RunWatcher {
 public:
  DecodeWatcher(const RunRequest& request, std::stop_token stop, bool quiet)
      : request_(request), stop_(std::move(stop)), quiet_(quiet) {}

  ProgressSink progress() override { return terminal_progress(quiet_); }
  std::stop_token stop() override { return stop_; }
  void target_loaded(const Model& target) override {
    tell_of(target.info());
    if (const std::string note =
            model_settings_note(request_, target.info(), "--model-settings takes what it asks for");
        !note.empty())
      tell("note: " + note);
  }
  void draft_loaded(const Model& draft) override { tell_of(draft.info()); }
  void head_loaded(const DraftHead& head) override {
    tell("draft head: " + head.description);
    for (const std::string& text : head.notes) warn(text);
  }
  void warn(const std::string& text) override { tell("warning: " + text); }

 private:
  void tell_of(const ModelInfo& info) {
    for (const std::string& text : info.notes) tell("note: " + text);
    if (!info.warning.empty()) warn(info.warning);
  }
  void tell(const std::string& line) {
    if (quiet_) return;
    clear_progress();
    std::fprintf(stderr, "%s\n", line.c_str());
  }

  const RunRequest& request_;
  std::stop_token stop_;
  bool quiet_;
};

// The text that the model would read, and its tokens; only the tokenizer is opened.
void print_prompt(const RunRequest& request, bool as_json) {
  const auto tokenizer = open_tokenizer(resolve_model(request.model));
  const RunConfig config = make_run_config(request, *tokenizer);
  if (!as_json) {
    std::cout << config.prompt_text;
    if (!config.prompt_text.ends_with('\n')) std::cout << '\n';
    return;
  }
  const nlohmann::json prompt = {{"text", config.prompt_text}, {"tokens", config.prompt_tokens}};
  std::cout << dump_json(prompt, 2) << '\n';
}

// Models and settings are the other machine's, so what is refused without a model is refused there.
int run_decode_remote(const DecodeOptions& options, bool quiet) {
  const auto refuse = [](bool given, const char* option) {
    if (given)
      throw Error(ErrorCode::kInvalidArgument,
                  std::string(option) + ": not with --remote; expected it to be left out");
  };
  refuse(options.model_settings, "--model-settings");
  refuse(options.print_prompt, "--print-prompt");
  return decode_remote({.place = options.remote.place(),
                        .request = options.resolve(),
                        .capture = options.capture,
                        .measure = {.level = level_of(options), .threads = options.threads},
                        .as_json = options.as_json,
                        .quiet = quiet});
}

int run_decode(const DecodeOptions& options, bool quiet) {
  if (options.remote.place().named()) return run_decode_remote(options, quiet);
  const RunRequest request = options.resolve();
  if (options.print_prompt) {
    print_prompt(request, options.as_json);
    return 0;
  }
  check_request(request);
  check_draft_option(request);
  const MethodInfo& method = find_method(request.method);

  Stopper stopper;
  InterruptGuard interrupt([&] { stopper.stop(); });
  DecodeWatcher watcher(request, stopper.token(), quiet);
  RunModels models;
  Run run(request, models,
          {.capture = options.capture,
           .writer = {.level = level_of(options)},
           .threads = options.threads,
           .command = command_line()},
          watcher);
  Session& session = run.session();
  const Tokenizer& tokenizer = *models.target.tokenizer;
  stopper.watch(&session);

  // A beam's best text may change until the end; any other text can be printed as it comes.
  const bool stream = !options.as_json && method.kind != capture::RunKind::kBeams;
  StreamDecoder decoder(tokenizer, /*skip_special_tokens=*/true);
  std::size_t printed = 0;
  std::string failure;
  ErrorCode failure_code = ErrorCode::kCancelled;
  try {
    while (!session.done()) {
      session.step();
      if (!stream) continue;
      const RunResult now = session.result();
      if (now.sequences.empty()) continue;
      const auto& tokens = now.sequences.front().tokens;
      for (; printed < tokens.size(); ++printed) std::cout << decoder.push(tokens[printed]);
      flush_standard_output();  // decoding ends here if nobody reads on
    }
  } catch (const Error& error) {
    // The tokens that were decoded are still worth printing.
    failure = error.what();
    failure_code = error.code();
  }
  stopper.watch(nullptr);
  if (!quiet) clear_progress();

  const RunResult result = run.result();
  if (options.as_json) {
    std::cout << dump_json(result_json(result, models.target.model->info(), session.context(),
                                       request.method),
                           2)
              << "\n";
  } else if (stream) {
    std::cout << decoder.finish() << "\n";
  } else {
    for (std::size_t i = 0; i < result.sequences.size(); ++i) {
      const ReturnedSequence& sequence = result.sequences[i];
      if (result.sequences.size() > 1) std::cout << "[" << i + 1 << "] ";
      std::cout << sequence.text << "\n";
    }
  }
  if (!quiet && !options.as_json) {
    std::fprintf(stderr,
                 "%lld tokens, %lld forwards, %.2f tokens per forward; load %.0f ms, prefill %.0f "
                 "ms, decode %.0f ms",
                 static_cast<long long>(result.emitted_tokens),
                 static_cast<long long>(result.target_forwards), result.tokens_per_forward,
                 result.time.load_ms, result.time.prefill_ms, result.time.decode_ms);
    if (const std::optional<double> rate = result.tokens_per_second())
      std::fprintf(stderr, " (%.1f tokens/s after prefill)", *rate);
    if (const std::optional<double> gained = result.levels_gained())
      std::fprintf(stderr, "; %.2f levels gained a step", *gained);
    std::fputc('\n', stderr);
    if (!result.lossless)
      std::fprintf(stderr, "note: verify=%s is lossy: the text may differ from plain decoding's\n",
                   session.context().settings.text("verify").c_str());
    if (!options.capture.empty()) std::fprintf(stderr, "recorded in %s\n", options.capture.c_str());
  }
  if (!quiet && !result.warning.empty())
    std::fprintf(stderr, "warning: %s\n", result.warning.c_str());
  if (interrupt.interrupted()) return 130;
  if (!failure.empty()) throw Error(failure_code, failure);
  return 0;
}

}  // namespace

void add_decode_command(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<DecodeOptions>();
  CLI::App* command = root.add_subcommand("decode", "one run, headless");
  options->add_to(*command);
  options->remote.add_to(*command);
  command->add_option("--capture", options->capture, "record the run into this .tscap file")
      ->check(file_name());
  command->add_option("--capture-level", options->level, "what to record")
      ->check(CLI::IsMember({"steps", "tree", "full"}))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "CPU threads; 0 = all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_flag("--json", options->as_json, "print the result as JSON at the end");
  command->add_flag("--print-prompt", options->print_prompt,
                    "print the text that the model would read, chat template included, and end");
  command->callback([options, &line] {
    line.action = [options, &line] { return run_decode(*options, line.quiet); };
  });
}

}  // namespace triescope::app

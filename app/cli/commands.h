// The subcommands of the command line, each in a file. Each function adds its subcommand to `root`;
// if the user chose it, it leaves in `action` what main must run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/session/request.h"
#include "core/capture/capture.h"

namespace triescope::viz {
struct ExportOptions;
}

namespace triescope::app {

struct CommandLine {
  bool quiet = false;
  std::function<int()> action;  // returns the exit code; errors are thrown
};

void add_decode_command(CLI::App& root, CommandLine& line);
void add_methods_command(CLI::App& root, CommandLine& line);
void add_info_command(CLI::App& root, CommandLine& line);
void add_tokenize_command(CLI::App& root, CommandLine& line);
void add_export_command(CLI::App& root, CommandLine& line);
void add_acceptance_command(CLI::App& root, CommandLine& line);
void add_find_command(CLI::App& root, CommandLine& line);
void add_rejudge_command(CLI::App& root, CommandLine& line);
void add_cost_command(CLI::App& root, CommandLine& line);
void add_doctor_command(CLI::App& root, CommandLine& line);
void add_explain_command(CLI::App& root, CommandLine& line);
void add_lesson_command(CLI::App& root, CommandLine& line);
void add_study_command(CLI::App& root, CommandLine& line);
void add_bench_command(CLI::App& root, CommandLine& line);
void add_capture_command(CLI::App& root, CommandLine& line);
void add_datastore_command(CLI::App& root, CommandLine& line);
void add_check_command(CLI::App& root, CommandLine& line);
void add_serve_command(CLI::App& root, CommandLine& line);
// The window is the program without a subcommand.
void add_window_options(CLI::App& root, CommandLine& line);
// Refuses a word in the place of a subcommand or a file to open that is neither. Errors: kNotFound
// for a path (it has a '/', or ends like a capture or a model); kInvalidArgument for any other
// word: lists the subcommands, and the one most likely meant.
void check_first_word(const CLI::App& root, const std::string& word);

// The options that decode and the window share: --model, --method, --prompt…, --system…,
// --messages, --chat-template, --tools, --set, --seed, --device, --dtype, --kv-dtype, --draft, --draft-device.
struct RunOptions {
  RunRequest request;
  std::string prompt_file, prompt_ids, messages_file, system_file, kv_dtype;
  std::string template_file, tools_file;
  std::string dtype;                  // "": default_dtype() of the device
  std::vector<std::string> settings;  // name=value
  bool model_settings = false;        // begin with the settings that come with the model
  void add_to(CLI::App& command);
  // Reads the files of prompt, system prompt and conversation, parses --set, --prompt-ids and the
  // dtypes, and takes the model's settings if asked to. Errors: kInvalidArgument, kNotFound, those
  // of take_model_settings and inspect_model.
  RunRequest resolve() const;
};

// "3:17" -> steps 3 to 17 of the capture, both included. Error{kInvalidArgument}.
std::pair<std::int32_t, std::int32_t> parse_steps(const std::string& text,
                                                  const capture::Capture& capture);
// "1280x720" -> width, height in px, each from 64 to 32768. Error{kInvalidArgument}.
std::pair<float, float> parse_size(const std::string& text);
// How a picture is written into `path`. Where `format` is "", the path's ending names it; where `size` is "", the
// picture has its own. Error{kInvalidArgument}.
viz::ExportOptions picture_options(const std::string& path, const std::string& size,
                                   const std::string& format = "");
// Checks an option that takes a file's name: "" is none.
CLI::Validator file_name();
// Checks an option that takes a number with a fraction: nan and inf are none.
CLI::Validator number_within(double least, double most);
// model_json() with what `info` adds: memory, tokenizer, settings.
nlohmann::json model_details(const ModelInfo& info);

}  // namespace triescope::app

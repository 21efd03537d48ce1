// `triescope serve`: this machine decodes for windows on others.
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "app/cli/commands.h"
#include "app/cli/reports.h"
#include "app/remote/session_daemon.h"
#include "app/remote/session_folder.h"
#include "app/session/catalog.h"
#include "app/session/session_thread.h"
#include "core/base/error.h"
#include "core/base/json_io.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;

struct ServeOptions {
  bool stdio = false, list = false, as_json = false, stop_when_alone = false;
  std::string attach, watch, session;
  std::vector<std::string> models;
  int keep_minutes = 30, ready = -1;
};

// The folders that clients may name files in.
std::vector<fs::path> lent_folders(const ServeOptions& options) {
  if (options.models.empty()) {
    std::vector<fs::path> folders = model_folders();
    for (fs::path& folder : draft_folders()) folders.push_back(std::move(folder));
    return folders;
  }
  std::string names;
  std::vector<fs::path> folders(options.models.begin(), options.models.end());
  for (const fs::path& folder : folders) {
    std::error_code ec;
    if (!fs::is_directory(folder, ec))
      throw Error(ErrorCode::kNotFound,
                  "--models " + folder.string() + ": expected a folder; there is none");
    names += (names.empty() ? "" : ":") + fs::absolute(folder).string();
  }
  // The catalog lists what they hold.
  ::setenv("TRIESCOPE_MODELS", names.c_str(), 1);
  for (fs::path& folder : draft_folders()) folders.push_back(std::move(folder));
  return folders;
}

// This process is a session until that ends.
int run_session(const ServeOptions& options) {
  const AllowedPaths paths(lent_folders(options));
  const fs::path folder = session_folder(options.session);
  // No relative name leads anywhere else.
  fs::current_path(folder);
  run_daemon(
      {.served = {
           .name = options.session,
           .folder = folder,
           .paths = paths,
           .version = TRIESCOPE_VERSION,
           .host = [](auto wake) { return std::make_unique<SessionThread>(std::move(wake)); },
           .report =
               [paths](const std::string& name, const nlohmann::json& about) {
                 return served_report(paths, name, about);
               }},
       .keep = std::chrono::minutes(options.keep_minutes),
       .stop_when_alone = options.stop_when_alone,
       .ready = options.ready});
  return 0;
}

// The name of a session that has just begun.
std::string begin_session(const ServeOptions& options) {
  const std::string name = new_session_name();
  const fs::path folder = session_folder(name);
  fs::create_directory(folder);
  std::vector<std::string> arguments = {"serve", "--session", name, "--keep",
                                        std::to_string(options.keep_minutes)};
  for (const std::string& models : options.models)
    arguments.insert(arguments.end(), {"--models", fs::absolute(models).string()});
  if (options.stop_when_alone) arguments.emplace_back("--stop-when-alone");
  start_daemon(arguments, folder);
  return name;
}

int run_stdio(const ServeOptions& options) {
  const bool watch = !options.watch.empty();
  std::unique_ptr<Line> line;
  try {
    if (watch || !options.attach.empty()) {
      line = line_to_session(watch ? options.watch : options.attach, watch);
    } else {
      lent_folders(options);
      line = line_to_session(begin_session(options), false);
    }
  } catch (const Error& error) {
    refuse_relay(error.what(), error.code() == ErrorCode::kNotFound, TRIESCOPE_VERSION);
    return exit_code(error.code());
  }
  relay(*line);
  return 0;
}

int run_list(bool as_json) {
  nlohmann::json rows = nlohmann::json::array();
  std::string text;
  for (const SessionEntry& entry : list_sessions(TRIESCOPE_VERSION)) {
    rows.push_back({{"session", entry.name},
                    {"lives", entry.lives},
                    {"model", entry.model},
                    {"state", entry.state},
                    {"steps", entry.steps},
                    {"folder", entry.folder.string()}});
    text += entry.name + "  " +
            (entry.lives ? (entry.model.empty() ? "no model" : entry.model) + ", " + entry.state +
                               ", " + std::to_string(entry.steps) + " steps"
                         : "ended; its captures are in " + entry.folder.string()) +
            "\n";
  }
  if (text.empty()) text = "no session runs here\n";
  std::cout << (as_json ? dump_json(rows, 2) + "\n" : text);
  return 0;
}

int run_serve(const ServeOptions& options) {
  if (!options.session.empty()) return run_session(options);
  if (options.list) return run_list(options.as_json);
  if (options.stdio) return run_stdio(options);
  throw Error(ErrorCode::kInvalidArgument,
              "serve: expected --stdio, which a window elsewhere starts (triescope --remote HOST), "
              "or --list");
}

}  // namespace

void add_serve_command(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = root.add_subcommand(
      "serve", "decode for a window on another machine; `triescope --remote HOST` starts it there");
  auto* stdio =
      command->add_flag("--stdio", options->stdio, "speak over standard input and output");
  auto* attach =
      command->add_option("--attach", options->attach, "go on with this session")->needs(stdio);
  command->add_option("--watch", options->watch, "see this session without commanding it")
      ->needs(stdio)
      ->excludes(attach);
  command->add_flag("--list", options->list, "the sessions of this user on this machine");
  command->add_flag("--json", options->as_json, "the list as JSON");
  command
      ->add_option("--models", options->models,
                   "a folder whose models may be used (repeatable; default: the catalog's)")
      ->allow_extra_args(false);
  command
      ->add_option("--keep", options->keep_minutes,
                   "minutes that a session stays when nobody is there and nothing decodes")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  command->add_flag("--stop-when-alone", options->stop_when_alone,
                    "end the session when the line breaks, instead of decoding on");
  // How --stdio starts the process that stays.
  command->add_option("--session", options->session, "")->group("");
  command->add_option("--ready", options->ready, "")->group("");
  command->callback([options, &line] { line.action = [options] { return run_serve(*options); }; });
}

}  // namespace triescope::app

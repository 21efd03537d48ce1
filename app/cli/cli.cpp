#include "app/cli/cli.h"

#include <cstdio>
#include <iostream>
#include <new>

#include "app/cli/commands.h"
#include "app/cli/terminal.h"
#include "app/session/text_tools.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/kernels/cpu_variant.h"

namespace triescope::app {
namespace {

std::string version_text() {
  std::string text;
  const nlohmann::json all = versions();
  for (const auto& [name, value] : all.items()) text += name + " " + json_text(value) + "\n";
  return text;
}

int report(const std::string& message, int code) {
  std::cout << std::flush;
  std::fprintf(stderr, "triescope: %s\n", message.c_str());
  return code;
}

// Every command ends here: 0 only if its output was written. Any other code stays.
int finish(int code) try {
  flush_standard_output();
  return code;
} catch (const Error& error) {
  return report(error.what(), code ? code : exit_code(error.code()));
}

}  // namespace

int run_command_line(int argc, char** argv) try {
  prepare_standard_output();
  CommandLine line;
  CLI::App root(
      "triescope shows how a language model decodes. Without a subcommand it opens the window.",
      "triescope");
  root.add_flag("--quiet", line.quiet, "no log and no progress on stderr");
  root.add_flag_callback(
      "--version",
      [] {
        std::cout << version_text();
        throw CLI::Success();
      },
      "versions of everything that matters to a number");
  root.require_subcommand(0, 1);
  add_window_options(root, line);
  add_decode_command(root, line);
  add_methods_command(root, line);
  add_info_command(root, line);
  add_tokenize_command(root, line);
  add_export_command(root, line);
  add_explain_command(root, line);
  add_acceptance_command(root, line);
  add_find_command(root, line);
  add_rejudge_command(root, line);
  add_cost_command(root, line);
  add_doctor_command(root, line);
  add_lesson_command(root, line);
  add_datastore_command(root, line);
  add_study_command(root, line);
  add_bench_command(root, line);
  add_check_command(root, line);
  add_serve_command(root, line);
  add_capture_command(root, line);
  for (CLI::App* command : root.get_subcommands({})) {
    command->add_flag("--quiet", line.quiet, "no log and no progress on stderr");
    for (CLI::App* inner : command->get_subcommands({}))
      inner->add_flag("--quiet", line.quiet, "no log and no progress on stderr");
  }
  // This precedes the options, because the window does not know those of a misspelt subcommand.
  if (argc > 1 && argv[1][0] != '-') check_first_word(root, argv[1]);
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return finish(root.exit(error) == 0 ? 0 : 2);
  }
  kernels::current_variant();  // an unknown $TRIESCOPE_CPU is an error before any work
  return finish(line.action());
} catch (const Error& error) {
  return report(error.what(), exit_code(error.code()));
} catch (const std::bad_alloc&) {
  return report("out of memory: close other programs or take a smaller model or dtype",
                exit_code(ErrorCode::kOutOfMemory));
} catch (const std::exception& error) {
  return report(std::string("unexpected error: ") + error.what(), 4);
}

}  // namespace triescope::app

// `triescope capture schema`: the format, for people and programs that write captures.
#include <iostream>
#include <memory>

#include "app/cli/commands.h"
#include "core/capture/schema_text.h"

namespace triescope::app {

void add_capture_command(CLI::App& root, CommandLine& line) {
  struct Options {
    bool markdown = false, sql = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* capture = root.add_subcommand("capture", "the format of captures");
  capture->require_subcommand(1);
  CLI::App* schema = capture->add_subcommand("schema", "its tables and columns");
  CLI::Option* markdown = schema->add_flag("--markdown", options->markdown,
                                           "as docs/capture.md lists them (as without an option)");
  schema
      ->add_flag("--sql", options->sql,
                 "statements that make an empty capture, for sqlite3 NEW.tscap")
      ->excludes(markdown);
  schema->callback([options, &line] {
    line.action = [options] {
      std::cout << (options->sql ? capture::schema_sql() : capture::schema_markdown());
      return 0;
    };
  });
}

}  // namespace triescope::app

// `triescope lesson`: lists the lessons, checks a lesson file against its run, writes a template.
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>

#include "app/cli/commands.h"
#include "app/cli/output_file.h"
#include "app/cli/terminal.h"
#include "app/lesson/experiment.h"
#include "app/lesson/lesson_beside.h"
#include "app/lesson/lesson_library.h"
#include "app/lesson/lesson_page.h"
#include "app/lesson/lesson_pictures.h"
#include "app/session/folders.h"
#include "app/session/run.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/methods/registry.h"
#include "lessons/check_lesson.h"
#include "viz/export/whole_file.h"
#include "viz/panels/panel.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;
using lessons::Finding;
using nlohmann::json;

// Decodes a lesson's run; Ctrl+C ends it.
void record(const lessons::Lesson& lesson, const std::string& path, bool quiet) {
  std::stop_source stop;
  InterruptGuard interrupt([&] { stop.request_stop(); });
  record_run(request_of(lesson), path, terminal_progress(quiet), stop.get_token());
  if (!quiet) clear_progress();
}

int list_lessons(bool as_json, bool quiet) {
  std::vector<std::string> problems;
  json all = json::array();
  for (const LibraryLesson& one : library_lessons(problems)) {
    const lessons::FrontMatter& about = one.lesson.about;
    if (!as_json)
      std::cout << one.id << "\n    " << about.title << " (" << about.minutes << " min)\n    "
                << about.summary << "\n";
    all.push_back({{"name", one.id},
                   {"title", about.title},
                   {"summary", about.summary},
                   {"minutes", about.minutes},
                   {"method", about.method},
                   {"capture", about.capture},
                   {"steps", one.lesson.steps.size()}});
  }
  if (as_json) std::cout << dump_json(all, 2) << "\n";
  for (const std::string& problem : problems)
    if (!quiet) std::fprintf(stderr, "warning: %s\n", problem.c_str());
  return 0;
}

struct Count {
  std::size_t questions = 0, tasks = 0, experiments = 0;
};
Count count_of(const lessons::Lesson& lesson) {
  Count count;
  for (const lessons::Step& step : lesson.steps)
    for (const lessons::Piece& piece : step.pieces) {
      count.questions += std::holds_alternative<lessons::Predict>(piece);
      count.tasks += std::holds_alternative<lessons::Task>(piece);
      count.experiments += std::holds_alternative<lessons::Experiment>(piece);
    }
  return count;
}

// Checks the runs that the lesson starts: adds a finding for each that its method refuses.
void check_runs(const lessons::Lesson& lesson, const capture::Capture& capture,
                std::vector<Finding>& findings) {
  for (const lessons::Step& step : lesson.steps)
    for (const lessons::Piece& piece : step.pieces)
      if (const auto* const actions = std::get_if<std::vector<lessons::Action>>(&piece))
        for (const lessons::Action& action : *actions) {
          if (!starts_a_run(action)) continue;
          try {
            changed_request(lesson, resolve(action, {capture}, viz::panel_names()));
          } catch (const Error& error) {
            if (error.code() == ErrorCode::kInvalidArgument)
              findings.push_back({action.line, error.what()});  // check_lesson() reports the others
          }
        }
}

std::vector<Finding> findings_of(const LibraryLesson& one, bool decode, bool quiet) {
  const lessons::Lesson& lesson = one.lesson;
  std::optional<ScratchFolder> scratch;
  std::string path = capture_of(one), fresh;
  const bool is_ours = lesson.about.program.empty();
  decode = decode && is_ours;
  try {
    // A recorded run no longer needs a draft model or head, nor another program's its method.
    if (decode || path.empty())
      check_request(request_of(lesson));
    else if (is_ours)
      validate_settings(find_method(lesson.about.method), request_of(lesson).settings);
  } catch (const Error& error) {
    return {{1, error.what()}};
  }
  if (decode || path.empty()) {
    scratch.emplace("lesson");
    fresh = scratch->file("run.tscap");
    record(lesson, fresh, quiet);
  }
  const auto capture = capture::Capture::open(path.empty() ? fresh : path);
  std::vector<Finding> findings =
      check_lesson(lesson, *capture, viz::panel_names(), lessons_beside(one));
  check_runs(lesson, *capture, findings);
  for (Finding& other : check_pictures(one)) findings.push_back(std::move(other));
  for (Finding& other : check_beside(one)) findings.push_back(std::move(other));
  std::stop_source stop;
  const InterruptGuard interrupt([&] { stop.request_stop(); });
  for (Finding& other : check_experiments(lesson, *capture, stop.get_token()))
    findings.push_back(std::move(other));
  if (!path.empty() && !fresh.empty()) {
    const auto now = capture::Capture::open(fresh);
    for (Finding& moved : moved_answers(lesson, *capture, *now))
      findings.push_back(std::move(moved));
  }
  return findings;
}

int check_lessons(const std::vector<std::string>& files, bool decode, bool quiet) {
  int code = 0;
  for (const std::string& file : files) {
    try {
      const LibraryLesson one = find_lesson(file);
      const std::vector<Finding> findings = findings_of(one, decode, quiet);
      for (const Finding& finding : findings)
        std::fprintf(stderr, "%s:%d: %s\n", one.lesson.path.c_str(), finding.line,
                     finding.text.c_str());
      if (!findings.empty()) {
        code = exit_code(ErrorCode::kCorruption);
        continue;
      }
      const Count count = count_of(one.lesson);
      std::cout << file << ": holds; " << counted(one.lesson.steps.size(), "step") << ", "
                << counted(count.questions, "question") << ", " << counted(count.tasks, "task")
                << (count.experiments > 0 ? ", " + counted(count.experiments, "experiment") : "")
                << "\n";
    } catch (const Error& error) {
      // The following files are still checked.
      if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kInvalidArgument)
        throw;
      std::fprintf(stderr, "triescope: %s\n", error.what());
      code = exit_code(error.code());
    }
  }
  return code;
}

int record_lessons(const std::vector<std::string>& files, bool quiet) {
  for (const std::string& file : files) {
    const LibraryLesson one = find_lesson(file);
    const std::string path = capture_path(one);
    if (path.empty())
      throw Error(ErrorCode::kInvalidArgument,
                  one.lesson.path + (one.folder.empty()
                                         ? ": a lesson of the program is recorded in its source "
                                           "folder: give the file's path"
                                         : ": its front matter names no capture to record; add "
                                           "'capture: NAME.tscap'"));
    const ScratchFolder scratch("lesson");
    const std::string fresh = scratch.file("run.tscap");
    record(one.lesson, fresh, quiet);
    std::error_code ec;
    // The file is renamed into its place, because a window may be showing the old one.
    viz::WholeFile whole(path, viz::WholeFile::Replaces::kAny);
    fs::copy_file(fresh, whole.path(), fs::copy_options::overwrite_existing, ec);
    if (ec) throw Error(ErrorCode::kIoError, path + ": cannot be written (" + ec.message() + ")");
    whole.commit();
    std::cout << path << ": " << fs::file_size(path) << " bytes\n";
  }
  return 0;
}

int export_page(const std::string& file, const std::string& output, bool quiet) {
  const LibraryLesson one = find_lesson(file);
  std::optional<ScratchFolder> scratch;
  std::string path = capture_of(one);
  if (path.empty()) {
    scratch.emplace("lesson");
    path = scratch->file("run.tscap");
    record(one.lesson, path, quiet);
  }
  const auto capture = capture::Capture::open(path);
  OutputFile page(output);
  export_lesson(one, *capture, page.path(), terminal_progress(quiet));
  page.finish(quiet);
  return 0;
}

constexpr const char* kTemplate = R"(---
title: My lesson
summary: One sentence that says what one understands afterwards.
minutes: 5
capture: NAME.tscap
method: greedy
prompt: The capital of France is
max_new_tokens: 8
---

## The first step

```do
cursor 1
panels trie text
lock {node(best, 0)}
```

The model has read `= prompt_tokens` tokens and chosen [one](<ts:node/{node(best, 0)}>), with p = `= p(best, 0)`.

> notes: Ask what the room expects before going on.

## A question

```do
cursor 1
```

```predict
How many rows does the next forward have?
- 1
- As many as the text has tokens := prompt_tokens + 1
answer: rows(1)
```

Only the newest token goes through: the keys and values of the others are [held](ts:panel/kv).

## A task

```do
cursor 0
```

```check
Go to the end of the run (End).
when: cursor = steps + 1
show: cursor {steps + 1}
```
)";

int new_lesson(const std::string& file) {
  const fs::path path(file);
  const std::string name = path.filename().string();
  if (path.extension() != ".md" || !lessons::is_plain_file_name(name))
    throw Error(
        ErrorCode::kInvalidArgument,
        "lesson new: expected a file name of letters, digits, '-' and '_' that ends in .md; "
        "found '" +
            file + "'");
  std::error_code ec;
  if (fs::exists(path, ec))
    throw Error(ErrorCode::kInvalidArgument,
                file + ": is there already; give another name, or remove it first");
  std::string text = kTemplate;
  text.replace(text.find("NAME"), 4, path.stem().string());
  viz::write_whole(file, text);
  std::cout << file << ": written. Next:\n"
            << "  triescope lesson record " << file << "   decodes its run; needs the model\n"
            << "  triescope " << file << "   opens it; it is read again whenever you save it\n"
            << "  triescope lesson check " << file << "   holds it against its run\n"
            << "docs/lessons.md explains what may stand in it\n";
  return 0;
}

}  // namespace

void add_lesson_command(CLI::App& root, CommandLine& line) {
  struct Options {
    std::vector<std::string> files;
    std::string file, output;
    bool as_json = false, decode = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      root.add_subcommand("lesson", "lessons: what there is, check, record, write, export");
  command->require_subcommand(1);

  CLI::App* list = command->add_subcommand("list", "the lessons there are");
  list->add_flag("--json", options->as_json, "as JSON");
  list->callback([options, &line] {
    line.action = [options, &line] { return list_lessons(options->as_json, line.quiet); };
  });

  CLI::App* check = command->add_subcommand(
      "check", "holds lesson files against their runs: everything they name must be there");
  check->add_option("FILE", options->files, "a .md file, or the name of a lesson there is")
      ->required();
  check->add_flag("--decode", options->decode,
                  "decode the run again with the model, and say which answers moved");
  check->callback([options, &line] {
    line.action = [options, &line] {
      return check_lessons(options->files, options->decode, line.quiet);
    };
  });

  CLI::App* record = command->add_subcommand(
      "record", "decodes the run that a lesson is about, into the capture it names");
  record->add_option("FILE", options->files, "a .md file")->required();
  record->callback([options, &line] {
    line.action = [options, &line] { return record_lessons(options->files, line.quiet); };
  });

  CLI::App* page = command->add_subcommand(
      "export", "a lesson as one page for any browser and a phone, without a network");
  page->add_option("FILE", options->file, "a .md file, or the name of a lesson there is")
      ->required();
  page->add_option("-o,--output", options->output, "the .html file to write, - = standard output")
      ->required()
      ->check(file_name());
  page->callback([options, &line] {
    line.action = [options, &line] {
      return export_page(options->file, options->output, line.quiet);
    };
  });

  CLI::App* fresh = command->add_subcommand("new", "writes a lesson to start from");
  fresh->add_option("FILE", options->file, "the .md file to write")->required();
  fresh->callback(
      [options, &line] { line.action = [options] { return new_lesson(options->file); }; });
}

}  // namespace triescope::app

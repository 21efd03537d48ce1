// Verbs about what the window shows: cursor, focus, panels, layouts, lessons.
#include <algorithm>

#include "app/window/script_verb_table.h"
#include "app/window/workspace/runs_acceptance.h"
#include "app/window/workspace/user_scale.h"
#include "core/capture/phase_names.h"

namespace triescope::app {
namespace {

capture::Phase phase_from(const std::string& name) {
  if (const auto phase = capture::phase_from_string(name)) return *phase;
  refuse_verb("'" + name + "' is not a phase: expected draft, forward, accept, commit or observe");
}

void set_cursor(const VerbCall& call) {
  const std::int32_t step = call.number(0);
  call.document();
  call.workspace.documents.set_cursor(capture::make_tick(
      step, call.args.size() > 1 ? phase_from(call.args[1]) : capture::Phase::kDraft));
}

void set_range(const VerbCall& call) {
  Document& limited = call.document();
  if (call.args[0] == "all") return call.workspace.comparison.set_range_of(limited, std::nullopt);
  if (call.args.size() < 2) refuse_verb("range: expected FIRST LAST | all");
  call.workspace.comparison.set_range_of(limited, std::minmax(call.number(0), call.number(1)));
}

void find_by(const VerbCall& call, FindBy by) {
  call.document();
  FindInRun& find = call.host.ui.find;
  if (by == FindBy::kWhere) StepCondition(call.argument);  // refuses what is no condition
  find.by = by;
  (by == FindBy::kText ? find.query : find.where) = call.argument;
  find.open = true;
  find.go(call.workspace, +1);
}

RunsView& open_runs(const VerbCall& call) {
  RunsView& runs = call.workspace.runs;
  if (!runs.is_open()) refuse_verb("no table of runs is open: put 'runs-table' before");
  return runs;
}

void show_runs_sheet(const VerbCall& call) {
  RunsView& runs = open_runs(call);
  for (int i = 0; i < kRunsSheetCount; ++i) {
    const auto sheet = static_cast<RunsSheet>(i);
    if (call.argument != to_string(sheet)) continue;
    if (const std::string lacks = runs.lacks(sheet); !lacks.empty()) refuse_verb(lacks);
    return runs.show_sheet(sheet);
  }
  refuse_verb("'" + call.argument + "' is not a sheet: expected table, side by side or acceptance");
}

void show_runs_acceptance(const VerbCall& call) {
  RunsView& runs = open_runs(call);
  const auto by = viz::acceptance_by_name(call.args[0]);
  if (!by) refuse_verb("'" + call.args[0] + "' is nothing by which acceptance is counted");
  if (const std::string lacks = runs.lacks(RunsSheet::kAcceptance); !lacks.empty())
    refuse_verb(lacks);
  runs.acceptance().by = *by;
  runs.show_sheet(RunsSheet::kAcceptance);
}

// A bar by its names, as its list of runs says them: "lookup, letters".
void choose_runs_bar(const VerbCall& call) {
  RunsAcceptance& sheet = open_runs(call).acceptance();
  std::string names;
  for (std::size_t m = 0; m < sheet.methods().size(); ++m)
    for (std::size_t g = 0; g < sheet.methods()[m].acceptance.groups.size(); ++g) {
      const std::string name =
          sheet.methods()[m].name + ", " + sheet.methods()[m].acceptance.groups[g].label;
      if (name == call.argument) return sheet.choose(m, g);
      names += (names.empty() ? "" : "; ") + name;
    }
  refuse_verb("'" + call.argument + "' is no bar: expected one of " + names);
}

// A row of the table of runs by its number, from 1.
std::size_t runs_row(const VerbCall& call) {
  const RunsView& runs = open_runs(call);
  const long long row = script_number(call.args[0]);
  const auto rows = static_cast<long long>(runs.table().rows.size());
  if (row < 1 || row > rows)
    refuse_verb("the table has rows 1 to " + std::to_string(rows) + "; found " + call.args[0]);
  return static_cast<std::size_t>(row - 1);
}

void show_one_panel(const VerbCall& call) {
  viz::make_panel(call.args[0]);  // refuses a wrong name with a list of the names
  if (!call.workspace.show_panel(call.args[0]))
    refuse_verb("panel '" + call.args[0] + "' is not in this layout");
}

void show_panels_alone(const VerbCall& call) {
  for (const std::string& name : call.args) viz::make_panel(name);
  if (call.args.size() > 3) refuse_verb("panels: expected one to three; found " + call.argument);
  call.document();
  call.workspace.show_panels(call.args);
}

void show_lecture_panels(const VerbCall& call) {
  LectureMode& lecture = call.workspace.lecture;
  if (!lecture.is_on()) refuse_verb("lecture mode is off: put 'lecture' before");
  if (call.args.size() > 2)
    refuse_verb("lecture-panels: expected one or two; found " + call.argument);
  lecture.set_panels(call.args);
}

void go_to_lesson_step(const VerbCall& call) {
  LessonPlayer& lesson = call.workspace.lesson;
  const long long step = script_number(call.args[0]);
  if (!lesson.is_open()) refuse_verb("no lesson is open: put 'lesson NAME' before");
  if (step < 1 || step > static_cast<long long>(lesson.steps()))
    refuse_verb("the lesson has steps 1 to " + std::to_string(lesson.steps()) + "; found " +
                call.args[0]);
  lesson.go_to(static_cast<std::size_t>(step - 1));
}

void resize_window(const VerbCall& call) {
  const auto x = call.args[0].find('x');
  if (x == std::string::npos) refuse_verb("size: expected WIDTHxHEIGHT");
  call.host.resize(static_cast<int>(script_number(call.args[0].substr(0, x))),
                   static_cast<int>(script_number(call.args[0].substr(x + 1))));
}

}  // namespace

std::span<const Verb> view_verbs() {
  using Call = const VerbCall&;
  static constexpr Verb kVerbs[] = {
      {"cursor", "STEP [draft|forward|accept|commit|observe]", 1, set_cursor},
      {"range", "FIRST LAST | all", 1, set_range},
      {"focus", "NODE", 1, [](Call call) { call.document().focus.hovered = call.number(0); }},
      {"lock", "NODE", 1,
       [](Call call) {
         call.document();
         call.workspace.comparison.lock_focus(call.number(0));
       }},
      {"find-text", "TEXT", 1, [](Call call) { find_by(call, FindBy::kText); }},
      {"find-where", "CONDITION", 1, [](Call call) { find_by(call, FindBy::kWhere); }},
      {"runs-where", "CONDITION", 0, [](Call call) { call.workspace.runs.filter = call.argument; }},
      {"runs-by", "COLUMN,COLUMN", 0,
       [](Call call) { call.workspace.runs.group_by = call.argument; }},
      {"runs-columns", "COLUMN,COLUMN", 0,
       [](Call call) { call.workspace.runs.columns = call.argument; }},
      {"runs-sort", "COLUMN or -COLUMN", 0,
       [](Call call) { call.workspace.runs.sort = call.argument; }},
      {"runs-choose", "ROW", 1,
       [](Call call) { call.workspace.runs.choose(runs_row(call), true); }},
      {"runs-open", "ROW", 1, [](Call call) { call.workspace.runs.open_row(runs_row(call)); }},
      {"runs-compare", "", 0, [](Call call) { call.workspace.runs.compare_chosen(); }},
      {"runs-sheet", "table | side by side | acceptance", 1, show_runs_sheet},
      {"runs-acceptance", "BY", 1, show_runs_acceptance},
      {"runs-bar", "METHOD, GROUP", 1, choose_runs_bar},
      {"runs-behind", "RUN", 1,
       [](Call call) {
         const long long run = script_number(call.args[0]);
         const auto runs = open_runs(call).acceptance().behind().size();
         if (run < 1 || run > static_cast<long long>(runs))
           refuse_verb("behind the chosen bar are " + std::to_string(runs) + " runs; found " +
                       call.args[0]);
         call.workspace.runs.open_case(static_cast<std::size_t>(run - 1));
       }},
      {"runs-save", "FILE.csv|jsonl|tex|txt|svg|pdf|png", 1,
       [](Call call) { call.workspace.runs.save(call.argument); }},
      {"panel", "NAME", 1, show_one_panel},
      {"panels", "NAME [NAME [NAME]]", 1, show_panels_alone},
      {"lecture-panels", "NAME [NAME]", 1, show_lecture_panels},
      {"lesson", "NAME or FILE.md", 1,
       [](Call call) { call.workspace.lesson.open(call.argument); }},
      {"lesson-step", "N", 1, go_to_lesson_step},
      {"maximise-panel", "NAME", 1,
       [](Call call) {
         viz::make_panel(call.args[0]);
         call.workspace.layouts.maximised = call.args[0];
       }},
      {"undock", "NAME", 1,
       [](Call call) {
         viz::make_panel(call.args[0]);
         call.host.ui.undock = call.args[0];
       }},
      {"layout", "NAME", 1, [](Call call) { call.workspace.use_layout(call.argument); }},
      {"save-layout", "NAME", 1, [](Call call) { call.workspace.layouts.save(call.argument); }},
      {"set-theme", "dark|light|projector", 1,
       [](Call call) { call.workspace.set_theme(viz::theme_name_from_string(call.args[0])); }},
      {"set-scale", "X", 1,
       [](Call call) {
         const auto scale = static_cast<float>(real_number(call.args[0]));
         if (scale < kLeastUserScale || scale > kMostUserScale)
           refuse_verb("expected a factor from 0.5 to 4, found '" + call.args[0] + "'");
         call.workspace.preferences.user_scale = scale;
       }},
      {"size", "WIDTHxHEIGHT", 1, resize_window},
  };
  return kVerbs;
}

}  // namespace triescope::app

#include "app/window/workspace/workspace.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/session/session_thread.h"
#include "core/base/text_file.h"

namespace triescope::app {

namespace fs = std::filesystem;

Workspace::Workspace(Preferences initial, std::function<void()> wake)
    : Workspace(std::move(initial), wake, std::make_unique<SessionThread>(wake)) {}

Workspace::Workspace(Preferences initial, std::function<void()> wake, std::unique_ptr<RunHost> host)
    : preferences(std::move(initial)),
      run(documents, comparison, preferences, log, std::move(host)),
      prompt_counter(wake),
      answers(run.shared_host(), wake),
      connection(run, answers, preferences, log, wake),
      exports(documents, comparison, preferences, log, wake),
      lesson(documents, comparison, run, layouts, preferences, log, wake) {}

bool Workspace::update(double seconds) {
  lecture.see_clock(seconds);
  bool changed = lesson.update(seconds);
  changed |= connection.update();
  answers.see_line();
  changed |= run.update();
  if (!run.measuring()) changed |= documents.poll();  // reading takes cores, as drawing does
  changed |= transport.play(seconds);
  changed |= exports.finish();
  changed |= runs.update(seconds);
  return changed;
}

void Workspace::use_layout(const std::string& name) {
  if (name == "compare") return comparison.start(comparison.partner());
  layouts.use(name);
  comparison.stop();
}

void Workspace::go_to_layout(const std::string& name) {
  const bool again = name == layouts.name;
  use_layout(name);
  if (!again) layouts.restore_tabs();
}

void Workspace::show_panels(const std::vector<std::string>& panels) {
  // A lesson arranges what the audience sees; the window's own layout does not change.
  if (lecture.is_on()) return lecture.set_panels(panels);
  comparison.stop();
  layouts.show_large(panels);
}

bool Workspace::show_panel(const std::string& panel) {
  if (!lecture.is_on()) return layouts.show(panel);
  lecture.show_panel(panel);
  return true;
}

void Workspace::go_to_panel(const std::string& panel) {
  // A maximised pane has every panel as a tab.
  if (!layouts.maximised.empty() && !lecture.is_on())
    layouts.maximised = panel;
  else
    show_panel(panel);
}

viz::ThemeName Workspace::theme() const {
  return lecture.is_on() ? preferences.lecture_theme : preferences.theme;
}

void Workspace::set_theme(viz::ThemeName theme) {
  (lecture.is_on() ? preferences.lecture_theme : preferences.theme) = theme;
}

void Workspace::enter_lecture() {
  lecture.enter(lesson.is_open() ? lesson.asked_panels() : std::vector<std::string>());
}

void Workspace::open_path(const std::string& path) {
  std::error_code ec;
  const fs::path given(path);
  if (given.extension() == ".md") return open_lesson(path);
  if (given.filename() == "study.sqlite") return open_study(given.parent_path().string());
  if (is_study_folder(path)) return open_study(path);
  if (given.extension() == ".gguf" || fs::is_directory(given, ec)) {
    request().model = path;
    run.load_model();
    return;
  }
  if (given.extension() == ".txt" || given.extension() == ".json" || given.extension() == ".jinja")
    return read_prompt(path);
  documents.open(path);
}

void Workspace::open_study(const std::string& folder) {
  log.attempt(Messages::Action::kOpen, [&] { runs.show_study(folder); });
}

void Workspace::open_lesson(const std::string& path_or_name) {
  log.attempt(Messages::Action::kOpen, [&] { lesson.open(path_or_name); });
}

void Workspace::read_prompt(const std::string& path) {
  log.attempt(Messages::Action::kOpen, [&] {
    if (fs::path(path).extension() == ".json") {
      const bool tools = holds_tools_alone(path);
      if (tools)
        request().tools = read_tools_file(path);
      else
        take_conversation(request(), read_messages_file(path), path);
      log.say(LogLevel::kInfo, std::string(tools ? "the tools are now those of "
                                                 : "the conversation is now that of ") +
                                   path);
    } else if (fs::path(path).extension() == ".jinja") {
      take_chat_template(request(), path);
      request().chat = true;
      log.say(LogLevel::kInfo, "the chat template is now that of " + path);
    } else {
      request().prompt = read_text_file(path, "a text file");
      request().prompt_is_ids = false;
      log.say(LogLevel::kInfo, "the prompt is now that of " + path);
    }
  });
}

void Workspace::cancel() {
  run.host().cancel();
  exports.cancel();
}

void Workspace::measure_again() {
  if (can_measure_again()) run.measure_again();
}

bool Workspace::idle() const {
  return run.idle() && !exports.under_way() && !prompt_counter.busy() &&
         !(runs.is_open() && runs.busy()) && !(active() && active()->playing);
}

double Workspace::seconds_to_next_play(double seconds) const {
  double next = -1;
  for (const double one : {lesson.seconds_to_next_look(seconds), runs.seconds_to_next_look(seconds),
                           transport.seconds_to_next_play(seconds)})
    if (one >= 0) next = next < 0 ? one : std::min(next, one);
  return next;
}

void Workspace::remember() {
  layouts.remember();
  // A lesson's arrangement is not the user's.
  if (lesson.is_open()) preferences.run_bar_open = lesson.run_bar_before();
  if (active()) {
    for (const auto& panel : active()->panels)
      if (const std::string state = panel->view_state(); !state.empty())
        preferences.view_states[panel->info().name] = state;
  }
  if (const std::string failure = save_preferences(preferences); !failure.empty())
    log.say(LogLevel::kWarning, failure);
}

}  // namespace triescope::app

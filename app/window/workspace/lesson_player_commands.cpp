// The open lesson's commands to the window: the actions of its steps, its runs and its links.
#include <algorithm>
#include <utility>

#include "app/lesson/lesson_words.h"
#include "app/window/workspace/lesson_player.h"
#include "core/base/error.h"
#include "core/base/words.h"
#include "core/capture/phase_names.h"

namespace triescope::app {

void LessonPlayer::perform(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i)
    if (const auto* const actions =
            std::get_if<std::vector<lessons::Action>>(&shown_step().pieces[i]))
      perform(*actions);
}

void LessonPlayer::perform(const std::vector<lessons::Action>& actions) {
  waiting_.insert(waiting_.end(), actions.begin(), actions.end());
}

std::vector<ScriptCommand> LessonPlayer::take_commands() {
  if (!is_open() || !ready() || (commands_.empty() && waiting_.empty())) return {};
  comparison_.stop();
  documents_.activate(document());
  std::vector<ScriptCommand> commands = std::exchange(commands_, {});
  const std::vector<std::string> panels = viz::panel_names();
  for (const lessons::Action& action : std::exchange(waiting_, {})) {
    try {
      const std::string argument = resolve(action, trace(), panels);
      if (compares(action)) {
        commands.push_back(put_beside(argument));
        continue;
      }
      if (!starts_a_run(action)) {
        if (action.verb == "panels") asked_panels_ = words(argument);
        commands.push_back({action.verb, argument});
        continue;
      }
      for (ScriptCommand& command :
           run_commands(changed_request(lesson_->lesson, argument), action.verb == "run"))
        commands.push_back(std::move(command));
    } catch (const Error& error) {
      log_.say(LogLevel::kError,
               lesson_->lesson.path + ":" + std::to_string(action.line) + ": " + error.what());
    }
  }
  return commands;
}

ScriptCommand LessonPlayer::put_beside(const std::string& capture) {
  Document* const own = document();
  const Document* const other = documents_.open_unlisted(capture_beside(*lesson_, capture));
  documents_.activate(own);
  const auto& all = documents_.all();
  const auto at = std::ranges::find(all, other, [](const auto& one) { return one.get(); });
  return {"compare", std::to_string(at - all.begin())};
}

std::vector<ScriptCommand> LessonPlayer::run_commands(const RunRequest& request, bool start) const {
  std::vector<ScriptCommand> commands;
  const auto& documents = documents_.all();
  // Coming back to the step shows the run that is there already.
  for (std::size_t i = 0; start && i < documents.size(); ++i)
    if (documents[i]->request && same_decoding(*documents[i]->request, request))
      return {{"document", std::to_string(i)}};
  if (!request.model.empty() && request.model != preferences_.request.model)
    commands.push_back({"model", request.model});
  if (!request.draft_model.empty()) commands.push_back({"draft-model", request.draft_model});
  commands.push_back({"method", request.method});
  for (const auto& [name, value] : request.settings.items())
    commands.push_back({"set", name + "=" + value.get<std::string>()});
  commands.push_back({"chat", request.chat ? "on" : "off"});
  commands.push_back({"prompt-is-ids", "off"});
  if (preferences_.request.system != request.system) commands.push_back({"system", request.system});
  commands.push_back({"prompt", request.prompt});
  commands.push_back({"max-new-tokens", std::to_string(request.max_new_tokens)});
  commands.push_back({"seed", std::to_string(request.seed)});
  if (!preferences_.run_bar_open && !start) commands.push_back({"run-bar", ""});
  if (start) commands.push_back({"start-run", ""});
  return commands;
}

std::int32_t LessonPlayer::node_of(const lessons::Link& link) const {
  if (!ready() ||
      (link.kind != lessons::Link::Kind::kNode && link.kind != lessons::Link::Kind::kSlot))
    return -1;
  try {
    const std::int32_t id = lessons::whole_number("a node or a slot", fill(link.target, trace()));
    const Document& run = *document();
    if (link.kind == lessons::Link::Kind::kSlot) return run.capture->slot_at(id, run.cursor).node;
    return id;
  } catch (const Error&) {
    return -1;
  }
}

void LessonPlayer::follow(const lessons::Link& link) {
  if (link.kind == lessons::Link::Kind::kLesson) return open(link.target.pieces.front().text);
  if (link.kind == lessons::Link::Kind::kWeb || !ready()) return;
  const std::string target = fill(link.target, trace());
  if (link.kind == lessons::Link::Kind::kPanel) {
    commands_.push_back({"panel", target});
  } else if (link.kind == lessons::Link::Kind::kStep) {
    const capture::Tick tick = lessons::tick_of_link(target);
    commands_.push_back({"cursor", std::to_string(capture::step_of(tick)) + " " +
                                       to_string(capture::phase_of(tick))});
  } else if (const std::int32_t node = node_of(link); node != -1) {
    commands_.push_back({"lock", std::to_string(node)});
  }
}

}  // namespace triescope::app

// The workspace as JSON, for scripts and tests to assert on.
#include <algorithm>

#include "app/window/workspace/workspace.h"
#include "core/text/tokenizer/conversation.h"

namespace triescope::app {

using capture::Tick;

nlohmann::json Workspace::state_json(const std::vector<std::string>& visible_panels) const {
  using nlohmann::json;
  json state = {
      {"state", to_string(live().state)},
      {"panels", visible_panels},
      {"maximised", layouts.maximised},
      {"layout", layouts.name},
      {"own_layouts", layouts.own_names()},
      {"panes", layout_to_json(layouts.now)},
      {"theme", viz::to_string(theme())},
      {"scale", preferences.user_scale},
      {"documents", documents.all().size()},
      {"problems", log.problems},
      {"message", log.all.empty() ? "" : log.all.back().text},
      {"pause_reason", live().pause_reason},
      {"stop_reason", transport.stop_reason()},
      {"play_speed", preferences.play_speed},
      {"memory_refused", live().memory_refused},
      {"host", run.host().line().host},
      {"lost", run.host().line().lost},
      {"breakpoints", run.breakpoints().size()},
      {"model", live().model ? json(live().model->name) : json(nullptr)},
      {"run",
       {{"method", preferences.request.method},
        {"settings", preferences.request.settings},
        {"prompt", preferences.request.prompt},
        {"chat", preferences.request.chat},
        {"system", preferences.request.system},
        {"turns", json(messages_json(preferences.request.turns))},
        {"tools", preferences.request.tools.empty() ? json(nullptr)
                                                    : json::parse(preferences.request.tools)},
        {"chat_template_file", preferences.request.chat_template_file},
        {"seed", preferences.request.seed},
        {"max_new_tokens", preferences.request.max_new_tokens},
        {"model", preferences.request.model},
        {"dtype", to_string(preferences.request.dtype)},
        {"kv_dtype", preferences.request.kv_dtype ? json(to_string(*preferences.request.kv_dtype))
                                                  : json(nullptr)},
        {"draft_device", preferences.request.draft_device},
        {"prompt_is_ids", run.prompt_is_ids()}}}};
  state["breakpoint_texts"] = json::array();
  for (const Breakpoint& point : run.breakpoints())
    state["breakpoint_texts"].push_back(describe(point));
  state["lesson"] = lesson.state_json();
  state["lecture"] = lecture.state_json();
  state["finished_lessons"] = preferences.finished_lessons;
  state["run"]["prompt_tokens"] = prompt_counter.count().tokens;
  if (!active()) return state;
  const Document& document = *active();
  const auto position = [](Tick tick) {
    return json{{"tick", tick},
                {"step", capture::step_of(tick)},
                {"phase", capture::to_string(capture::phase_of(tick))}};
  };
  const capture::Counts counts = document.capture->counts();
  state["capture"] = document.path;
  state["method"] = document.capture->run().method;
  state["cursor"] = position(document.cursor);
  state["end"] = position(document.capture->end_tick());
  state["follow"] = document.follow;
  state["title"] = document.title;
  state["breaks"] = document.breaks.size();
  state["enlarged"] = layouts.maximised.empty() ? 1 : document.enlarged;
  for (const auto& panel : document.panels)
    state["views"][panel->info().name] = panel->view_state();
  if (document.range) state["range"] = {document.range->first, document.range->second};
  state["live"] = documents.active_is_live();
  state["timed_while_drawing"] = document.capture->run().timed_while_drawing;
  state["focus"] = {{"hovered", document.focus.hovered},
                    {"locked", document.focus.locked},
                    {"node", document.focus.node()}};
  state["counts"] = {{"steps", counts.steps},
                     {"nodes", counts.nodes},
                     {"verdicts", counts.verdicts},
                     {"sequences", counts.sequences},
                     {"nodes_at_cursor", document.capture->nodes_at(document.cursor).size()},
                     {"bookmarks", document.capture->bookmarks().size()}};
  const auto marked = [](const Document& of) {
    return std::count(of.twins.differ.begin(), of.twins.differ.end(), 1);
  };
  if (const Document* other = comparison.partner())
    state["compare"] = {
        {"capture", other->path},
        {"by", viz::to_string(comparison.along())},
        {"own_scales", comparison.own_scales()},
        {"cursor", position(other->cursor)},
        {"focus", other->focus.node()},
        {"range", other->range ? json{other->range->first, other->range->second} : json(nullptr)},
        {"differences", document.twins.partings.size()},
        {"parting_step", document.twins.parting_step},
        {"other_parting_step", other->twins.parting_step},
        {"differing_nodes", marked(document)},
        {"other_differing_nodes", marked(*other)}};
  return state;
}

}  // namespace triescope::app

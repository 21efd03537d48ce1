#include "app/lesson/lesson_page.h"

#include <filesystem>

#include "app/lesson/lesson_page_text.h"
#include "app/lesson/lesson_scenes.h"
#include "app/lesson/lesson_words.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "viz/export/whole_file.h"
#include "viz/handout/handout_page.h"
#include "viz/handout/page_pictures.h"
#include "viz/handout/pane_plan.h"
#include "viz/narration/narration_text.h"
#include "viz/narration/sentences.h"
#include "viz/query/leaves.h"

namespace triescope::app {
namespace {

using lessons::Predict;
using lessons::Task;
using nlohmann::json;

json scene_json(const LessonScene& scene) {
  return {{"panels", scene.panels}, {"view", scene.view}, {"lock", scene.lock}};
}

class PageText {
 public:
  PageText(const LibraryLesson& lesson, LessonScenes& scenes, LessonScene first)
      : lesson_(lesson), scenes_(scenes), scene_(std::move(first)) {}

  json step(const lessons::Step& step) {
    scene_ = LessonScenes::begin(scene_);
    json pieces = json::array();
    for (const lessons::Piece& piece : step.pieces)
      std::visit([&](const auto& one) { add(pieces, one); }, piece);
    return {{"title", step.title}, {"pieces", pieces}};
  }
  bool has_pictures() const { return pictures_; }

 private:
  // A string, or a list of spans if parts are marked.
  json words_of(const lessons::Marked& text) {
    json words = json::array();
    json block = block_json(lesson_, text.block, scenes_, scene_, pictures_);
    for (json& span : block["spans"]) {
      if (span.is_string() && !words.empty() && words.back().is_string())
        words.back() = words.back().get<std::string>() + span.get<std::string>();
      else
        words.push_back(std::move(span));
    }
    if (words.empty()) return "";
    return words.size() == 1 && words[0].is_string() ? words[0] : words;
  }

  void add(json& pieces, const lessons::Block& block) {
    pieces.push_back({{"block", block_json(lesson_, block, scenes_, scene_, pictures_)}});
  }
  void add(json& pieces, const std::vector<lessons::Action>& actions) {
    std::vector<std::string> runs;
    scene_ = scenes_.after(scene_, actions, runs);
    pieces.push_back({{"do", scene_json(scene_)}});
    for (const std::string& other : runs)
      pieces.push_back({{"note", other.starts_with("beside ")
                                     ? "In the program a second run stands beside this one here: " +
                                           other.substr(7) + ". This page keeps to the first."
                                     : "In the program this step goes on with a run of its own: " +
                                           other + ". This page keeps to the first."}});
  }
  void add(json& pieces, const Predict& predict) {
    json ask = {{"text", words_of(predict.question)},
                {"choices", json::array()},
                {"right", -1},
                {"truth", "?"},
                {"number", nullptr},
                {"within", predict.within}};
    for (const lessons::Choice& choice : predict.choices)
      ask["choices"].push_back(words_of(choice.text));
    const lessons::Answer answer = answer_of(predict, scenes_.trace());
    ask["right"] = answer.choice;
    ask["truth"] = shown_value(answer.value);
    if (const double* const number = std::get_if<double>(&answer.value)) ask["number"] = *number;
    pieces.push_back({{"ask", ask}});
  }
  void add(json& pieces, const Task& task) {
    std::vector<std::string> runs;
    json met = json::array();
    for (const auto& [view, node] : scenes_.met_at(task))
      met.push_back({view, node ? json(*node) : json()});
    pieces.push_back({{"task",
                       {{"text", words_of(task.text)},
                        {"show", scene_json(scenes_.after(scene_, task.show, runs))},
                        {"met", met}}}});
  }
  void add(json& pieces, const lessons::Experiment& experiment) {
    const lessons::ExperimentSetup setup = resolve_experiment(experiment, scenes_.trace());
    const ExperimentResult result = run_experiment(setup);
    const std::vector<double> expected = expected_of(setup);
    json rows = json::array();
    for (std::size_t i = 0; i < setup.names.size(); ++i)
      rows.push_back({shown_value(setup.names[i]), expected[i], result.share(i)});
    pieces.push_back({{"experiment",
                       {{"text", words_of(experiment.text)},
                        {"rule", rule_words(experiment.rule)},
                        {"rows", rows},
                        {"agrees", result.agrees()},
                        {"verdict", verdict_words(result)},
                        {"figures", figures_text(result, setup.draws)}}}});
  }
  // Notes for the lecturer are left out.
  void add(json&, const lessons::Notes&) {}

  const LibraryLesson& lesson_;
  LessonScenes& scenes_;
  LessonScene scene_;
  bool pictures_ = false;
};

std::string spoken_at(const capture::Capture& capture, capture::Tick cursor) {
  std::string text;
  for (const viz::Sentence& sentence :
       narrate(capture, cursor, viz::Sentences::standard()).sentences)
    text += (text.empty() ? "" : " ") + sentence_text(sentence);
  return text;
}

// Title and page of the next lesson; null if there is none.
json next_of(const LibraryLesson& lesson) {
  const std::string& next = lesson.lesson.about.next;
  if (next.empty()) return nullptr;
  const std::filesystem::path file(next);
  std::string title = file.stem().string();
  try {
    title =
        find_lesson(lesson.folder.empty() ? title
                                          : (std::filesystem::path(lesson.folder) / file).string())
            .lesson.about.title;
  } catch (const Error&) {
    // A lesson that does not exist keeps its file's name.
  }
  return {{"title", title},
          {"page", std::filesystem::path(file).replace_extension(".html").string()}};
}

}  // namespace

std::string lesson_html(const LibraryLesson& lesson, const capture::Capture& capture,
                        const ProgressSink& progress) {
  LessonScenes scenes(capture, lesson.lesson.path);
  const lessons::FrontMatter& about = lesson.lesson.about;
  const std::vector<std::string> standard = viz::handout_panels(capture);
  const LessonScene first{.panels = {standard[0], standard[1]}, .view = 0};
  PageText text(lesson, scenes, first);
  json steps = json::array();
  for (const lessons::Step& step : lesson.lesson.steps) steps.push_back(text.step(step));

  std::vector<std::string> panels(scenes.panels().begin(), scenes.panels().end());
  for (const std::string& panel : first.panels)
    if (!scenes.panels().contains(panel)) panels.push_back(panel);
  const auto total = static_cast<double>(panels.size() * scenes.views().size());
  double done = 0;
  viz::PaneContext context;
  context.capture = &capture;
  context.views = scenes.views();
  context.drawn = [&] {
    if (progress) progress("exporting the lesson", ++done, total);
  };
  const viz::PagePictures pictures(panels, context);

  // By view: what the pictures show, in words.
  json spoken = json::array(), leads = json::array(), extra = json::object();
  for (std::int32_t view = 0; view <= scenes.end(); ++view) {
    const capture::Tick cursor = scenes.views()[view].cursor;
    spoken.push_back(spoken_at(capture, cursor));
    // Every pane brings the end of the best path into view.
    const auto leaves = viz::leaves_at(capture, cursor);
    leads.push_back(leaves.empty() ? -1 : leaves.front().node);
  }
  for (auto view = static_cast<std::size_t>(scenes.end()) + 1; view < scenes.views().size(); ++view)
    extra[std::to_string(view)] = scenes.view_of(scenes.views()[view].cursor);
  const json data = {{"title", about.title},
                     {"prompt", about.summary},
                     {"spoken", spoken},
                     {"leads", leads},
                     {"extra", extra},
                     {"lesson",
                      {{"steps", steps},
                       {"end", scenes.end()},
                       {"first", scene_json(first)},
                       {"next", next_of(lesson)}}}};
  std::string fields = dump_json(data);
  fields.pop_back();
  return viz::handout_page(
      {.title = about.title,
       .data = fields + ",\"facts\":" + viz::facts_json(capture) + "," + pictures.json() + "}",
       .kind = viz::PageKind::kLesson,
       .has_pictures = text.has_pictures()});
}

void export_lesson(const LibraryLesson& lesson, const capture::Capture& capture,
                   const std::string& path, const ProgressSink& progress) {
  viz::write_whole(path, lesson_html(lesson, capture, progress));
}

}  // namespace triescope::app

// A lesson as a page: its data, for the program's lessons and their captures.
#include <doctest/doctest.h>
#include <glib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/lesson/lesson_page.h"
#include "app/lesson/lesson_scenes.h"
#include "core/base/error.h"
#include "tests/support/environment.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/viz/handout/page_data.h"
#include "viz/panels/panel.h"

namespace triescope::app::test_lesson_page {
namespace {

using nlohmann::json;

struct Opened {
  test::TempDir folder;
  test::EnvironmentVariable cache{"XDG_CACHE_HOME", folder.path()};
  LibraryLesson lesson;
  std::unique_ptr<capture::Capture> capture;

  explicit Opened(const std::string& name) {
    lesson = find_lesson(name);
    capture = capture::Capture::open(capture_of(lesson));
  }
  json page() const { return test::data_of(lesson_html(lesson, *capture)); }
};

// The pieces of all steps that have this field.
std::vector<json> pieces_with(const json& page, const char* field) {
  std::vector<json> found;
  for (const json& step : page["lesson"]["steps"])
    for (const json& piece : step["pieces"])
      if (piece.contains(field)) found.push_back(piece[field]);
  return found;
}

// Collects every link of a block and of the blocks in it.
void links_in(const json& block, std::vector<std::string>& links) {
  for (const json& span : block.value("spans", json::array()))
    if (span.is_object() && span.contains("link")) links.push_back(span["link"]);
  for (const json& inner : block.value("blocks", json::array())) links_in(inner, links);
}

TEST_CASE("lesson page: every moment of the run has a picture in every panel, and words") {
  const Opened opened("08-checking-a-tree");
  const json page = opened.page();
  const auto views = static_cast<std::size_t>(opened.capture->last_step() + 1) * 5 + 1;
  CHECK(page["lesson"]["end"] == views - 1);
  CHECK(page["spoken"].size() == views);
  CHECK(page["leads"].size() == views);
  std::vector<std::string> names;
  for (const json& pane : page["panes"]) {
    names.push_back(pane["name"]);
    CHECK(pane["pictures"].size() == views);
  }
  CHECK(names == std::vector<std::string>{"mask", "memory", "positions", "text", "timeline", "trie",
                                          "verdict"});
}

TEST_CASE("lesson page: a do block is a whole scene, and a step begins with nothing selected") {
  const json page = Opened("08-checking-a-tree").page();
  const json& steps = page["lesson"]["steps"];
  CHECK(steps[0]["title"] == "Two guesses are better than one");
  CHECK(steps[0]["pieces"][0]["do"] ==
        json({{"panels", {"text", "trie"}}, {"view", 45}, {"lock", -1}}));
  // "cursor 9 forward", and behind its question "cursor 9 accept" with the mask on top.
  CHECK(steps[1]["pieces"][0]["do"] ==
        json({{"panels", {"trie", "mask"}}, {"view", 46}, {"lock", -1}}));
  std::vector<json> locked;
  for (const json& scene : pieces_with(page, "do"))
    if (scene["lock"] != -1) locked.push_back(scene);
  REQUIRE(locked.size() == 1);  // the next step begins without a lock
  CHECK(locked[0]["view"] == 50);
}

TEST_CASE("lesson page: a question has its choices, which is right, and nothing computed twice") {
  const json page = Opened("08-checking-a-tree").page();
  const auto questions = pieces_with(page, "ask");
  REQUIRE(questions.size() == 4);
  CHECK(questions[0]["text"] == "How many forwards does it take to check both branches?");
  CHECK(questions[0]["choices"] ==
        json({"One for each branch", "One for each draft", "One for everything"}));
  CHECK(questions[0]["right"] == 2);
  CHECK(questions[0]["number"] == 1);
  CHECK(questions[3]["right"] == 1);
  CHECK(questions[3]["number"].is_null());  // true or false
  // Pieces behind a question stand behind it in the page's order: the page shows none beyond an
  // open question.
  const json& pieces = page["lesson"]["steps"][1]["pieces"];
  const auto ask =
      std::ranges::find_if(pieces, [](const json& piece) { return piece.contains("ask"); });
  REQUIRE(ask != pieces.end());
  CHECK(std::any_of(ask, pieces.end(), [](const json& piece) { return piece.contains("block"); }));
}

TEST_CASE("lesson page: a task knows the moments at which it is met, and its own way there") {
  const json tick = pieces_with(Opened("08-checking-a-tree").page(), "task")[0];
  CHECK(tick["met"] == json({{8, nullptr}}));  // step 1, before commit
  CHECK(tick["show"]["view"] == 8);
  // A task about the focus is met at every moment, by that node alone.
  const Opened opened("03-beam-search-is-a-trie");
  const json focus = pieces_with(opened.page(), "task")[0];
  REQUIRE(focus["met"].size() > 5);
  for (const json& met : focus["met"]) CHECK(met[1] == focus["show"]["lock"]);
}

TEST_CASE("lesson page: every lesson of the program becomes a page whose links lead somewhere") {
  const test::TempDir folder;
  const test::EnvironmentVariable cache("XDG_CACHE_HOME", folder.path());
  std::vector<std::string> problems;
  const auto lessons = library_lessons(problems);
  const auto files = std::ranges::count_if(
      std::filesystem::directory_iterator(test::source_dir() / "assets/lessons"),
      [](const auto& entry) { return entry.path().extension() == ".md"; });
  CHECK(lessons.size() >= 17);
  CHECK(static_cast<std::ptrdiff_t>(lessons.size()) == files);
  for (const LibraryLesson& lesson : lessons) {
    CAPTURE(lesson.id);
    const auto capture = capture::Capture::open(capture_of(lesson));
    const std::string html = lesson_html(lesson, *capture);
    CHECK(html.size() < 400'000);
    CHECK(html.find("<body class=\"lesson\">") != std::string::npos);
    CHECK(html.find("img-src") == std::string::npos);
    const json page = test::data_of(html);
    CHECK(page["title"] == lesson.lesson.about.title);
    CHECK(page["lesson"]["steps"].size() == lesson.lesson.steps.size());
    std::vector<std::string> panels, links;
    for (const json& pane : page["panes"]) panels.push_back(pane["name"]);
    for (const json& block : pieces_with(page, "block")) links_in(block, links);
    for (const std::string& link : links) {
      CAPTURE(link);
      if (link[0] == 'p') CHECK(std::ranges::find(panels, link.substr(1)) != panels.end());
      if (link[0] == 'v') CHECK(std::stoi(link.substr(1)) <= page["lesson"]["end"]);
      CHECK(std::string("npvlw").find(link[0]) != std::string::npos);
    }
    for (const json& scene : pieces_with(page, "do"))
      for (const json& panel : scene["panels"])
        CHECK(std::ranges::find(panels, panel.get<std::string>()) != panels.end());
    for (const json& ask : pieces_with(page, "ask"))
      if (!ask["choices"].empty()) CHECK(ask["right"] >= 0);
  }
}

TEST_CASE("lesson page: experiments are drawn, and notes for the lecturer stay away") {
  const Opened opened("10-why-nothing-is-lost");
  const json page = opened.page();
  const auto experiments = pieces_with(page, "experiment");
  REQUIRE(experiments.size() == 3);
  CHECK(experiments[0]["agrees"] == true);
  CHECK(experiments[1]["agrees"] == false);
  double expected = 0, drawn = 0;
  for (const json& row : experiments[0]["rows"]) {
    expected += row[1].get<double>();
    drawn += row[2].get<double>();
  }
  CHECK(expected == doctest::Approx(1));
  CHECK(drawn == doctest::Approx(1));
  CHECK(page.dump().find("notes") == std::string::npos);
}

// Makes the page of a lesson beside the capture of a built-in one.
std::string page_of(const test::TempDir& folder, const std::string& body) {
  const test::EnvironmentVariable cache("XDG_CACHE_HOME", folder.path());
  const std::string run = capture_of(find_lesson("03-beam-search-is-a-trie"));
  std::filesystem::copy_file(run, folder.path() / "run.tscap",
                             std::filesystem::copy_options::overwrite_existing);
  const std::string path = (folder.path() / "own.md").string();
  std::ofstream(path) << "---\ntitle: </title><script>x</script>\nsummary: s\nminutes: 1\ncapture: "
                         "run.tscap\nmethod: beam\nprompt: p\n---\n\n## One\n\n"
                      << body;
  const LibraryLesson lesson = find_lesson(path);
  return lesson_html(lesson, *capture::Capture::open(capture_of(lesson)));
}

TEST_CASE(
    "lesson page: ranges, runs, panels that come to the front, texts that are markup elsewhere") {
  test::TempDir folder;
  const std::string html = page_of(
      folder,
      "```do\ncursor 4\npanels trie text kv\nrange 1 3\npanel memory\n```\n\n<b>bold</b> and "
      "[step](ts:step/2/accept), [slot](ts:slot/0), [web](https://example.org/a)\n\n```do\ncursor 2\n"
      "run num_beams=5\n```\n");
  CHECK(html.find("<b>") == std::string::npos);
  CHECK(html.find("<script>x") == std::string::npos);
  const json page = test::data_of(html);
  const auto scenes = pieces_with(page, "do");
  const int end = page["lesson"]["end"];
  // `memory` replaces the last panel. The range is a view of its own, at the same moment.
  CHECK(scenes[0]["panels"] == json({"trie", "text", "memory"}));
  CHECK(scenes[0]["view"] == end + 1);
  CHECK(page["extra"] == json({{std::to_string(end + 1), 20}, {std::to_string(end + 2), 10}}));
  CHECK(scenes[1]["view"] == end + 2);  // the range holds until the step ends
  CHECK(pieces_with(page, "note")[0].get<std::string>().find("num_beams=5") != std::string::npos);
  std::vector<std::string> links;
  for (const json& block : pieces_with(page, "block")) links_in(block, links);
  CHECK(links == std::vector<std::string>{"v13", "n-2", "whttps://example.org/a"});
}

TEST_CASE("lesson page: a line that the run does not have says file and line") {
  test::TempDir folder;
  const std::string said =
      test::refusal(ErrorCode::kCorruption, [&] { page_of(folder, "```do\ncursor 900\n```\n"); });
  CHECK(said.find("own.md:13: ") != std::string::npos);
  CHECK(said.find("900") != std::string::npos);
}

TEST_CASE("lesson page: marks of a question are spans, and none is left as a sign") {
  const json task = pieces_with(Opened("03-beam-search-is-a-trie").page(), "task")[0];
  REQUIRE(task["text"].is_array());
  CHECK(std::ranges::count(task["text"], json({{"emphasis", true}, {"text", "all"}})) == 1);
  for (const char* const lesson : {"03-beam-search-is-a-trie", "08-checking-a-tree"}) {
    const json page = Opened(lesson).page();
    for (const char* const kind : {"ask", "task"})
      for (const json& piece : pieces_with(page, kind))
        CHECK(piece["text"].dump().find('*') == std::string::npos);
  }
}

}  // namespace
}  // namespace triescope::app::test_lesson_page

// A whole handout: nothing is missing, every link resolves, nothing from the capture becomes
// markup.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "core/base/error.h"
#include "tests/support/refusal.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/handout/page_data.h"
#include "viz/export/export.h"
#include "viz/handout/handout.h"
#include "viz/handout/page_data.h"
#include "viz/handout/pane_plan.h"
#include "viz/narration/narration.h"
#include "viz/narration/narration_text.h"
#include "viz/narration/sentences.h"
#include "viz/panels/panel.h"
#include "viz/query/leaves.h"

namespace test_handout {

using namespace triescope;
using namespace triescope::viz;
using nlohmann::json;

namespace {

const json& beam_page() {
  static const json data = test::data_of(handout_html(test::beam_capture(), {}));
  return data;
}
const json& draft_page() {
  static const json data = test::data_of(handout_html(test::draft_capture(), {}));
  return data;
}

std::string words_of(const json& sentence) {
  std::string out;
  for (const json& part : sentence)
    out += part.is_array() ? part[0].get<std::string>() : part.get<std::string>();
  return out;
}

}  // namespace

TEST_CASE("handout: every step is in it with a picture of every panel, inside of one frame") {
  for (const json* page : {&beam_page(), &draft_page()}) {
    const auto steps = (*page)["steps"].size();
    CHECK(steps > 20);
    for (std::size_t i = 0; i < steps; ++i) CHECK((*page)["steps"][i]["step"] == i);
    for (const json& pane : (*page)["panes"]) {
      CAPTURE(pane["name"].get<std::string>());
      CHECK(pane["pictures"].size() == steps);
      CHECK(pane["marks"].size() == steps);
      const auto box = pane["box"].get<std::vector<int>>();
      for (std::size_t i = 0; i < steps; ++i) {
        const auto numbers = test::numbers_of(pane["pictures"][i]);
        CHECK_FALSE(numbers.empty());
        CHECK(3 * *std::ranges::max_element(numbers) + 2 < pane["elements"].size());
        for (const std::size_t number : test::numbers_of(pane["marks"][i])) {
          const auto hit = pane["hits"].at(number).get<std::vector<int>>();
          CHECK(hit[1] >= box[0]);
          CHECK(hit[2] >= box[1]);
          CHECK(hit[1] + hit[3] <= box[0] + box[2]);
          CHECK(hit[2] + hit[4] <= box[1] + box[3]);
        }
      }
    }
  }
}

TEST_CASE("handout: the panels follow what the steps decide") {
  using Names = std::vector<std::string>;
  CHECK(handout_panels(test::beam_capture()) == Names{"trie", "text", "verdict", "kv", "memory"});
  CHECK(handout_panels(test::draft_capture()) ==
        Names{"trie", "text", "verdict", "mask", "kv", "drafts"});
  Names shown;
  for (const json& pane : beam_page()["panes"]) shown.push_back(pane["name"]);
  CHECK(shown == handout_panels(test::beam_capture()));
}

TEST_CASE("handout: a picture shows its step") {
  const json& page = beam_page();
  const auto pane = [&](const std::string& name) -> const json& {
    return *std::ranges::find_if(page["panes"],
                                 [&](const json& one) { return one["name"] == name; });
  };
  CHECK(test::texts_of(page, pane("verdict"), 3).starts_with("step 3"));
  CHECK(test::texts_of(page, pane("verdict"), 7).starts_with("step 7"));
  CHECK(test::texts_of(page, pane("memory"), 5).find("end of step 5:") != std::string::npos);
  CHECK(test::texts_of(page, pane("trie"), 0).find("prompt") != std::string::npos);
  // A node of the trie keeps its place: the root has one box in all steps.
  std::set<std::string> roots;
  for (std::size_t i = 0; i < page["steps"].size(); ++i)
    for (const std::size_t number : test::numbers_of(pane("trie")["marks"][i]))
      if (const json& hit = pane("trie")["hits"][number]; hit[0] == 0) roots.insert(hit[1].dump());
  CHECK(roots.size() == 1);
}

TEST_CASE("handout: what steps share is kept once") {
  for (const json& pane : draft_page()["panes"]) {
    if (pane["name"] != "trie") continue;
    std::size_t drawn = 0;
    for (const json& picture : pane["pictures"]) drawn += test::numbers_of(picture).size();
    const std::size_t kept = pane["elements"].size() / 3;
    CHECK(kept * 5 < drawn);
    std::set<std::vector<long>> different;
    for (std::size_t i = 0; i < kept; ++i) {
      const auto at = [&](std::size_t k) { return pane["elements"][3 * i + k].get<long>(); };
      CHECK(at(0) < static_cast<long>(draft_page()["looks"].size()));
      different.insert({at(0), at(1), at(2)});
    }
    CHECK(different.size() == kept);
  }
}

TEST_CASE("handout: the narration of every phase is there, word for word") {
  const capture::Capture& capture = test::draft_capture();
  for (const json& step : draft_page()["steps"]) {
    std::size_t at = 0;
    for (const capture::PhaseRow& row : capture.phases()) {
      if (capture::step_of(row.tick) != step["step"].get<int>()) continue;
      const Narration told = narrate(capture, row.tick + 1, Sentences::standard());
      const json& phase = step["words"].at(at++);
      CHECK(phase[0] == capture::to_string(told.phase));
      REQUIRE(phase[1].size() == told.sentences.size());
      for (std::size_t i = 0; i < told.sentences.size(); ++i)
        CHECK(words_of(phase[1][i]) == sentence_text(told.sentences[i]));
    }
    CHECK(at == step["words"].size());
  }
}

TEST_CASE("handout: every link leads to a node, a step or a panel of the page") {
  std::size_t nodes = 0, steps = 0, panels = 0;
  for (const json* page : {&beam_page(), &draft_page()}) {
    std::set<std::string> names;
    for (const json& pane : (*page)["panes"]) names.insert(pane["name"]);
    for (const json& step : (*page)["steps"])
      for (const json& phase : step["words"])
        for (const json& sentence : phase[1])
          for (const json& part : sentence) {
            if (!part.is_array()) continue;
            const std::string link = part[1], what = link.substr(1);
            CAPTURE(link);
            if (link[0] == 'n') CHECK((*page)["nodes"].contains(what));
            if (link[0] == 's') CHECK(std::stoul(what) < (*page)["steps"].size());
            if (link[0] == 'p') CHECK(names.count(what) == 1);
            (link[0] == 'n' ? nodes : link[0] == 's' ? steps : panels) += 1;
          }
    for (const json& pane : (*page)["panes"])
      for (const json& hit : pane["hits"])
        CHECK((*page)["nodes"].contains(std::to_string(hit[0].get<int>())));
  }
  CHECK(nodes > 100);
  CHECK(panels > 10);
}

TEST_CASE("handout: a node is told by its token, its number and its position") {
  CHECK(draft_page()["nodes"]["0"] == "the prompt");
  const std::string line = draft_page()["nodes"]["1"];
  CHECK(line.find("  ·  node 1  ·  position ") != std::string::npos);
}

TEST_CASE("handout: the end of the best path leads, and lies in the trie's picture") {
  const json& page = beam_page();
  const json& trie = page["panes"][0];
  for (std::size_t i = 0; i < page["steps"].size(); ++i) {
    const int lead = page["steps"][i]["lead"];
    CHECK(lead == leaves_at(test::beam_capture(),
                            cursor_after(test::beam_capture(), static_cast<std::int32_t>(i)))
                      .front()
                      .node);
    const auto marks = test::numbers_of(trie["marks"][i]);
    CHECK(std::ranges::any_of(marks,
                              [&](std::size_t number) { return trie["hits"][number][0] == lead; }));
  }
}

TEST_CASE("handout: a node is linked in every panel that shows it") {
  const json& page = draft_page();
  const int lead = page["steps"][12]["lead"];
  std::set<std::string> shown;
  for (const json& pane : page["panes"])
    for (const std::size_t number : test::numbers_of(pane["marks"][12]))
      if (pane["hits"][number][0] == lead) shown.insert(pane["name"]);
  CHECK(shown.count("trie") == 1);
  CHECK(shown.count("text") == 1);
}

TEST_CASE("handout: panels and steps of one's own choice") {
  const json page = test::data_of(
      handout_html(test::beam_capture(), {.panels = {"positions", "log"}, .steps = {{3, 6}}}));
  CHECK(page["panes"].size() == 2);
  CHECK(page["panes"][0]["title"] == "Positions");
  CHECK(page["panes"][1]["name"] == "log");
  REQUIRE(page["steps"].size() == 4);
  CHECK(page["steps"][0]["step"] == 3);
  CHECK(page["steps"][3]["step"] == 6);
  for (const json& step : page["steps"])
    for (const json& phase : step["words"])
      for (const json& sentence : phase[1])
        for (const json& part : sentence)
          if (part.is_array() && part[1].get<std::string>()[0] == 'p')
            CHECK(part[1] == "ppositions");  // the other panels are not in this page
}

TEST_CASE("handout: every panel there is can be shown") {
  HandoutOptions options{.panels = {}, .steps = {{0, 2}}};
  for (const auto& panel : make_panels()) options.panels.push_back(panel->info().name);
  const json page = test::data_of(handout_html(test::draft_capture(), options));
  REQUIRE(page["panes"].size() == options.panels.size());
  for (const json& pane : page["panes"])
    for (std::size_t i = 0; i < 3; ++i) {
      CAPTURE(pane["name"].get<std::string>());
      CHECK_FALSE(pane["pictures"][i].empty());
      CHECK(test::texts_of(page, pane, i).find("F10") == std::string::npos);
    }
}

TEST_CASE("handout: what cannot be a page is refused") {
  const auto refused = [](const HandoutOptions& options) {
    return test::refusal(ErrorCode::kInvalidArgument,
                         [&] { handout_html(test::beam_capture(), options); });
  };
  CHECK(refused({.panels = {"tire"}}).ends_with("; did you mean trie?"));
  CHECK(refused({.panels = {"text", "text"}}) ==
        "--panel: expected every panel once; found text twice");
  CHECK(refused({.panels = {}, .steps = {{900, 901}}})
            .ends_with(": expected steps to show, found none in this range"));
}

TEST_CASE("handout: texts of a capture are data, never markup") {
  const auto opened = test::make_capture([](capture::Recorder& recorder) {
    capture::RunInfo info =
        test::synthetic_info(2, "greedy", "</title><script>alert(1)</script>", "recycle");
    info.prompt_text = "</script><img src=x onerror=alert(1)>\xE2\x80\xA8\"'&\xFF";
    info.model_json = R"({"name":"<b>&\"</b>"})";
    recorder.write({.run = info});
    recorder.write({.pieces = {{0, "</script>"}, {1, "<!--"}}});
    recorder.write({.nodes = {{.logprob = 0, .score = 0}}});
    capture::NodeRow node{.node = 1, .parent = 0, .token = 0, .depth = 1, .logprob = -1};
    node.score = -1;
    node.tick = capture::make_tick(0, capture::Phase::kAccept);
    recorder.write({.nodes = {node}});
    for (capture::Tick tick = 0; tick < capture::kPhaseCount; ++tick)
      recorder.write({.phases = {{.tick = tick}}});
    recorder.write({.steps = {{.step = 0}}});
  });
  const std::string page = handout_html(*opened->capture, {.panels = {"trie", "text"}});
  std::size_t scripts = 0;
  for (auto at = page.find("<script"); at != std::string::npos; at = page.find("<script", at + 1))
    ++scripts;
  CHECK(scripts == 2);
  CHECK(page.find("<img") == std::string::npos);
  CHECK(page.find("<b>") == std::string::npos);
  CHECK(page.find("<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>") !=
        std::string::npos);
  const json data = test::data_of(page);
  CHECK(data["prompt"].get<std::string>().starts_with("</script><img src=x onerror=alert(1)>"));
  CHECK(data["title"] == "</title><script>alert(1)</script>");
  CHECK(test::texts_of(data, data["panes"][0], 0).find("</script>") != std::string::npos);
}

TEST_CASE("handout: the page's policy lets its own style and script run and fetches nothing") {
  const std::string page =
      handout_html(test::beam_capture(), {.panels = {"text"}, .steps = {{0, 1}}});
  const std::string policy =
      test::between(page, "<meta http-equiv=\"Content-Security-Policy\" content=\"", "\"");
  CHECK(policy.starts_with(
      "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"));
  CHECK(policy.find("unsafe") == std::string::npos);
  CHECK(policy.find("script-src 'sha256-") != std::string::npos);
  for (const char* word : {"http://", "https://", "src=", "@import", "url(http", "fetch("}) {
    CAPTURE(word);
    // The name of SVG's namespace is not an address from which anything is fetched.
    std::string rest = page;
    for (const std::string name : {"http://www.w3.org/2000/svg"})
      if (const auto at = rest.find(name); at != std::string::npos) rest.erase(at, name.size());
    CHECK(rest.find(word) == std::string::npos);
  }
  CHECK(page.find("{{") == std::string::npos);
}

TEST_CASE("handout: 200 steps with forty drafts each stay below 10 MB") {
  // Lookahead makes such runs: some forty rows a forward, whose columns grow with the text.
  const auto opened = test::make_capture([](capture::Recorder& recorder) {
    test::record_drafts(recorder, 200, 60, /*stochastic=*/false, /*rivals=*/40);
  });
  const std::string page = handout_html(*opened->capture, {});
  const std::string data =
      test::unpacked(test::between(page, "<script type=\"text/plain\" id=\"run\">", "</script>"));
  CHECK(data.size() > 10'000'000);  // the page would be too large without packing
  CHECK(page.size() < 10'000'000);
  const json run = json::parse(data);
  CHECK(run["steps"].size() == 200);
  for (const json& pane : run["panes"]) CHECK(pane["pictures"].size() == 200);
}

TEST_CASE("handout: packed data come back whole, in letters that a script element may hold") {
  std::string numbers = "[";
  for (int i = 0; i < 20000; ++i) numbers += std::to_string(i % 97) + ",";
  for (const std::string& data : {std::string(), std::string("{}"),
                                  std::string("</script><!--\xE2\x80\xA8\0é", 20), numbers}) {
    const std::string packed = packed_data(data);
    CHECK(test::unpacked(packed) == data);
    CHECK(packed.find_first_not_of(
              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") ==
          std::string::npos);
  }
  CHECK(packed_data(numbers).size() < numbers.size() / 20);
}

TEST_CASE("handout: the file is the page, whole, and progress reaches its end") {
  test::TempDir folder;
  const std::string path = (folder.path() / "run.html").string();
  double last = 0, total = 0;
  const HandoutOptions options{.panels = {"text"}, .steps = {{0, 4}}};
  export_handout(test::beam_capture(), path, options,
                 [&](const std::string&, double done, double all) {
                   CHECK(done == last + 1);
                   last = done;
                   total = all;
                 });
  CHECK(total == 10);
  CHECK(last == total);
  std::ifstream file(path, std::ios::binary);
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  CHECK(written == handout_html(test::beam_capture(), options));
  CHECK_THROWS_AS(export_handout(test::beam_capture(), "/nowhere/run.html", options), Error);
}

}  // namespace test_handout

#include "lessons/check_lesson.h"

#include "tests/support/sql.h"
#include "tests/unit/lessons/lesson_run.h"

namespace test_check_lesson {

using namespace triescope;
using namespace triescope::test;
using namespace triescope::lessons;

namespace {

const std::string kPrompt = "Once upon a time there was a dog. The dog had a ball. The dog";
// 9 lines; the body begins in line 10, which begins its only step.
const std::string kHead =
    "---\ntitle: T\nsummary: S\nminutes: 5\nmethod: beam\nprompt: " + kPrompt +
    "\nmax_new_tokens: 12\nseed: 7\n---\n";
const std::string kStep = "## S\n```do\ncursor 3\n```\n";

// "LINE: TEXT" of each, a line each.
std::string findings_of(const std::string& text) {
  const Lesson lesson = read_lesson(text, "a.md");
  std::string said;
  for (const Finding& one :
       check_lesson(lesson, lesson_run(), {"trie", "kv", "mask"}, {"a.md", "other.md"}))
    said += std::to_string(one.line) + ": " + one.text + "\n";
  return said;
}
std::string said(const std::string& body) { return findings_of(kHead + kStep + body); }
std::string lines(std::initializer_list<std::string> lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("check: a lesson that holds has nothing to say") {
  CHECK(said("`= kv_live(3)` [a](<ts:node/{node(best, 3)}>) [b](ts:step/3/accept) [c](ts:slot/25) "
             "[d](ts:panel/mask) [e](other.md) [f](https://example.org)\n\n"
             "```predict\nHow many?\n- 48\n- 19\nanswer: kv_live(3)\nexpect: 19\n```\n"
             "```check\nGo back, look at the slots.\nwhen: cursor = 2 and shown('kv') and focus = "
             "7\nshow: cursor 2\nshow: lock 7\nshow: panels trie kv\n```\n") == "");
}

TEST_CASE("check: the run must be the one that the front matter tells of") {
  CHECK(
      findings_of("---\ntitle: T\nsummary: S\nminutes: 5\nmethod: greedy\nprompt: Once\nseed: 8\n"
                  "---\n" +
                  kStep) ==
      lines({"1: the front matter has method greedy; the run was decoded by beam: record it again",
             "1: the run has another prompt than the front matter: record it again",
             "1: the front matter has seed 8; the run has 7: record it again",
             "1: the front matter has max_new_tokens 16; the run has 12: record it again"}));
}

TEST_CASE(
    "check: of a run of another program only what its recorder says is held against the run") {
  const std::string head =
      "---\ntitle: T\nsummary: S\nminutes: 5\nmethod: beam\nprompt: " + kPrompt +
      "\ncapture: a.tscap\nprogram: decoder.py\n---\n";
  CHECK(findings_of(head + kStep) == "");
  CHECK(findings_of("---\ntitle: T\nsummary: S\nminutes: 5\nmethod: mine\nprompt: Once\n"
                    "capture: a.tscap\nprogram: decoder.py\n---\n" +
                    kStep) ==
        lines({"1: the front matter has method mine; the run was decoded by beam: record it again",
               "1: the run has another prompt than the front matter: record it again"}));
}

TEST_CASE("check: another capture beside the run is a file of the lesson's folder") {
  CHECK(said("```do\nbeside other.tscap\n```\n") == "");
  CHECK(
      said("```do\nbeside ../other.tscap\n```\n") ==
      "15: beside: expected the name of a .tscap file in the lesson's own folder, without a path; "
      "found '../other.tscap'\n");
  CHECK(said("```do\nbeside a.tscap b.tscap\n```\n") ==
        "15: beside: expected NAME.tscap; found 'a.tscap b.tscap'\n");
}

TEST_CASE("check: every step says where the cursor stands") {
  CHECK(findings_of(kHead + "## S\ntext\n") ==
        lines({"10: the step 'S' has no `cursor` in a do block: it would show whatever the step "
               "before left behind"}));
}

TEST_CASE("check: steps, phases, nodes, slots, panels and lessons must be there") {
  CHECK(
      said("[a](ts:node/37)\n[b](ts:step/99)\n[c](ts:step/3/acept)\n[d](ts:slot/99)\n"
           "[e](ts:panel/maks)\n[f](othr.md)\n`= kv_live(99)`\n`= kv_live`\n") ==
      lines({"14: there is no node 37; the run has nodes 0 to 36, and -2 to -14 for the prompt's "
             "tokens",
             "15: there is no step 99; the run has steps 0 to 11",
             "16: expected draft, forward, accept, commit or observe; found 'acept'; did you mean "
             "accept?",
             "17: there is no slot 99; the run has slots 0 to 28",
             "18: there is no panel 'maks'; did you mean mask?",
             "19: there is no lesson 'othr.md' beside this one; did you mean other.md?",
             "20: column 2: there is no step 99; the run has steps 0 to 11",
             "21: ' kv_live' is not a number, a text or a truth"}));
}

TEST_CASE("check: do lines are performed") {
  CHECK(
      said(
          "```do\ncursor 12\ncursor 13\ncursor 3 now\ncursor 1 2 3\nlock -14\nlock -15\nlock x\n"
          "panels trie kv mask\npanels trie kv mask trie\nrange 0 11\nrange 3\nrange all\n```\n") ==
      lines({"16: there is no step 13; the run has steps 0 to 11",
             "17: expected draft, forward, accept, commit or observe; found 'now'",
             "18: cursor: expected STEP [draft|forward|accept|commit|observe]; found '1 2 3'",
             "20: there is no node -15; the run has nodes 0 to 36, and -2 to -14 for the prompt's "
             "tokens",
             "21: expected a node; found 'x'",
             "23: panels: expected NAME [NAME [NAME]]; found 'trie kv mask trie'",
             "25: range: expected FIRST LAST | all; found '3'"}));
}

TEST_CASE("check: an experiment must come to probabilities in this run") {
  const auto experiment = [](const std::string& p) {
    return "```experiment\nMany {kv_live(3)}\n- {token(best, 3)} := " + p +
           " | 1\n- b := 1 | 1\nrule: chain\n```\n";
  };
  CHECK(said(experiment("kv_live(3)")) == "");
  CHECK(said(experiment("kv_live(99)")) ==
        lines({"15: column 1: there is no step 99; the run has steps 0 to 11"}));
  CHECK(said(experiment("1 - 3")) ==
        lines({"15: experiment: expected a probability, 0 or more; found -2"}));
}

TEST_CASE("check: a run that is started names its settings") {
  CHECK(said("```do\nrun kv=keep seed={kv_live(3)}\n```\n") == "");
  CHECK(said("```do\nset-up kv\n```\n```do\nrun =3\n```\n```do\nrun kv=\n```\n") ==
        lines({"15: expected NAME=VALUE, a setting that is another one than the lesson's run has; "
               "found 'kv'",
               "18: expected NAME=VALUE, a setting that is another one than the lesson's run has; "
               "found '=3'",
               "21: expected NAME=VALUE, a setting that is another one than the lesson's run has; "
               "found 'kv='"}));
}

TEST_CASE("check: an answer must be one of the choices, once, and what the author expects") {
  CHECK(said("```predict\nWhat?\n- 1\n- 2\nanswer: kv_live(3)\n```\n") ==
        lines({"18: the answer is 19, which is none of the choices"}));
  CHECK(said("```predict\nWhat?\n- 19\n- same := kv_live(3)\nanswer: kv_live(3)\n```\n") ==
        lines({"18: the answer is 19, and two of the choices stand for it"}));
  CHECK(said("```predict\nWhat?\n- 19\n- 2\nanswer: kv_live(3)\nexpect: 20\n```\n") ==
        lines({"19: the answer moved: expected 20; the run says 19"}));
  CHECK(said("```predict\nWhat?\nanswer: token(best, 3)\n```\n") ==
        lines({"16: a question without choices asks for a number; its answer is 'together'"}));
  CHECK(said("```predict\nWhich?\n- Spot\n- together\nanswer: token(best, 3)\nexpect: "
             "'together'\n```\n") == "");
  CHECK(said("```predict\nIs it?\n- Yes := true\n- No := false\nanswer: kv_live(3) > 20\n```\n") ==
        lines({}));
}

TEST_CASE("check: a task is open before, and met after what is shown") {
  CHECK(said("```check\nStay.\nwhen: cursor = 3\nshow: cursor 3\n```\n") ==
        lines({"16: the task is met before anything was done"}));
  CHECK(said("```check\nGo.\nwhen: cursor = 5\nshow: cursor 4\n```\n") ==
        lines({"16: what `show` does is not what `when` asks for"}));
  CHECK(said("```check\nGo.\nwhen: phase = 'accept'\nshow: cursor 4 accept\n```\n") == "");
}

TEST_CASE("check: an answer says which choice it is") {
  const Lesson lesson = read_lesson(
      kHead + kStep + "```predict\nWhich?\n- Spot\n- together\nanswer: token(best, 3)\n```\n",
      "a.md");
  const Answer answer = answer_of(std::get<Predict>(lesson.steps[0].pieces[1]), {lesson_run()});
  CHECK(answer.choice == 1);
  CHECK(std::get<std::string>(answer.value) == "together");
}

TEST_CASE("check: answers that differ between two runs are told") {
  const Lesson lesson =
      read_lesson(kHead + kStep +
                      "```predict\nHow many?\nanswer: total(drafted)\n```\n```predict\nHow "
                      "many?\nanswer: 7\n```\n",
                  "a.md");
  CHECK(moved_answers(lesson, lesson_run(), lesson_run()).empty());
  const auto moved = moved_answers(lesson, lesson_run(), drafted_run());
  REQUIRE(moved.size() == 1);
  CHECK(moved[0].line == 16);
  CHECK(moved[0].text.starts_with("the answer moved: it was 0, and is now "));
}

// Another processor adds up in another order.
TEST_CASE("check: an answer's last digits may differ between two runs, a count may not") {
  const auto run = [](const TempDir& folder, double more, const char* count) {
    const std::string path = copy_of_capture("self_beam", folder);
    for (const char* const table : {"node", "node_score"})
      run_sql(path, std::string("UPDATE ") + table + " SET logprob = logprob * (1 + " +
                        std::to_string(more) + ")");
    run_sql(path, std::string("UPDATE memory SET live = live + ") + count);
    return capture::Capture::open(path);
  };
  const Lesson lesson = read_lesson(
      kHead + kStep +
          "```predict\nHow likely?\nanswer: p(best, 3)\n```\n```predict\nHow many?\nanswer: "
          "kv_live(3)\n```\n",
      "a.md");
  const auto lines = [&](double more, const char* count) {
    const TempDir before, now;
    std::vector<int> moved;
    for (const Finding& finding :
         moved_answers(lesson, *run(before, 0, "0"), *run(now, more, count)))
      moved.push_back(finding.line);
    return moved;
  };
  CHECK(lines(0.00002, "0").empty());
  CHECK(lines(0.002, "0") == std::vector{16});
  CHECK(lines(0.00002, "1") == std::vector{20});
}

}  // namespace test_check_lesson

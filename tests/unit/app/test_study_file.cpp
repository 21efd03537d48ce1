// What a study's file asks for, and how it is refused.
#include <doctest/doctest.h>

#include "app/study/study_plan.h"
#include "tests/support/refusal.h"
#include "tests/unit/app/study_rig.h"

namespace triescope::app::test_study_file {
namespace {

using nlohmann::json;

TEST_CASE_FIXTURE(StudyRig, "study file: what it says is read, and the rest has its default") {
  const StudyFile study = read(kSmallStudy);
  CHECK(study.title == "Lookup against greedy");
  CHECK(study.models == std::vector<std::string>{model});
  CHECK(study.max_new_tokens == std::vector<int>{12});
  CHECK(study.repeats == 2);
  CHECK(study.threads == 1);
  CHECK(study.seeds == std::vector<std::uint64_t>{0});
  CHECK(study.captures == capture::Level::kTree);
  CHECK(study.baseline == "greedy");
  REQUIRE(study.methods.size() == 2);
  CHECK(study.methods[0].name == "greedy");
  CHECK(study.methods[0].settings[0].values == std::vector<json>{json::array({-1})});
  CHECK(study.methods[1].name == "lookup");
  CHECK(study.methods[1].method == "prompt_lookup");
  CHECK(study.methods[1].settings[1].name == "prompt_lookup_num_tokens");
  CHECK(study.methods[1].settings[1].values == std::vector<json>{2, 4});
  REQUIRE(study.prompts.size() == 2);
  CHECK(study.prompts[0].category == "letters");
  CHECK(study.prompts[0].id == 1);
  CHECK(study.prompts[1].text == "XYXYXY");
  CHECK(study.prompts[1].id == 2);
}

TEST_CASE_FIXTURE(StudyRig, "study file: a list of lists sweeps a parameter that takes a list") {
  const StudyFile study = read(R"toml(
[[method]]
method = "greedy"
set = { eos_token_id = [[1, 2], [3]] }
[[prompts]]
text = "A"
)toml");
  CHECK(study.methods[0].settings[0].values ==
        std::vector<json>{json::array({1, 2}), json::array({3})});
}

TEST_CASE_FIXTURE(StudyRig, "study file: prompts are chosen by category and number") {
  std::ofstream(folder.path() / "questions.jsonl")
      << R"({"question_id": 81, "category": "qa", "turns": ["one"]})"
      << "\n"
      << R"({"question_id": 82, "category": "qa", "turns": ["two"]})"
      << "\n"
      << R"({"question_id": 83, "category": "rag", "turns": ["three"]})"
      << "\n";
  const auto chosen = [&](const std::string& more) {
    std::string texts;
    for (const BenchPrompt& prompt :
         read("[[method]]\nmethod = 'greedy'\n[[prompts]]\nfile = 'questions.jsonl'\n" + more)
             .prompts)
      texts += prompt.text + std::to_string(prompt.id) + " ";
    return texts;
  };
  CHECK(chosen("") == "one81 two82 three83 ");
  CHECK(chosen("categories = 'qa'") == "one81 two82 ");
  CHECK(chosen("per_category = 1") == "one81 three83 ");
  CHECK(chosen("numbers = [83, 81]") == "one81 three83 ");
  const auto said = [&](const std::string& more) {
    return test::refusal(ErrorCode::kCorruption, [&] { chosen(more); });
  };
  CHECK(test::has(said("categories = ['qas']"),
                  "study.toml:5:14: categories: no prompt of the file is of 'qas'; did you mean "
                  "qa?; it has qa, rag"));
  CHECK(test::has(said("numbers = [84]"), ":5:11: numbers: the file has no prompt 84"));
  CHECK(test::has(said("numbers = [83]\ncategories = ['qa']"), "no prompt is of these categories"));
}

TEST_CASE_FIXTURE(StudyRig, "study file: a prompt may be a conversation, or several") {
  std::ofstream(folder.path() / "one.json")
      << R"([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])";
  std::ofstream(folder.path() / "two.json")
      << R"({"messages": [{"role": "user", "content": "A"}, {"role": "assistant", "content": "B"},
             {"role": "user", "content": "C"}], "chat_template": "{{ messages[0].content }}"})";
  std::ofstream(folder.path() / "answered.json")
      << R"([{"role": "user", "content": "A"}, {"role": "assistant", "content": "B"}])";
  const std::string greedy = "[[method]]\nmethod = 'greedy'\n[[prompts]]\n";
  const StudyFile study = read(greedy +
                               "messages = ['one.json', 'two.json']\ncategory = 'talk'\n"
                               "[[prompts]]\ntext = 'plain'\n");
  REQUIRE(study.prompts.size() == 3);
  CHECK(study.prompts[0].text == "Hi");
  CHECK(study.prompts[0].category == "talk");
  CHECK(study.prompts[1].text == "C");
  CHECK(study.prompts[1].id == 2);
  CHECK_FALSE(study.prompts[2].conversation);
  const std::vector<StudyRun> runs = study_runs(study);
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].request.chat);
  CHECK(runs[0].request.system == "Be brief.");
  CHECK(runs[0].request.prompt == "Hi");
  CHECK(runs[1].request.turns.size() == 2);
  CHECK(runs[1].request.chat_template == "{{ messages[0].content }}");
  CHECK_FALSE(runs[2].request.chat);
  const auto said = [&](const std::string& text) {
    return test::refusal(ErrorCode::kCorruption, [&] { read(greedy + text); });
  };
  CHECK(test::has(said("messages = 'none.json'\n"), "4:12: messages: "));
  CHECK(test::has(said("messages = 'answered.json'\n"),
                  "expected the last message to be the user's or a tool's"));
  CHECK(test::has(said("messages = 'one.json'\nper_category = 2\n"),
                  "5:16: per_category: goes with 'file'"));
  CHECK(test::has(said("messages = 'one.json'\nnumbers = 2\n"), "5:11: numbers: goes with"));
}

TEST_CASE_FIXTURE(StudyRig, "study file: a refusal names line and column, and what was meant") {
  const auto said = [&](const std::string& text) {
    const std::string message = test::refusal(ErrorCode::kCorruption, [&] { read(text); });
    const std::size_t at = message.find("study.toml:");
    return at == std::string::npos ? message : message.substr(at + 11);
  };
  const std::string prompt = "[[prompts]]\ntext = 'A'\n",
                    greedy = "[[method]]\nmethod = 'greedy'\n";
  CHECK(test::has(said("[study\n"), "1:7: "));
  CHECK(said("[project]\nname = 'x'\n") ==
        "1:2: a study has no key 'project'; expected one of: study, method, prompts");
  CHECK(said("[study]\nmodles = ['x']\n" + greedy + prompt) ==
        "2:1: [study] has no key 'modles'; did you mean models?; expected one of: title, models, "
        "device, dtype, kv_dtype, threads, chat, system, max_new_tokens, seeds, repeats, captures, "
        "baseline");
  CHECK(said(prompt) ==
        "1:1: expected at least one [[method]], found none: a study says what runs");
  CHECK(test::has(said(greedy), "expected at least one [[prompts]]"));
  CHECK(test::has(said("[[method]]\nmethod = 'gredy'\n" + prompt), "2:10: method: "));
  CHECK(test::has(said("[[method]]\nmethod = 'gredy'\n" + prompt), "did you mean greedy?"));
  CHECK(
      test::has(said("[[method]]\nmethod = 'beam'\nset = { num_beam = 3 }\n" + prompt), "3:20: "));
  CHECK(test::has(said("[[method]]\nmethod = 'beam'\nset = { num_beam = 3 }\n" + prompt),
                  "did you mean num_beams?"));
  CHECK(test::has(said("[[method]]\nmethod = 'beam'\nset = { num_beams = [3, 0] }\n" + prompt),
                  "3:25: "));
  CHECK(test::has(said("[[method]]\nmethod = 'beam'\nset = { num_beams = [3, 3] }\n" + prompt),
                  "3:25: num_beams: 3 is there twice"));
  CHECK(test::has(said(greedy + greedy + prompt), "3:1: two [[method]] are called 'greedy'"));
  CHECK(said("[study]\nrepeats = 0\n" + greedy + prompt) ==
        "2:11: repeats: expected a whole number from 1 to 1000, found 0");
  CHECK(said("[study]\nchat = 'yes'\n" + greedy + prompt) ==
        "2:8: chat: expected true or false, found the text \"yes\"");
  CHECK(said("[study]\ncaptures = 'all'\n" + greedy + prompt) ==
        "2:12: captures: expected off, steps, tree or full, found 'all'");
  CHECK(said("[study]\nbaseline = 'plain'\n" + greedy + prompt) ==
        "2:12: baseline: no [[method]] is called 'plain'");
  CHECK(said("[study]\nsystem = 'Be brief.'\n" + greedy + prompt) ==
        "2:10: system: a system prompt is part of a chat: expected chat = true");
  CHECK(said(greedy + "draft = 'x'\n" + prompt) ==
        "3:9: draft: method greedy takes no draft model or head");
  CHECK(test::has(said(greedy + "[[prompts]]\ntext = 'A'\nfile = 'b'\n"),
                  "3:1: [[prompts]]: expected one of 'text', 'messages' and 'file'"));
  CHECK(test::has(said(greedy + "[[prompts]]\nfile = 'none.jsonl'\n"), "4:8: file: "));
}

}  // namespace
}  // namespace triescope::app::test_study_file

#include "lessons/lesson.h"

#include "tests/unit/lessons/lesson_run.h"

namespace test_read_lesson {

using namespace triescope;
using namespace triescope::test;
using namespace triescope::lessons;

namespace {

// 7 lines; the body begins in line 8.
const std::string kHead =
    "---\ntitle: A title\nsummary: What it is about\nminutes: 5\nmethod: beam\nprompt: Once\n---\n";

Lesson read(const std::string& body) { return read_lesson(kHead + body, "a.md"); }
std::string refused_lesson(const std::string& text) {
  return refusal(ErrorCode::kCorruption, [&] { read_lesson(text, "a.md"); });
}
std::string refused_body(const std::string& body) { return refused_lesson(kHead + body); }

TEST_CASE("lesson: questions, choices and tasks are Markdown; what compares them has no marks") {
  const Lesson lesson = read(
      "## A\n```predict\nDo *all* of {kv_live(3)} hold `x`, and `{kv_live(3)}`?\n- **no**\n- 2 * 3 * 4\n"
      "- `yes` := true\n- := false\nanswer: true\n```\n```check\n1. Go to _step_ 2, "
      "[there](ts:panel/mask).\nwhen: cursor = 2\nshow: cursor 2\n```\n");
  const Predict& predict = std::get<Predict>(lesson.steps[0].pieces[0]);
  const auto shown = [](const Marked& marked) {
    std::string all;
    for (const Span& span : marked.block.spans)
      all += std::string(span.strong ? "S" : "") + (span.emphasis ? "E" : "") +
             (span.code ? "C" : "") + (span.link ? "L" : "") +
             (span.expression ? "=" + std::string(span.expression->text()) : span.text) + "|";
    return all;
  };
  CHECK(shown(predict.question) == "Do |Eall| of |=kv_live(3)| hold |Cx|, and |C=kv_live(3)|?|");
  CHECK(phrase(predict.question, {lesson_run()}, value_text) == "Do all of 19 hold x, and 19?");
  CHECK(shown(predict.choices[0].text) == "Sno|");
  CHECK(phrase(predict.choices[0].text, {lesson_run()}, value_text) == "no");
  CHECK(shown(predict.choices[1].text) == "2 * 3 * 4|");
  CHECK(shown(predict.choices[2].text) == "Cyes|");
  CHECK(shown(predict.choices[3].text) == "=false|");
  CHECK(predict.choices[3].text.pieces.empty());
  const Task& task = std::get<Task>(lesson.steps[0].pieces[1]);
  CHECK(shown(task.text) == "1. Go to |Estep| 2, |Lthere|.|");
  CHECK(task.text.block.kind == Block::Kind::kParagraph);
}

TEST_CASE(
    "lesson: a line of Markdown begins no list, quote, heading or rule, and keeps every expression") {
  for (const char* const text :
       {"- a", "> a", "# a", "1. a", "***", "| a | b |", "    a", "<b>a</b>"}) {
    CAPTURE(text);
    const Marked marked = read_marked(text, "a.md", 3);
    std::string all;
    for (const Span& span : marked.block.spans) all += span.text;
    CHECK(all == text);
    CHECK(phrase(marked, {lesson_run()}, value_text) == text);
  }
  CHECK(phrase(read_marked("*{steps}* {steps} **{steps}**{steps}", "a.md", 3), {lesson_run()},
               value_text) == phrase(read_marked("{steps} {steps} {steps}{steps}", "a.md", 3),
                                     {lesson_run()}, value_text));
  CHECK(read_marked("", "a.md", 3).pieces.empty());
  for (const auto& [text, message] :
       {std::pair{"a {", "a.md:3: "},
        {"a ![b](c.png)", "a.md:3: expected text; found a picture"},
        {"[a](ts:node/{steps})", "a.md:3: link: expected an address without an expression"},
        {"[a](b)", "a.md:3: link: expected ts:step/"}}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(read_marked(text, "a.md", 3), doctest::Contains(message), Error);
  }
}

}  // namespace

TEST_CASE("front matter: every key is read") {
  const Lesson lesson = read_lesson(
      "---\n# a remark\ntitle: T\nsummary: \"quoted: \\\"x\\\"\\n\\\\\"\nminutes: 8\n"
      "capture: run.tscap\nmodel: tiny\ndraft: tinier\nmethod: beam\nset: num_beams=3\nset: kv=keep\n"
      "prompt: Once: upon\nchat: on\nmax_new_tokens: 24\nseed: 7\nnext: other.md\n---\n## S\nx\n",
      "a.md");
  const FrontMatter& about = lesson.about;
  CHECK(about.title == "T");
  CHECK(about.summary == "quoted: \"x\"\n\\");
  CHECK(about.minutes == 8);
  CHECK(about.capture == "run.tscap");
  CHECK(about.model == "tiny");
  CHECK(about.draft == "tinier");
  CHECK(about.method == "beam");
  CHECK(about.settings == std::map<std::string, std::string>{{"num_beams", "3"}, {"kv", "keep"}});
  CHECK(about.prompt == "Once: upon");
  CHECK(about.chat);
  CHECK(about.max_new_tokens == 24);
  CHECK(about.seed == 7);
  CHECK(about.next == "other.md");
}

TEST_CASE("front matter: what is wrong is said with its line") {
  CHECK(refused_lesson("# Title\n") ==
        "a.md:1: expected a lesson, which begins with '---'; `triescope lesson new FILE` writes "
        "one to start from");
  CHECK(refused_lesson("---\ntitle: x\n") == "a.md:3: expected '---' to end the front matter");
  CHECK(
      refused_lesson("---\ntitel: x\n---\n") ==
      "a.md:2: expected one of title, summary, minutes, capture, model, draft, method, program, set, prompt, "
      "chat, max_new_tokens, seed, next; found 'titel'; did you mean title?");
  CHECK(refused_lesson("---\ntitle\n---\n") == "a.md:2: expected KEY: VALUE; found 'title'");
  CHECK(refused_lesson("---\nminutes: 0\n---\n") ==
        "a.md:2: minutes: expected a number from 1 to 240; found '0'");
  CHECK(refused_lesson("---\ntitle: x\nsummary: y\n---\n") ==
        "a.md:4: expected title, summary and minutes in the front matter; there is no minutes");
  CHECK(refused_lesson("---\ntitle: x\nsummary: y\nminutes: 3\nmethod: beam\n---\n") ==
        "a.md:6: expected method and prompt in the front matter, of the run that the lesson is "
        "about; there is no prompt");
  CHECK(refused_lesson("---\nprompt: \"x\n---\n") == "a.md:2: prompt: expected a closing quote");
  CHECK(refused_lesson("---\nset: x\n---\n") == "a.md:2: set: expected name=value; found 'x'");
  CHECK(refused_lesson("---\nchat: yes\n---\n") == "a.md:2: chat: expected on or off; found 'yes'");
}

TEST_CASE("front matter: no path leads out of the lesson's folder") {
  for (const char* const name : {"../run.tscap", "/etc/run.tscap", "a/run.tscap", ".run.tscap",
                                 "a..tscap", "run.txt", "a\\run.tscap", "~run.tscap"})
    CHECK(refused_lesson(std::string("---\ncapture: ") + name + "\n---\n") ==
          std::string("a.md:2: capture: expected the name of a .tscap file in the lesson's own "
                      "folder, without a path; found '") +
              name + "'");
  CHECK(refused_lesson("---\nmodel: /models/x.gguf\n---\n") ==
        "a.md:2: model: expected a short name (`triescope info --list`), not a path; found "
        "'/models/x.gguf'");
  CHECK(is_plain_file_name("beam-trie_2.tscap"));
  CHECK_FALSE(is_plain_file_name(std::string(101, 'a')));
}

TEST_CASE("lesson: steps begin at ## and hold text, actions, questions, tasks and notes") {
  const Lesson lesson = read(
      "## First *step*\nHello **you** and `= kv_live(3)`.\n\n```do\ncursor 3 accept\n# remark\nlock "
      "{node(best, 3)}\n```\n\n> notes: say it slowly\n\n> a quote\n\n## Second\n"
      "```predict\nHow many of {kv_live(3)}\nslots?\n- 19\n- as a batch := kv_batch(3)\nanswer: kv_live(3)\n"
      "expect: 19\n```\n```check\nGo to step 2.\nwhen: cursor = 2\nshow: cursor 2\n```\n");
  REQUIRE(lesson.steps.size() == 2);
  const Step& first = lesson.steps[0];
  CHECK(first.title == "First step");
  CHECK(first.line == 8);
  REQUIRE(first.pieces.size() == 4);
  const Block& text = std::get<Block>(first.pieces[0]);
  REQUIRE(text.spans.size() == 5);
  CHECK(text.line == 9);
  CHECK(text.spans[0].text == "Hello ");
  CHECK(text.spans[1].text == "you");
  CHECK(text.spans[1].strong);
  CHECK_FALSE(text.spans[2].strong);
  REQUIRE(text.spans[3].expression);
  CHECK(text.spans[3].expression->text() == " kv_live(3)");
  CHECK(text.spans[4].text == ".");
  const auto& actions = std::get<std::vector<Action>>(first.pieces[1]);
  REQUIRE(actions.size() == 2);
  CHECK(actions[0].verb == "cursor");
  CHECK(actions[0].line == 12);
  CHECK(actions[1].line == 14);
  CHECK(fill(actions[1].argument, {lesson_run()}) == "10");
  CHECK(std::get<Notes>(first.pieces[2]).blocks[0].spans[0].text == "say it slowly");
  CHECK(std::get<Block>(first.pieces[3]).kind == Block::Kind::kQuote);
  const Step& second = lesson.steps[1];
  REQUIRE(second.pieces.size() == 2);
  const Predict& predict = std::get<Predict>(second.pieces[0]);
  CHECK(phrase(predict.question, {lesson_run()}, value_text) == "How many of 19 slots?");
  REQUIRE(predict.choices.size() == 2);
  CHECK(phrase(predict.choices[0].text, {lesson_run()}, value_text) == "19");
  CHECK_FALSE(predict.choices[0].value);
  CHECK(phrase(predict.choices[1].text, {lesson_run()}, value_text) == "as a batch");
  REQUIRE(predict.choices[1].value);
  CHECK(predict.answer.expression.text() == "kv_live(3)");
  CHECK(predict.answer.line == 27);
  CHECK(predict.expected->line == 28);
  const Task& task = std::get<Task>(second.pieces[1]);
  CHECK(phrase(task.text, {lesson_run()}, value_text) == "Go to step 2.");
  CHECK(task.when.expression.text() == "cursor = 2");
  REQUIRE(task.show.size() == 1);
  CHECK(task.show[0].line == 33);
}

TEST_CASE("lesson: lists, tables, code and links") {
  const Lesson lesson = read(
      "## S\n3. three\n4. four\n   - inner `code`\n\n| a | b |\n|---|---|\n| 1 | [x](ts:node/7) |\n\n"
      "```\nplain & code\n```\n[s](ts:step/3/accept) [k](ts:slot/{kv_live(3)}) "
      "[p](ts:panel/mask) [o](other.md) [w](https://example.org/a_b)\n\n---\n");
  const auto& pieces = lesson.steps[0].pieces;
  REQUIRE(pieces.size() == 5);
  const Block& list = std::get<Block>(pieces[0]);
  REQUIRE(list.blocks.size() == 2);
  CHECK(list.blocks[0].number == 3);
  CHECK(list.blocks[1].number == 4);
  REQUIRE(list.blocks[1].blocks.size() == 2);
  CHECK(list.blocks[1].blocks[0].spans[0].text == "four");
  const Block& inner = list.blocks[1].blocks[1].blocks[0];
  CHECK(inner.number == 0);
  CHECK(inner.blocks[0].spans[1].code);
  const Block& table = std::get<Block>(pieces[1]);
  REQUIRE(table.blocks.size() == 2);
  CHECK(table.blocks[0].header);
  CHECK_FALSE(table.blocks[1].header);
  const Span& cell = table.blocks[1].blocks[1].spans[0];
  CHECK(cell.text == "x");
  REQUIRE(cell.link);
  CHECK(cell.link->kind == Link::Kind::kNode);
  CHECK(std::get<Block>(pieces[2]).text == "plain & code\n");
  const Block& links = std::get<Block>(pieces[3]);
  std::vector<std::string> targets;
  for (const Span& span : links.spans)
    if (span.link) targets.push_back(fill(span.link->target, {lesson_run()}));
  CHECK(targets ==
        std::vector<std::string>{"3/accept", "19", "mask", "other.md", "https://example.org/a_b"});
  CHECK(std::get<Block>(pieces[4]).kind == Block::Kind::kRule);
}

TEST_CASE("lesson: what is wrong is said with its line") {
  CHECK(refused_body("") == "a.md: expected at least one step, which begins with '## Title'");
  CHECK(refused_body("\ntext\n## S\n") ==
        "a.md:9: expected '## Title', which begins the first step; found something else before it");
  CHECK(refused_body("## S\nx\n\n`= kv_live(`\n") ==
        "a.md:11: column 10: expected a number, a text, a name or '('; found the end");
  CHECK(refused_body("## S\n[x](ts:nod/7)\n") ==
        "a.md:9: link: expected ts:step/…, ts:node/…, ts:slot/…, ts:panel/…, a lesson's file name "
        "(other.md) or an https address; found 'ts:nod/7'");
  CHECK(refused_body("## S\n\nx\n[x](ts:node/{node(best, 3)})\n") ==
        "a.md:11: link: expected an address without spaces, or one in angle brackets, "
        "[text](<ts:node/{node(best, 3)}>); found one with spaces");
  CHECK_NOTHROW(read("## S\n[x](<ts:node/{node(best, 3)}>)\n"));
  CHECK(refused_body("## S\n[x](../other.md)\n").starts_with("a.md:9: link: expected"));
  CHECK(refused_body("## S\n[x](file:///etc/passwd)\n").starts_with("a.md:9: link: expected"));
  CHECK(refused_body("## S\n```do\ncursor 1\nquit\n```\n") ==
        "a.md:11: a lesson cannot do 'quit'; expected one of cursor, range, lock, panels, panel, "
        "maximise-panel, beside, set-up, run");
  CHECK(refused_body("## S\n```do\nlocks 1\n```\n") ==
        "a.md:10: a lesson cannot do 'locks'; expected one of cursor, range, lock, panels, panel, "
        "maximise-panel, beside, set-up, run; did you mean lock?");
  CHECK(refused_body("## S\n```do\nlock\n```\n") == "a.md:10: lock: expected NODE; found nothing");
  CHECK(refused_body("## S\n```do\nlock {1\n```\n") ==
        "a.md:10: expected '}' after '{'; found '{1'");
  CHECK(
      refused_body("## S\n```predcit\nx\n```\n") ==
      "a.md:10: a fenced block is do, predict, check, experiment or plain code; found 'predcit'; did you "
      "mean predict?");
  CHECK(refused_body("## S\n```predict\nWhat?\n- a\n- b\n```\n") ==
        "a.md:10: predict: expected 'answer: EXPRESSION', from which the run gives it");
  CHECK(refused_body("## S\n```predict\nWhat?\n- a\nanswer: 1\n```\n") ==
        "a.md:10: predict: expected two choices or more, or none where a number is asked for");
  CHECK(refused_body("## S\n```predict\n- a\n- b\nanswer: 1\n```\n") ==
        "a.md:10: predict: expected a question");
  CHECK(refused_body("## S\n```predict\nWhat?\n- a\n- b\nanswer: 1\nanswer: 2\n```\n") ==
        "a.md:14: predict: expected one answer; found another");
  CHECK(refused_body("## S\n```check\nDo it.\nshow: cursor 1\n```\n") ==
        "a.md:10: check: expected 'when: EXPRESSION'");
  CHECK(refused_body("## S\n```check\nDo it.\nwhen: true\n```\n") ==
        "a.md:10: check: expected 'show: …', which does it for those who ask");
  CHECK(refused_lesson("\xff") == "a.md: expected UTF-8; found something else at byte 0");
}

TEST_CASE("lesson: size, nesting, steps and choices are limited") {
  CHECK(refused_body(std::string(257 << 10, 'x')) ==
        "a.md: a lesson has at most 256 KiB; found 257");
  std::string deep = "## S\n";
  for (int i = 0; i < 13; ++i) deep += "> ";
  CHECK(refused_body(deep + "x\n") == "a.md:8: lists and quotes are nested more than 12 deep");
  std::string many;
  for (int i = 0; i < 201; ++i) many += "## S\n";
  CHECK(refused_body(many).find(": expected at most 200 steps") != std::string::npos);
  std::string choices = "## S\n```predict\nWhat?\n";
  for (int i = 0; i < 9; ++i) choices += "- c\n";
  CHECK(refused_body(choices + "answer: 1\n```\n") ==
        "a.md:19: predict: expected at most 8 choices");
}

TEST_CASE("lesson: a step keeps the lines it was read from") {
  const Lesson lesson = read("## One\ntext\n\n## Two\n\n- a\n- b\n## Three");
  REQUIRE(lesson.steps.size() == 3);
  CHECK(lesson.steps[0].source == "## One\ntext\n\n");
  CHECK(lesson.steps[1].source == "## Two\n\n- a\n- b\n");
  CHECK(lesson.steps[2].source == "## Three");
}

TEST_CASE("lesson: a picture is a PNG file of the lesson's folder, with a text") {
  const Lesson lesson = read("## S\nbefore ![the *trie* of `step 3`](trie-3.png) after\n");
  const std::vector<Span>& spans = std::get<Block>(lesson.steps[0].pieces[0]).spans;
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].text == "before ");
  CHECK(spans[0].picture == "");
  CHECK(spans[1].picture == "trie-3.png");
  CHECK(spans[1].text == "the trie of step 3");
  CHECK_FALSE(spans[1].code);
  CHECK(spans[2].text == " after");
  CHECK(spans[2].picture == "");
  for (const char* const address :
       {"../x.png", "a/b.png", "x.svg", ".png", "https://a.org/x.png"}) {
    CAPTURE(address);
    CHECK(refused_body("## S\n![x](" + std::string(address) + ")\n") ==
          "a.md:9: picture: expected the name of a .png file in the lesson's own folder, without a "
          "path; found '" +
              std::string(address) + "'");
  }
  CHECK(
      refused_body("## S\n![](x.png)\n") ==
      "a.md:9: picture: expected a text between the brackets, which stands for it where it cannot "
      "be shown: ![what is seen](x.png)");
}

TEST_CASE("lesson: what lies behind the end of a text is no part of it") {
  const std::string memory = kHead + "## S\n![a *b*](c)";
  const Lesson lesson = read_lesson(std::string_view(memory).substr(0, memory.size() - 1), "a.md");
  const Block& block = std::get<Block>(lesson.steps.at(0).pieces.at(0));
  REQUIRE(block.spans.size() == 3);
  CHECK(block.spans[0].text == "![a ");
  CHECK(block.spans[1].text == "b");
  CHECK(block.spans[2].text == "](c");
}

TEST_CASE("lesson: the run of another program comes with its capture") {
  const std::string head =
      "---\ntitle: T\nsummary: S\nminutes: 5\nmethod: mine\nprompt: Once\nprogram: mine.py\n";
  CHECK(read_lesson(head + "capture: a.tscap\n---\n## S\n", "a.md").about.program == "mine.py");
  CHECK(refused_lesson(head + "---\n## S\n") ==
        "a.md:8: program: expected a capture too, the run that mine.py recorded");
}

TEST_CASE("lesson: a run is started by the last line of its block") {
  const Lesson lesson = read("## S\n```do\ncursor 1\nrun kv=keep seed=3\n```\n");
  const auto& actions = std::get<std::vector<Action>>(lesson.steps[0].pieces[0]);
  REQUIRE(actions.size() == 2);
  CHECK_FALSE(starts_a_run(actions[0]));
  CHECK(starts_a_run(actions[1]));
  CHECK(starts_a_run(parse_action("set-up seed=3", 1)));
  CHECK(refused_body("## S\n```do\nrun seed=3\ncursor 1\n```\n") ==
        "a.md:10: run: expected it to be the last line of its do block, for the lines behind it "
        "would be about the run before");
}

}  // namespace test_read_lesson

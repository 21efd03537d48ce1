// Turns blocks of Markdown into the steps of a lesson.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "core/base/trimmed.h"
#include "core/base/unicode.h"
#include "lessons/lesson.h"

namespace triescope::lessons {
namespace {

constexpr std::size_t kMostBytes = 256 << 10, kMostSteps = 200, kMostChoices = 8;

// A line of a fenced block that is not empty, with its number.
struct Line {
  int number = 0;
  std::string_view text;
};
std::vector<Line> lines_of(const Block& block) {
  std::vector<Line> lines;
  std::string_view rest = block.text;
  for (int number = block.line; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (const std::string_view text = trimmed(rest.substr(0, end)); !text.empty())
      lines.push_back({number, text});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

std::string plain(const Block& block) {
  std::string text;
  for (const Span& span : block.spans) text += span.text;
  return text;
}

class LessonReader {
 public:
  explicit LessonReader(const std::string& path) : path_(path) {}

  std::vector<Step> steps(std::vector<Block> blocks) {
    std::vector<Step> steps;
    for (Block& block : blocks) {
      const bool begins = block.kind == Block::Kind::kHeading && block.level == 2;
      if (begins) {
        if (steps.size() == kMostSteps)
          refuse(block.line, "expected at most " + std::to_string(kMostSteps) + " steps");
        steps.push_back({plain(block), block.line, {}});
        continue;
      }
      if (steps.empty())
        refuse(block.line,
               "expected '## Title', which begins the first step; found something else "
               "before it");
      steps.back().pieces.push_back(piece(std::move(block)));
    }
    if (steps.empty()) refuse(0, "expected at least one step, which begins with '## Title'");
    return steps;
  }

 private:
  [[noreturn]] void refuse(int line, const std::string& why) const {
    throw Error(ErrorCode::kCorruption,
                path_ + (line > 0 ? ":" + std::to_string(line) : "") + ": " + why);
  }
  // Adds the line to errors of `body`, which know at most their column.
  template <class Body>
  auto at(int line, Body body) const {
    try {
      return body();
    } catch (const Error& error) {
      throw Error(error.code(), path_ + ":" + std::to_string(line) + ": " + error.what());
    }
  }
  Computed computed(const Line& line, std::string_view text) const {
    return at(line.number, [&] { return Computed{Expression::parse(trimmed(text)), line.number}; });
  }

  Filled filled(int line, std::string_view text) const {
    return at(line, [&] { return parse_filled(text); });
  }
  Marked marked(int line, std::string_view text) const { return read_marked(text, path_, line); }

  Piece piece(Block block) const {
    if (block.kind == Block::Kind::kQuote && is_notes(block)) return notes(std::move(block));
    if (block.kind != Block::Kind::kCode) return block;
    const std::string kind(trimmed(block.info));
    if (kind == "do") return actions(block);
    if (kind == "predict") return predict(block);
    if (kind == "check") return task(block);
    if (kind == "experiment") return experiment(block);
    static const std::vector<std::string> kKinds = {"do", "predict", "check", "experiment"};
    if (const std::string meant = did_you_mean(kind, kKinds); !meant.empty())
      refuse(block.line, "a fenced block is do, predict, check, experiment or plain code; found '" +
                             kind + "'" + meant);
    return block;
  }

  static bool is_notes(const Block& block) {
    return !block.blocks.empty() && plain(block.blocks.front()).starts_with("notes:");
  }
  static Notes notes(Block block) {
    std::string& first = block.blocks.front().spans.front().text;
    first = trimmed(std::string_view(first).substr(std::string_view("notes:").size()));
    return {std::move(block.blocks)};
  }

  std::vector<Action> actions(const Block& block) const {
    std::vector<Action> result;
    for (const Line& line : lines_of(block))
      if (!line.text.starts_with('#'))
        result.push_back(at(line.number, [&] { return parse_action(line.text, line.number); }));
    if (result.empty()) refuse(block.line, "do: expected at least one line");
    for (std::size_t i = 0; i + 1 < result.size(); ++i)
      if (starts_a_run(result[i]))
        refuse(result[i].line, result[i].verb +
                                   ": expected it to be the last line of its do block, for the "
                                   "lines behind it would be about the run before");
    return result;
  }

  // Reads "key: value" with one of the keys; false: another line.
  static bool has_key(const Line& line, std::string_view key, std::string_view& value) {
    if (!line.text.starts_with(key) || line.text.size() <= key.size() ||
        line.text[key.size()] != ':')
      return false;
    value = trimmed(line.text.substr(key.size() + 1));
    return true;
  }
  static void append(std::string& text, std::string_view more) {
    text += (text.empty() ? "" : " ") + std::string(more);
  }

  Choice choice(const Line& line) const {
    Choice result;
    result.line = line.number;
    std::string_view text = trimmed(line.text.substr(2));
    if (const std::size_t mark = text.find(":="); mark != std::string_view::npos) {
      result.value = computed(line, text.substr(mark + 2));
      text = trimmed(text.substr(0, mark));
    }
    result.text = marked(line.number, text);
    if (text.empty() && result.value)
      result.text.block.spans = {{.expression = result.value->expression, .line = line.number}};
    if (text.empty() && !result.value) refuse(line.number, "predict: expected a choice behind '-'");
    return result;
  }

  Predict predict(const Block& block) const {
    Predict result;
    result.line = block.line;
    std::string question;
    bool answered = false;
    for (const Line& line : lines_of(block)) {
      std::string_view value;
      if (has_key(line, "answer", value)) {
        if (answered) refuse(line.number, "predict: expected one answer; found another");
        result.answer = computed(line, value);
        answered = true;
      } else if (has_key(line, "expect", value)) {
        result.expected = computed(line, value);
      } else if (has_key(line, "within", value)) {
        const char* const end = value.data() + value.size();
        const auto [stop, error] = std::from_chars(value.data(), end, result.within);
        if (error != std::errc() || stop != end || !(result.within >= 0))
          refuse(line.number, "within: expected a number; found '" + std::string(value) + "'");
      } else if (line.text.starts_with("- ")) {
        if (result.choices.size() == kMostChoices)
          refuse(line.number,
                 "predict: expected at most " + std::to_string(kMostChoices) + " choices");
        result.choices.push_back(choice(line));
      } else if (!result.choices.empty() || answered) {
        refuse(line.number,
               "predict: expected '- CHOICE', 'answer: …', 'expect: …' or 'within: …' behind the "
               "question; found '" +
                   std::string(line.text.substr(0, 60)) + "'");
      } else {
        append(question, line.text);
      }
    }
    if (question.empty()) refuse(block.line, "predict: expected a question");
    result.question = marked(block.line, question);
    if (result.choices.size() == 1)
      refuse(block.line,
             "predict: expected two choices or more, or none where a number is asked for");
    if (!answered)
      refuse(block.line, "predict: expected 'answer: EXPRESSION', from which the run gives it");
    return result;
  }

  Task task(const Block& block) const {
    Task result;
    result.line = block.line;
    std::string text;
    bool has_condition = false;
    for (const Line& line : lines_of(block)) {
      std::string_view value;
      if (has_key(line, "when", value)) {
        result.when = computed(line, value);
        has_condition = true;
      } else if (has_key(line, "show", value)) {
        result.show.push_back(at(line.number, [&] { return parse_action(value, line.number); }));
      } else if (has_condition || !result.show.empty()) {
        refuse(line.number, "check: expected 'when: …' or 'show: …' behind the task; found '" +
                                std::string(line.text.substr(0, 60)) + "'");
      } else {
        append(text, line.text);
      }
    }
    if (text.empty()) refuse(block.line, "check: expected what is to be done");
    result.text = marked(block.line, text);
    if (!has_condition) refuse(block.line, "check: expected 'when: EXPRESSION'");
    if (result.show.empty())
      refuse(block.line, "check: expected 'show: …', which does it for those who ask");
    return result;
  }

  // Reads "NAME := P" or "NAME := P | Q".
  Experiment::Token experiment_token(const Line& line) const {
    Experiment::Token result;
    result.line = line.number;
    const std::string_view text = trimmed(line.text.substr(2));
    const std::size_t mark = text.find(":=");
    if (mark == std::string_view::npos || mark == 0)
      refuse(line.number, "experiment: expected '- TOKEN := P' or '- TOKEN := P | Q'; found '" +
                              std::string(line.text.substr(0, 60)) + "'");
    result.name = filled(line.number, trimmed(text.substr(0, mark)));
    const std::string_view weights = text.substr(mark + 2);
    const std::size_t bar = weights.find('|');
    result.p = computed(line, weights.substr(0, bar)).expression;
    if (bar != std::string_view::npos)
      result.q = computed(line, weights.substr(bar + 1)).expression;
    return result;
  }

  template <class Number>
  Number number(const Line& line, std::string_view key, std::string_view value, Number least,
                Number most) const {
    Number result = 0;
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, result);
    if (error != std::errc() || stop != end || !(result >= least && result <= most))
      refuse(line.number, std::string(key) + ": expected a number from " + std::to_string(least) +
                              " to " + std::to_string(most) + "; found '" + std::string(value) +
                              "'");
    return result;
  }

  const ExperimentRule& rule(const Line& line, std::string_view name) const {
    if (const std::string_view why = refused_for_drawn(name); !why.empty())
      refuse(line.number, "rule: verify=" + std::string(name) + ": " + std::string(why) +
                              "; in an experiment take chain, block or multi_round");
    std::vector<std::string> names;
    std::string list;
    for (const ExperimentRule& one : experiment_rules()) {
      if (name == one.name) return one;
      names.emplace_back(one.name);
      list += (list.empty() ? "" : ", ") + names.back();
    }
    refuse(line.number, "rule: expected one of " + list + "; found '" + std::string(name) + "'" +
                            did_you_mean(std::string(name), names));
  }

  Experiment experiment(const Block& block) const {
    Experiment result;
    result.line = block.line;
    std::string text;
    const ExperimentRule* named = nullptr;
    for (const Line& line : lines_of(block)) {
      std::string_view value;
      if (has_key(line, "rule", value)) {
        named = &rule(line, value);
        result.rule = value;
      } else if (has_key(line, "drafts", value)) {
        result.drafts = number(line, "drafts", value, 1, Experiment::kMostDrafts);
      } else if (has_key(line, "draws", value)) {
        result.draws = number(line, "draws", value, 100, Experiment::kMostDraws);
      } else if (has_key(line, "seed", value)) {
        result.seed = number<std::uint64_t>(line, "seed", value, 0, INT64_MAX);
      } else if (has_key(line, "expect", value)) {
        if (value != "agrees" && value != "differs")
          refuse(line.number,
                 "expect: expected agrees or differs; found '" + std::string(value) + "'");
        result.agrees = value == "agrees";
      } else if (line.text.starts_with("- ")) {
        if (result.tokens.size() == Experiment::kMostTokens)
          refuse(line.number, "experiment: expected at most " +
                                  std::to_string(Experiment::kMostTokens) + " tokens");
        result.tokens.push_back(experiment_token(line));
      } else if (named || !result.tokens.empty()) {
        refuse(line.number,
               "experiment: expected '- TOKEN := P | Q', 'rule: …', 'drafts: …', 'draws: …', "
               "'seed: …' or 'expect: …' behind the text; found '" +
                   std::string(line.text.substr(0, 60)) + "'");
      } else {
        append(text, line.text);
      }
    }
    if (text.empty()) refuse(block.line, "experiment: expected what is tried, in words");
    result.text = marked(block.line, text);
    if (!named) refuse(block.line, "experiment: expected 'rule: NAME', by which it draws");
    if (result.tokens.size() < 2)
      refuse(block.line, "experiment: expected two tokens or more, '- TOKEN := P | Q' each");
    for (const Experiment::Token& token : result.tokens)
      if (token.q.has_value() != named->drafts)
        refuse(token.line, "experiment: the rule " + result.rule +
                               (named->drafts ? " draws drafts: expected '- TOKEN := P | Q'"
                                              : " draws no drafts: expected '- TOKEN := P'"));
    return result;
  }

  const std::string& path_;
};

// Keeps each step's lines, up to the next step's title.
void keep_sources(Lesson& lesson, std::string_view body) {
  int line = lesson.about.body_line;
  const auto skip_to = [&](int wanted) {
    const std::string_view before = body;
    while (line < wanted && !body.empty()) {
      body.remove_prefix(std::min(body.find('\n'), body.size() - 1) + 1);
      ++line;
    }
    return before.substr(0, before.size() - body.size());
  };
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    skip_to(lesson.steps[i].line);
    const bool last = i + 1 == lesson.steps.size();
    lesson.steps[i].source = last ? body : skip_to(lesson.steps[i + 1].line);
  }
}

}  // namespace

Lesson read_lesson(std::string_view text, const std::string& path) {
  if (text.size() > kMostBytes)
    throw Error(ErrorCode::kCorruption, path + ": a lesson has at most " +
                                            std::to_string(kMostBytes >> 10) + " KiB; found " +
                                            std::to_string(text.size() >> 10));
  if (const std::size_t bad = invalid_utf8_offset(text); bad != std::string_view::npos)
    throw Error(ErrorCode::kCorruption,
                path + ": expected UTF-8; found something else at byte " + std::to_string(bad));
  Lesson lesson;
  lesson.path = path;
  std::string_view body;
  lesson.about = read_front_matter(text, path, body);
  lesson.steps = LessonReader(path).steps(read_markdown(body, path, lesson.about.body_line));
  keep_sources(lesson, body);
  return lesson;
}

}  // namespace triescope::lessons

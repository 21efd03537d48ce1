#include "lessons/check_lesson.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "core/base/trimmed.h"
#include "core/base/words.h"
#include "core/capture/phase_names.h"

namespace triescope::lessons {
namespace {

// A token's space does not matter in a choice that is written down.
Value as_choice(Value value) {
  if (std::string* const text = std::get_if<std::string>(&value))
    *text = std::string(trimmed(*text, " \n\t"));
  return value;
}

// Performs a lesson without a window and keeps the state that `do` and "Show me" lines leave.
class Rehearsal {
 public:
  Rehearsal(const Lesson& lesson, const capture::Capture& capture,
            const std::vector<std::string>& panels, const std::vector<std::string>& lessons)
      : lesson_(lesson), capture_(capture), panels_(panels), lessons_(lessons) {}

  std::vector<Finding> run() {
    check_run();
    for (const Step& step : lesson_.steps) {
      moment_ = {};
      placed_ = false;
      for (const Piece& piece : step.pieces) check(piece);
      if (!placed_)
        note(step.line, "the step '" + step.title +
                            "' has no `cursor` in a do block: it would show whatever the step "
                            "before left behind");
    }
    if (!lesson_.about.next.empty()) check_lesson_name(lesson_.about.next, 1);
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Finding& a, const Finding& b) { return a.line < b.line; });
    return std::move(findings_);
  }

 private:
  void note(int line, const std::string& text) { findings_.push_back({line, text}); }
  // Notes what `body` refuses; nothing else is lost.
  template <class Body>
  void attempt(int line, Body body) {
    try {
      body();
    } catch (const Error& error) {
      note(line, error.what());
    }
  }
  Trace trace(bool with_moment = false) const {
    return {capture_, with_moment ? &moment_ : nullptr};
  }

  void check_run() {
    const capture::RunInfo& run = capture_.run();
    const FrontMatter& about = lesson_.about;
    if (run.method != about.method)
      note(1, "the front matter has method " + about.method + "; the run was decoded by " +
                  run.method + ": record it again");
    if (!about.chat && run.prompt_text != about.prompt)
      note(1, "the run has another prompt than the front matter: record it again");
    if (capture_.last_step() < 0) note(1, "the run has no step");
    if (!about.program.empty()) return;  // the rest belongs to runs that are decoded here
    if (static_cast<std::uint64_t>(run.seed) != about.seed)
      note(1, "the front matter has seed " + std::to_string(about.seed) + "; the run has " +
                  std::to_string(run.seed) + ": record it again");
    if (run.max_new_tokens != about.max_new_tokens)
      note(1, "the front matter has max_new_tokens " + std::to_string(about.max_new_tokens) +
                  "; the run has " + std::to_string(run.max_new_tokens) + ": record it again");
  }

  void check(const Piece& piece) {
    if (const Block* const block = std::get_if<Block>(&piece)) check(*block);
    if (const auto* const actions = std::get_if<std::vector<Action>>(&piece)) perform(*actions);
    if (const Predict* const predict = std::get_if<Predict>(&piece)) check(*predict);
    if (const Task* const task = std::get_if<Task>(&piece)) check(*task);
    if (const auto* const experiment = std::get_if<Experiment>(&piece)) check(*experiment);
    if (const Notes* const notes = std::get_if<Notes>(&piece))
      for (const Block& block : notes->blocks) check(block);
  }

  void check(const Block& block) {
    for (const Span& span : block.spans) {
      if (span.expression)
        attempt(span.line, [&] {
          if (std::holds_alternative<SeriesRef>(evaluate(*span.expression, trace())) ||
              std::holds_alternative<PathRef>(evaluate(*span.expression, trace())))
            throw Error(ErrorCode::kCorruption,
                        "'" + span.expression->text() + "' is not a number, a text or a truth");
        });
      if (span.link) check(*span.link);
    }
    for (const Block& inner : block.blocks) check(inner);
  }

  void check_lesson_name(const std::string& name, int line) {
    if (std::find(lessons_.begin(), lessons_.end(), name) == lessons_.end())
      note(line,
           "there is no lesson '" + name + "' beside this one" + did_you_mean(name, lessons_));
  }

  void check(const Link& link) {
    attempt(link.line, [&] {
      const std::string target = fill(link.target, trace());
      switch (link.kind) {
        case Link::Kind::kStep: {
          const std::size_t slash = target.find('/');
          const std::string phase =
              slash == std::string::npos ? "" : " " + target.substr(slash + 1);
          resolve(parse_action("cursor " + target.substr(0, slash) + phase, link.line), trace(),
                  panels_);
          break;
        }
        case Link::Kind::kNode:
          resolve(parse_action("lock " + target, link.line), trace(), panels_);
          break;
        case Link::Kind::kPanel:
          resolve(parse_action("panel " + target, link.line), trace(), panels_);
          break;
        case Link::Kind::kSlot:
          check_slot(target);
          break;
        case Link::Kind::kLesson:
          check_lesson_name(target, link.line);
          break;
        case Link::Kind::kWeb:
          break;
      }
    });
  }

  void check_slot(const std::string& target) const {
    const std::int32_t slot = whole_number("a slot", target);
    const std::int32_t slots = capture_.slot_count_at(capture_.end_tick());
    if (slot < 0 || slot >= slots)
      throw Error(
          ErrorCode::kCorruption,
          "there is no slot " + target + "; the run has slots 0 to " + std::to_string(slots - 1));
  }

  void perform(const std::vector<Action>& actions) {
    for (const Action& action : actions) attempt(action.line, [&] { perform(action); });
  }

  void perform(const Action& action) {
    const std::string argument = resolve(action, trace(), panels_);
    const std::vector<std::string> args = words(argument);
    if (action.verb == "cursor") {
      const auto phase =
          args.size() > 1 ? *capture::phase_from_string(args[1]) : capture::Phase::kDraft;
      moment_.cursor =
          std::min(capture::make_tick(whole_number("a step", args[0]), phase), capture_.end_tick());
      placed_ = true;
    } else if (action.verb == "lock") {
      moment_.focus = whole_number("a node", argument);
    } else if (action.verb == "panel" || action.verb == "maximise-panel") {
      moment_.panels.push_back(argument);
    } else if (action.verb == "panels") {
      moment_.panels = args;
    }
  }

  void check(const Predict& predict) {
    attempt(predict.line, [&] { phrase(predict.question, trace(), value_text); });
    for (const Choice& choice : predict.choices)
      attempt(choice.line, [&] { phrase(choice.text, trace(), value_text); });
    attempt(predict.answer.line, [&] {
      const Answer answer = answer_of(predict, trace());
      if (predict.choices.empty()) {
        if (!std::holds_alternative<double>(answer.value))
          note(predict.answer.line, "a question without choices asks for a number; its answer is " +
                                        value_text(answer.value));
      } else if (answer.choice < 0) {
        note(predict.answer.line,
             "the answer is " + value_text(answer.value) + ", which is none of the choices");
      }
      if (!predict.expected) return;
      const Value expected = as_choice(evaluate(predict.expected->expression, trace()));
      if (!same_value(expected, as_choice(answer.value)))
        note(predict.expected->line, "the answer moved: expected " + value_text(expected) +
                                         "; the run says " + value_text(answer.value));
    });
  }

  void check(const Task& task) {
    attempt(task.line, [&] { phrase(task.text, trace(), value_text); });
    attempt(task.when.line, [&] {
      if (evaluate_truth(task.when.expression, trace(true)))
        note(task.when.line, "the task is met before anything was done");
    });
    const std::size_t before = findings_.size();
    perform(task.show);
    if (findings_.size() != before) return;
    attempt(task.when.line, [&] {
      if (!evaluate_truth(task.when.expression, trace(true)))
        note(task.when.line, "what `show` does is not what `when` asks for");
    });
  }

  void check(const Experiment& experiment) {
    attempt(experiment.line, [&] {
      phrase(experiment.text, trace(), value_text);
      resolve_experiment(experiment, trace());
    });
  }

  const Lesson& lesson_;
  const capture::Capture& capture_;
  const std::vector<std::string>&panels_, &lessons_;
  Moment moment_;
  bool placed_ = false;
  std::vector<Finding> findings_;
};

// Counts are compared exactly. The last bits of a probability or a score depend on the processor
// that decoded, so these may differ by a ten-thousandth of their value.
bool stayed(const Value& before, const Value& now) {
  const double* const x = std::get_if<double>(&before);
  const double* const y = std::get_if<double>(&now);
  if (!x || !y || (std::floor(*x) == *x && std::floor(*y) == *y)) return same_value(before, now);
  return std::abs(*x - *y) <= 1e-4 * std::max(std::abs(*x), std::abs(*y));
}

}  // namespace

Value value_of(const Choice& choice, const Trace& trace) {
  if (choice.value) return as_choice(evaluate(choice.value->expression, trace));
  const std::string text = phrase(choice.text, trace, value_text);
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end) return number;
  return text;
}

Answer answer_of(const Predict& predict, const Trace& trace) {
  Answer answer{evaluate(predict.answer.expression, trace), -1};
  const Value wanted = as_choice(answer.value);
  for (std::size_t i = 0; i < predict.choices.size(); ++i) {
    if (!same_value(value_of(predict.choices[i], trace), wanted)) continue;
    if (answer.choice >= 0)
      throw Error(ErrorCode::kCorruption, "the answer is " + value_text(answer.value) +
                                              ", and two of the choices stand for it");
    answer.choice = static_cast<int>(i);
  }
  return answer;
}

std::vector<Finding> check_lesson(const Lesson& lesson, const capture::Capture& capture,
                                  const std::vector<std::string>& panels,
                                  const std::vector<std::string>& lessons) {
  return Rehearsal(lesson, capture, panels, lessons).run();
}

std::vector<Finding> moved_answers(const Lesson& lesson, const capture::Capture& before,
                                   const capture::Capture& now) {
  std::vector<Finding> findings;
  for (const Step& step : lesson.steps)
    for (const Piece& piece : step.pieces)
      if (const Predict* const predict = std::get_if<Predict>(&piece)) {
        const int line = predict->answer.line;
        try {
          const Value old = evaluate(predict->answer.expression, {before});
          const Value fresh = evaluate(predict->answer.expression, {now});
          if (!stayed(old, fresh))
            findings.push_back({line, "the answer moved: it was " + value_text(old) +
                                          ", and is now " + value_text(fresh)});
        } catch (const Error& error) {
          findings.push_back({line, error.what()});
        }
      }
  return findings;
}

}  // namespace triescope::lessons

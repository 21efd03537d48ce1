#include "app/session/step_condition.h"

#include <algorithm>

#include "app/session/decided_node.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "core/capture/code_names.h"
#include "lessons/expression_lexer.h"
#include "lessons/trace.h"
#include "viz/narration/reason_text.h"
#include "viz/query/token_kind.h"
#include "viz/text/token_text.h"

namespace triescope::app {
namespace {

using lessons::Expression;
using lessons::Value;
using Op = Expression::Op;

constexpr const char* kMetric = "metric";

std::vector<std::string> condition_names() {
  std::vector<std::string> names = {"step"};
  for (const lessons::Series& one : lessons::series_list()) names.emplace_back(one.name);
  for (const ConditionName& one : node_names()) names.emplace_back(one.name);
  return names;
}

Expression parsed(const std::string& text) {
  static const std::vector<std::string> names = condition_names(), keyed = {kMetric};
  return Expression::parse(text, {.of_run = false,
                                  .variables = names,
                                  .keyed = keyed,
                                  .kind = "a name of a step or of a node that it decides",
                                  .listed = "docs/find.md lists them"});
}

bool is_of_node(const std::string& name) {
  return std::ranges::any_of(node_names(),
                             [&](const ConditionName& one) { return name == one.name; });
}

// The words that a text of this name can be; empty = any.
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words;
  const auto take = [&](capture::Names names) {
    for (std::size_t i = 1; i < names.size(); ++i) words.emplace_back(names[i]);  // without "none"
  };
  if (name == "verdict") take(capture::code_names<capture::Verdict>());
  if (name == "reason") take(capture::code_names<capture::Reason>());
  if (name == "kind")
    for (int i = 0; i < viz::kTokenKindCount; ++i)
      words.emplace_back(to_string(static_cast<viz::TokenKind>(i)));
  return words;
}

// A word that no step can have would find nothing, and nobody would learn why.
void check_words(const Expression& expression) {
  for (const Expression::Node& node : expression.nodes()) {
    if (node.op != Op::kEqual && node.op != Op::kUnequal) continue;
    const Expression::Node* name = &expression.nodes()[node.operands[0]];
    const Expression::Node* word = &expression.nodes()[node.operands[1]];
    if (name->op != Op::kVariable) std::swap(name, word);
    if (name->op != Op::kVariable || word->op != Op::kText || word->text.empty()) continue;
    const std::vector<std::string> words = words_of(name->text);
    if (words.empty() || std::ranges::count(words, word->text) > 0) continue;
    std::string list;
    for (const std::string& one : words) list += (list.empty() ? "" : ", ") + one;
    lessons::refuse_expression(word->column, "'" + word->text + "' is no " + name->text +
                                                 did_you_mean(word->text, words) + "; there are " +
                                                 list);
  }
}

}  // namespace

StepCondition::StepCondition(const std::string& text) : expression_(parsed(text)) {
  for (const Expression::Node& node : expression_.nodes()) {
    if (node.op != Op::kVariable) continue;
    const std::string prefix = std::string(kMetric) + ":";
    if (node.text.starts_with(prefix)) metrics_.push_back(node.text.substr(prefix.size()));
    about_nodes_ = about_nodes_ || is_of_node(node.text);
  }
  check_words(expression_);
  // Every name has one kind of value, so that one evaluation finds what does not go together.
  lessons::evaluate_truth(expression_, lessons::Variables(sample_value));
}

std::vector<std::int32_t> StepCondition::matches(const StepFacts& facts) const {
  const auto holds = [&](const DecidedNode* node, std::int32_t id) {
    const auto value = [&](const std::string& name) -> Value {
      if (name == "step") return static_cast<double>(facts.rows.step);
      if (name.starts_with(kMetric) && name.find(':') != std::string::npos)
        return metric_value(facts, id, name.substr(name.find(':') + 1));
      for (const lessons::Series& one : lessons::series_list())
        if (one.name == name) return one.of(facts.rows);
      return node_value(facts, *node, name);
    };
    try {
      return lessons::evaluate_truth(expression_, lessons::Variables(value));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kCorruption) throw;
      return false;  // divided by 0: all else was checked before
    }
  };
  std::vector<std::int32_t> found;
  if (!about_nodes_ && holds(nullptr, -1)) return {-1};
  if (about_nodes_) {
    for (const DecidedNode& node : decided_nodes(facts))
      if (std::ranges::count(found, node.row.node) == 0 && holds(&node, node.row.node))
        found.push_back(node.row.node);
    return found;
  }
  if (metrics_.empty()) return found;
  for (const capture::MetricRow& row : facts.metrics)
    if (row.node >= 0 && std::ranges::count(found, row.node) == 0 && holds(nullptr, row.node))
      found.push_back(row.node);
  return found;
}

void StepCondition::check_metrics(const capture::Capture& capture) const {
  if (metrics_.empty()) return;
  std::vector<std::string> names;
  for (const capture::MetricRow& row : capture.metrics())
    if (std::ranges::count(names, row.name) == 0) names.push_back(row.name);
  for (const std::string& metric : metrics_) {
    if (std::ranges::count(names, metric) > 0) continue;
    std::string list;
    for (const std::string& one : names) list += (list.empty() ? "" : ", ") + one;
    throw Error(ErrorCode::kInvalidArgument,
                "the run has no metric '" + metric + "'" + did_you_mean(metric, names) +
                    (names.empty() ? "; it has none" : "; it has " + list));
  }
}

std::optional<StepMatch> match_in_step(const capture::Capture& capture, const StepCondition& where,
                                       std::int32_t step) {
  StepMatch match = {step, where.matches(facts_of_step(capture, step))};
  if (match.nodes.empty()) return std::nullopt;
  return match;
}

std::vector<StepMatch> steps_where(const capture::Capture& capture, const StepCondition& where,
                                   std::int32_t first, std::int32_t last) {
  std::vector<StepMatch> found;
  for (std::int32_t step = std::max(first, 0); step <= std::min(last, last_whole_step(capture));
       ++step)
    if (auto match = match_in_step(capture, where, step)) found.push_back(std::move(*match));
  return found;
}

std::int32_t last_whole_step(const capture::Capture& capture) {
  return static_cast<std::int32_t>(capture.end_tick() / capture::kPhaseCount) - 1;
}

std::string match_text(const StepFacts& facts, std::int32_t node) {
  const auto name_of = [&](std::int32_t token) {
    const auto bytes = facts.piece_of(token);
    return bytes ? "'" + viz::token_text(*bytes) + "'" : "token " + std::to_string(token);
  };
  if (node < 0) {
    const auto& figures = facts.rows.figures;
    if (!figures) return "the step";
    std::string emitted = counted(figures->emitted, "token");
    if (figures->drafted == 0) return emitted;
    return "accepted " + std::to_string(figures->accepted) + " of " +
           std::to_string(figures->drafted) + ", " + emitted;
  }
  const auto row = facts.node_of(node);
  std::string text = "node " + std::to_string(node);
  if (row) text += " " + name_of(row->token);
  for (const capture::VerdictRow& verdict : facts.rows.verdicts) {
    if (verdict.node != node) continue;
    const std::string reason = viz::reason_text(verdict, name_of);
    return text + ": " + to_string(verdict.verdict) + (reason.empty() ? "" : ", " + reason);
  }
  return text;
}

}  // namespace triescope::app

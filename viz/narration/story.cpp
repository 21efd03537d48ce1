#include "viz/narration/story.h"

#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/capture/run_fields.h"
#include "viz/text/spoken_text.h"

namespace triescope::viz {
namespace {

// A sentence begins with a capital, unless it begins with a token or a name from the run.
void capitalise(Part& first) {
  if (first.is_token || first.text.empty()) return;
  const bool is_word = !first.is_value() || !std::isnan(first.number) || first.text == "the prompt";
  if (is_word)
    first.text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(first.text[0])));
}

}  // namespace

Story::Story(const capture::Capture& run, capture::Tick at, const Sentences& sentences)
    : capture(run),
      cursor(at),
      tick(at - 1),
      step(capture::step_of(at - 1)),
      sentences_(sentences) {}

std::vector<Part> Story::fill(std::string_view sentence, std::span<const Value> values) const {
  std::vector<Part> parts;
  for (const TemplatePart& part : sentences_.at(sentence)) {
    if (part.kind == TemplatePart::Kind::kWords) {
      parts.push_back({.text = part.text});
      continue;
    }
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const Value& one) { return one.name == part.text; });
    if (value == values.end())
      throw Error(ErrorCode::kInvalidArgument, "narration: [" + std::string(sentence) +
                                                   "] was told without its value '" + part.text +
                                                   "'");
    if (part.kind == TemplatePart::Kind::kChoice)
      parts.push_back({.text = value->number == 1 ? part.one : part.many});
    else
      parts.insert(parts.end(), value->parts.begin(), value->parts.end());
  }
  return parts;
}

void Story::say(std::string_view sentence, std::vector<Value> values) {
  if (!has_room()) return;
  Sentence told{std::string(sentence), {}};
  for (Part& part : fill(sentence, values)) {
    // Adjoining words become one part.
    if (!told.parts.empty() && !part.is_value() && !told.parts.back().is_value())
      told.parts.back().text += part.text;
    else
      told.parts.push_back(std::move(part));
  }
  if (!told.parts.empty()) capitalise(told.parts.front());
  told_.push_back(std::move(told));
}

Value Story::list(std::string name, std::string_view item,
                  const std::vector<std::vector<Value>>& items, std::size_t most) const {
  Value value{std::move(name), {}, static_cast<double>(items.size())};
  // Where one item is too many, it is told: "and 1 more" would take as much room.
  const std::size_t told = items.size() <= most + 1 ? items.size() : most;
  const std::size_t entries = told + (told < items.size() ? 1 : 0);
  const auto separate = [&](std::size_t i) {
    if (i > 0) value.parts.push_back({.text = before_item(i, entries)});
  };
  for (std::size_t i = 0; i < told; ++i) {
    separate(i);
    for (Part& part : fill(item, items[i])) value.parts.push_back(std::move(part));
  }
  if (told < items.size()) {
    separate(told);
    const Value rest = count("more", static_cast<std::int64_t>(items.size() - told));
    for (Part& part : fill("item.more", std::span(&rest, 1)))
      value.parts.push_back(std::move(part));
  }
  return value;
}

Value Story::probability(std::string name, float p, std::int32_t of) const {
  const float own = capture.node_at(of, cursor).row.logprob;
  const bool models = std::isnan(own) || std::abs(std::exp(own) - p) <= 1e-4f + 1e-3f * p;
  return labelled(std::move(name), models ? "p" : "p′", static_cast<double>(p), 3, to_node(of));
}

Value Story::sum_log_p(std::string name, double score, std::int32_t of) const {
  return labelled(std::move(name), "Σ log p", score, 2, to_node(of));
}

double Story::setting(std::string_view name, double otherwise) const {
  return capture::RunFields(capture.run().settings_json).number(name, otherwise);
}
std::string Story::setting(std::string_view name) const {
  return capture::RunFields(capture.run().settings_json).text(name);
}
double Story::model(std::string_view name, double otherwise) const {
  return capture::RunFields(capture.run().model_json).number(name, otherwise);
}
std::string Story::model(std::string_view name) const {
  return capture::RunFields(capture.run().model_json).text(name);
}

const std::string& title_of(const capture::RunInfo& run) {
  return run.method_title.empty() ? run.method : run.method_title;
}

std::vector<capture::VerdictRow> verdicts_of(const Story& story, capture::Phase phase) {
  const capture::Tick tick = capture::make_tick(story.step, phase);
  std::vector<capture::VerdictRow> rows;
  for (const capture::VerdictRow& row : story.capture.verdicts(story.step))
    if (row.tick == tick) rows.push_back(row);
  return rows;
}

}  // namespace triescope::viz

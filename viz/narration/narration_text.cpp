#include "viz/narration/narration_text.h"

#include <nlohmann/json.hpp>

#include "core/base/json_io.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

// Escapes the characters that Markdown reads as markup.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>()#+!|~&").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string heading_of(const Narration& narration) {
  if (narration.step < 0) return "Before the first step";
  return "Step " + std::to_string(narration.step) + ", " + capture::to_string(narration.phase);
}

std::string sentence_text(const Sentence& sentence) {
  std::string text;
  for (const Part& part : sentence.parts) text += part.text;
  return text;
}

std::string narration_as_text(const Narration& narration) {
  std::string text = heading_of(narration) + "\n";
  for (const Sentence& sentence : narration.sentences)
    text += "  " + sentence_text(sentence) + "\n";
  return text;
}

std::string narration_as_markdown(const Narration& narration) {
  std::string text = "## " + heading_of(narration) + "\n\n";
  for (std::size_t i = 0; i < narration.sentences.size(); ++i) {
    if (i > 0) text += "\n";
    for (const Part& part : narration.sentences[i].parts) {
      const std::string link = to_string(part.target);
      text += link.empty() ? escaped(part.text) : "[" + escaped(part.text) + "](ts:" + link + ")";
    }
  }
  return text + "\n";
}

std::string narration_as_json(const Narration& narration) {
  using nlohmann::json;
  json result = {
      {"cursor", narration.cursor},
      {"step", narration.step < 0 ? json(nullptr) : json(narration.step)},
      {"phase", narration.step < 0 ? json(nullptr) : json(capture::to_string(narration.phase))},
      {"heading", heading_of(narration)},
      {"sentences", json::array()}};
  for (const Sentence& sentence : narration.sentences) {
    json parts = json::array();
    for (const Part& part : sentence.parts) {
      json one = {{"text", part.text}};
      if (part.is_value()) one["value"] = part.fact;
      if (part.is_value() && !std::isnan(part.number)) one["number"] = part.number;
      if (const std::string link = to_string(part.target); !link.empty()) one["target"] = link;
      parts.push_back(std::move(one));
    }
    result["sentences"].push_back(
        {{"name", sentence.name}, {"text", sentence_text(sentence)}, {"parts", std::move(parts)}});
  }
  return dump_json(result);
}

}  // namespace triescope::viz

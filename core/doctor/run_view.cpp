#include "core/doctor/run_view.h"

#include <cmath>
#include <cstdio>

#include "core/base/unicode.h"

namespace triescope::doctor {

RunView::RunView(const capture::Capture& of)
    : capture(of),
      prompt(static_cast<std::int32_t>(of.run().prompt_tokens.size())),
      window(of.run().sliding_window),
      settings(of.run().settings_json),
      model(of.run().model_json) {
  for (const auto* where : {&model, &settings})
    for (const char* key : {"eos_token_ids", "eos_token_id"})
      for (const std::int32_t token : where->integers(key)) end_tokens.insert(token);
}

std::string RunView::dtype() const {
  std::string name = model.text("dtype");
  if (name.starts_with("torch.")) name.erase(0, 6);
  if (name == "bfloat16") return "bf16";
  if (name == "float16" || name == "half" || name == "fp16") return "f16";
  if (name == "float32" || name == "float" || name == "fp32") return "f32";
  return name;
}

bool RunView::has_processors() const {
  return number("repetition_penalty", 1) != 1 || number("no_repeat_ngram_size", 0) > 0 ||
         number("min_length", 0) > 0 || number("min_new_tokens", 0) > 0 ||
         !settings.is_blank("bad_words_ids");
}

bool RunView::says_greedy() const {
  if (has("verify")) return text("verify") == "greedy";
  if (const auto draws = settings.boolean("do_sample")) return !*draws;
  return has("temperature") && number("temperature", 1) == 0;
}

bool RunView::is_lossy_or_drawn() const {
  if (has("verify") || settings.boolean("do_sample")) return !says_greedy();
  return number("temperature", 0) > 0;
}

std::string RunView::token_text(std::int32_t token) const {
  std::string text;
  for (const char c : utf8_lossy(capture.piece(token))) {
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      text += "·";  // it could steer a terminal
    } else {
      text += c;
    }
  }
  return "'" + text + "'";
}

std::string RunView::name(std::int32_t occupant) const {
  if (occupant == 0) return "the prompt";
  if (occupant > 0)
    return "node " + std::to_string(occupant) + " (" + token_text(at(occupant).token) + ")";
  if (occupant > -2) return "nothing";
  const auto place = static_cast<std::size_t>(-2 - occupant);
  std::string name = "prompt token " + std::to_string(place);
  if (place < capture.run().prompt_tokens.size())
    name += " (" + token_text(capture.run().prompt_tokens[place]) + ")";
  return name;
}

std::string number_of(double value) {
  char text[64];
  std::snprintf(text, sizeof text, std::abs(value) >= 1e6 ? "%.3g" : "%.4f", value);
  std::string out = text;
  if (out.find('.') != std::string::npos && out.find('e') == std::string::npos) {
    while (out.back() == '0') out.pop_back();
    if (out.back() == '.') out.pop_back();
  }
  return out == "-0" ? "0" : out;
}

}  // namespace triescope::doctor

// generation_config.json: the settings that transformers' generate() uses when it is given no
// others. The names are those of transformers' GenerationConfig.
#include <cmath>

#include "core/base/json_io.h"
#include "core/files/family.h"

namespace triescope::formats {

namespace {

struct Named {
  const char* name;
  double off;  // the value that changes nothing
};

constexpr Named kNumbers[] = {
    {"temperature", 1},    {"top_k", -1},         {"top_p", 1},
    {"min_p", 0},          {"top_h", 0},          {"typical_p", 1},
    {"epsilon_cutoff", 0}, {"eta_cutoff", 0},     {"repetition_penalty", 1},
    {"num_beams", 1},      {"length_penalty", 1}, {"no_repeat_ngram_size", 0},
    {"min_length", 0},     {"min_new_tokens", 0},
};

constexpr Named kNotDone[] = {
    {"encoder_repetition_penalty", 1},
    {"encoder_no_repeat_ngram_size", 0},
    {"diversity_penalty", 0},
    {"num_beam_groups", 1},
    {"penalty_alpha", 0},
    {"guidance_scale", 1},
    {"sequence_bias", 0},
    {"suppress_tokens", 0},
    {"begin_suppress_tokens", 0},
    {"forced_bos_token_id", -1},
    {"forced_eos_token_id", -1},
    {"exponential_decay_length_penalty", 0},
    {"constraints", 0},
    {"force_words_ids", 0},
    {"dola_layers", 0},
    {"stop_strings", 0},
    {"remove_invalid_values", 0},
    {"renormalize_logits", 0},
    {"watermarking_config", 0},
    {"token_healing", 0},
};

bool is_off(const nlohmann::json& value, double off) {
  if (value.is_number()) return value.get<double>() == off;
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.is_null() || (value.is_structured() && value.empty());
}

// Turns [[1, 2], [3]] into "1 2; 3", the form of the parameter.
std::string sequences_text(const JsonFields& fields, const char* key) {
  const nlohmann::json& lists = fields.raw()[key];
  const auto fail = [&] { fields.corrupt(key, "a list of lists of token ids"); };
  if (!lists.is_array()) fail();
  std::string text;
  for (const nlohmann::json& list : lists) {
    if (!list.is_array() || list.empty()) fail();
    if (!text.empty()) text += "; ";
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_number_integer()) fail();
      text += (i == 0 ? "" : " ") + dump_json(list[i]);
    }
  }
  return text;
}

}  // namespace

GenerationSettings read_generation(const JsonFields& fields) {
  GenerationSettings found;
  for (const Named& number : kNumbers) {
    if (!fields.has(number.name)) continue;
    const nlohmann::json& value = fields.raw()[number.name];
    if (value.is_number() && !std::isfinite(value.get<double>())) {  // no parameter accepts it
      found.not_done.emplace_back(number.name);
      continue;
    }
    if (fields.number(number.name) == number.off) continue;
    found.settings.emplace_back(number.name, dump_json(value));
  }
  if (fields.has("early_stopping")) {
    const nlohmann::json& value = fields.raw()["early_stopping"];
    if (!value.is_boolean() && value != "never")
      fields.corrupt("early_stopping", "true, false or \"never\"");
    const std::string text = value.is_string() ? "never" : dump_json(value);
    if (text != "false") found.settings.emplace_back("early_stopping", text);
  }
  if (fields.has("bad_words_ids")) {
    const std::string text = sequences_text(fields, "bad_words_ids");
    if (!text.empty()) found.settings.emplace_back("bad_words_ids", text);
  }
  for (const Named& other : kNotDone)
    if (fields.has(other.name) && !is_off(fields.raw()[other.name], other.off))
      found.not_done.emplace_back(other.name);
  return found;
}

}  // namespace triescope::formats

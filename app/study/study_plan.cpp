#include "app/study/study_plan.h"

#include <cctype>
#include <cstdio>
#include <set>
#include <span>

#include "app/session/device_choice.h"
#include "app/session/text_tools.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/json_io.h"
#include "core/text/tokenizer/conversation.h"

namespace triescope::app {
namespace {

using nlohmann::json;

// All combinations of a method's swept settings; the last setting turns fastest.
std::vector<json> combinations(const StudyMethod& method) {
  std::vector<json> all = {json::object()};
  for (const StudySetting& setting : method.settings) {
    std::vector<json> longer;
    for (const json& one : all)
      for (const json& value : setting.values) {
        longer.push_back(one);
        longer.back()[setting.name] = value;
      }
    all = std::move(longer);
  }
  return all;
}

// A name as a part of a file's name: letters, digits, '.', '-' and '_'.
std::string file_part(const std::string& name) {
  std::string part;
  for (const char c : name.substr(0, 40))
    part += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' ? c : '-';
  return part;
}

// 16 hexadecimal digits.
std::string hash_of(const std::string& text) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(hash_bytes(std::as_bytes(std::span(text)))));
  return digits;
}

std::string key_of(const StudyRun& run, const StudyFile& study, const StudyPrompt& prompt) {
  const RunRequest& request = run.request;
  json key = {{"name", run.name},
              {"model", request.model},
              {"draft", request.draft_model},
              {"draft_device", request.draft_device},
              {"device", request.device},
              {"dtype", to_string(request.dtype)},
              {"kv_dtype", to_string(request.kv_dtype.value_or(request.dtype))},
              {"threads", study.threads},
              {"method", request.method},
              {"settings", request.settings},
              {"prompt", request.prompt},
              {"chat", request.chat},
              {"system", request.system},
              {"max_new_tokens", request.max_new_tokens},
              {"seed", request.seed},
              {"repeat", run.repeat}};
  if (prompt.conversation) key["conversation"] = dump_json(conversation_json(*prompt.conversation));
  return dump_json(key);
}

RunRequest study_request(const StudyFile& study, const StudyMethod& method, const json& settings) {
  RunRequest request;
  request.device = study.device;
  request.dtype = study.dtype.value_or(default_dtype(study.device));
  request.kv_dtype = study.kv_dtype;
  request.method = method.method;
  request.draft_model = method.draft;
  request.draft_device = method.draft_device;
  request.settings = settings;
  request.chat = study.chat;
  request.system = study.system;
  return request;
}

}  // namespace

std::string StudyRun::words() const {
  std::string text = name;
  for (const auto& [setting, value] : request.settings.items())
    text += ", " + setting + " = " + json_text(value);
  if (!request.model.empty()) text += ", " + request.model;
  return text + ", " + category + " " + std::to_string(number) + ", " +
         std::to_string(request.max_new_tokens) + " tokens, seed " + std::to_string(request.seed) +
         ", repeat " + std::to_string(repeat);
}

std::vector<StudyRun> study_runs(const StudyFile& study) {
  std::vector<StudyRun> runs;
  std::vector<StudyRun> turn;  // one of each method and settings
  for (const StudyMethod& method : study.methods)
    for (const json& settings : combinations(method))
      turn.push_back({.name = method.name, .request = study_request(study, method, settings)});
  for (const StudyRun& one : turn)
    for (const std::string& model : study.models) {
      RunRequest request = one.request;
      request.model = model;
      try {
        check_request(request);
      } catch (const Error& error) {
        throw Error(error.code(), "[[method]] '" + one.name + "': " + error.what());
      }
    }
  std::set<std::string> there;  // keys
  for (int repeat = 1; repeat <= study.repeats; ++repeat)
    for (const std::string& model : study.models)
      for (const StudyPrompt& prompt : study.prompts)
        for (const std::uint64_t seed : study.seeds)
          for (const int max_new_tokens : study.max_new_tokens)
            for (StudyRun run : turn) {
              run.request.model = model;
              if (prompt.conversation)
                take_conversation(run.request, *prompt.conversation, prompt.source);
              else
                run.request.prompt = prompt.text;
              run.request.seed = seed;
              run.request.max_new_tokens = max_new_tokens;
              run.category = prompt.category;
              run.number = prompt.id;
              run.repeat = repeat;
              run.key = key_of(run, study, prompt);
              run.capture = file_part(run.name) + "-" + file_part(run.category) + "-" +
                            std::to_string(run.number) + "-" + hash_of(run.key) + ".tscap";
              if (there.insert(run.key).second) runs.push_back(std::move(run));
            }
  return runs;
}

}  // namespace triescope::app

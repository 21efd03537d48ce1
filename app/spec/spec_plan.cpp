#include "app/spec/spec_plan.h"

#include <algorithm>
#include <sstream>

#include "app/bench/bench_spec.h"
#include "app/session/catalog.h"
#include "core/base/error.h"
#include "core/files/draft_head/head_file.h"
#include "core/files/weights.h"
#include "core/method/settings.h"
#include "core/methods/registry.h"

namespace triescope::app {
namespace {

constexpr const char* kSweepPrefix = "sweep ";

bool has_parameter(const MethodInfo& method, const std::string& name) {
  return std::any_of(method.parameters.begin(), method.parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
}

bool takes_draft(const MethodInfo& method, const std::string& draft, const std::string& model) {
  const std::string path = resolve_draft(draft);
  if (!formats::is_draft_head(path)) return method.needs_draft_model();
  if (!method.needs_draft_head()) return false;
  const formats::TargetShape shape =
      formats::target_shape(formats::WeightSource::open(model)->config());
  const formats::HeadKind kind = formats::HeadFile::open(path, shape).kind();
  return std::find(method.heads.begin(), method.heads.end(), kind) != method.heads.end();
}

// The named draft that the method takes; "" = the program's own, or none. `model`: its path.
std::string named_draft(const MethodInfo& method, const std::vector<std::string>& drafts,
                        const std::string& model) {
  for (const std::string& draft : drafts)
    if (takes_draft(method, draft, model)) return draft;
  return "";
}

// Values of a setting, "8,16,32", checked one by one.
StudySetting swept_setting(const MethodInfo& method, const std::string& name,
                           const std::string& text, bool sweeps) {
  StudySetting setting{.name = name, .values = {}};
  std::stringstream stream(text);
  std::string part = text;
  while (!sweeps || std::getline(stream, part, ',')) {
    setting.values.push_back(validate_settings(method, {{name, part}}).at(name));
    if (!sweeps) break;
  }
  return setting;
}

StudyMethod spec_method(const std::string& text, const SpecOptions& options, bool sweeps) {
  const BenchSpec spec = bench_spec(text);
  const MethodInfo& method = find_method(spec.method);
  StudyMethod entry;
  entry.name = sweeps ? kSweepPrefix + text : text;
  entry.method = method.name;
  if (!options.drafts.empty())
    entry.draft = named_draft(method, options.drafts, resolve_model(options.model));
  std::size_t swept = 0;
  for (const auto& [name, value] : spec.settings.items()) {
    entry.settings.push_back(swept_setting(method, name, value, sweeps));
    swept += entry.settings.back().values.size() > 1;
  }
  if (sweeps && (swept < 1 || swept > 2))
    throw Error(ErrorCode::kInvalidArgument,
                "--sweep '" + text +
                    "': expected one or two settings with several values, as in "
                    "ngram_trie:num_draft=8,16,32:prefix_length=2,3; found " +
                    std::to_string(swept));
  return entry;
}

}  // namespace

bool is_spec_sweep(const std::string& name) { return name.starts_with(kSweepPrefix); }

std::string swept_text(const std::string& name) {
  return name.substr(std::string_view(kSweepPrefix).size());
}

std::vector<std::string> default_spec_methods(const std::string& model,
                                              const std::vector<std::string>& drafts) {
  std::vector<std::string> names;
  for (const MethodInfo& method : methods()) {
    if (!method.drafts()) continue;
    // Drafts from a text that has to be named, and a draft model of other tokens, are for those who ask
    // for them.
    if (has_parameter(method, "datastore") || method.any_vocabulary) continue;
    if (method.needs != Need::kNothing && named_draft(method, drafts, model).empty() &&
        default_draft(method, model).empty())
      continue;
    names.push_back(method.name);
    if (method.name == "ngram_trie" || method.name == "suffix_decoding")
      names.push_back(method.name + ":num_draft=32");
    if (method.name == "prompt_lookup")
      names.push_back(method.name + ":prompt_lookup_num_tokens=10");
    if (method.name == "draft_model") names.push_back(method.name + ":num_assistant_tokens=8");
    if (has_parameter(method, "draft_tokens")) names.push_back(method.name + ":draft_tokens=60");
  }
  return names;
}

std::vector<std::string> standard_spec_sweeps(const std::vector<std::string>& names) {
  std::vector<std::string> sweeps;
  for (const char* sweep : {"ngram_trie:num_draft=4,8,16,32,64:prefix_length=2,3,4,5",
                            "ngram_trie:ngram_size=8,10,13,15:prefix_length=2,3,4,5:num_draft=32",
                            "lookahead:ngram_size=3,5,7:window_size=3,7,15",
                            "draft_model:num_assistant_tokens=2,4,6,8,12",
                            "eagle2:draft_tokens=8,16,32,60:draft_levels=2,4,6,8"})
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return bench_spec(name).method == bench_spec(sweep).method;
        }))
      sweeps.emplace_back(sweep);
  return sweeps;
}

StudyFile spec_study(const SpecOptions& options) {
  StudyFile study;
  study.title = "Drafts by method and task";
  study.models = {options.model};
  study.device = options.device;
  study.dtype = options.dtype;
  study.threads = options.threads;
  study.chat = options.chat;
  study.max_new_tokens = {options.max_new_tokens};
  for (const BenchPrompt& prompt : options.prompts) study.prompts.push_back({prompt});
  study.methods.push_back(spec_method("greedy", options, false));
  study.baseline = "greedy";
  const auto add = [&](const std::string& text, bool sweeps) {
    StudyMethod entry = spec_method(text, options, sweeps);
    if (std::none_of(study.methods.begin(), study.methods.end(),
                     [&](const StudyMethod& one) { return one.name == entry.name; }))
      study.methods.push_back(std::move(entry));
  };
  for (const std::string& text : options.methods) add(text, false);
  for (const std::string& text : options.sweeps) add(text, true);
  return study;
}

}  // namespace triescope::app

#include "app/study/study_file.h"

#include <algorithm>
#include <limits>

#include "app/session/device_choice.h"
#include "app/study/prompts_table.h"
#include "app/study/toml_reader.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/base/nearest_name.h"
#include "core/base/text_file.h"
#include "core/capture/code_names.h"
#include "core/method/parameters_of.h"
#include "core/method/settings.h"
#include "core/methods/registry.h"

namespace triescope::app {
namespace {

// The entries of a list of tables, "[[method]]".
std::vector<const toml::table*> entries(const std::string& file, const toml::table& root,
                                        const char* key) {
  std::vector<const toml::table*> all;
  const toml::node* const node = root.get(key);
  if (!node) return all;
  const std::string expected = std::string(key) + ": expected [[" + key + "]], a table for each";
  if (!node->is_array()) refuse_toml(file, node->source(), expected);
  for (const toml::node& one : *node->as_array()) {
    if (!one.is_table()) refuse_toml(file, one.source(), expected);
    all.push_back(one.as_table());
  }
  return all;
}

// A list is a sweep; of a parameter that takes a list, a list of lists is.
StudySetting read_study_setting(const TomlReader& set, const MethodInfo& method,
                                const std::string& name, const toml::node& node) {
  const auto known = [&](const Parameter& one) { return one.name == name; };
  const std::vector<Parameter> parameters = parameters_of(method);
  const auto parameter = std::find_if(parameters.begin(), parameters.end(), known);
  const bool takes_list =
      parameter != parameters.end() && parameter->kind == ParameterKind::kIntegerList;
  const auto* const list = node.as_array();
  const bool sweeps =
      list && (!takes_list || (!list->empty() && list->get(0) && list->get(0)->is_array()));
  StudySetting setting{.name = name, .values = {}};
  const auto take = [&](const toml::node& value) {
    try {
      const nlohmann::json all = validate_settings(method, {{name, json_of(set.file(), value)}});
      if (std::find(setting.values.begin(), setting.values.end(), all.at(name)) !=
          setting.values.end())
        set.refuse(value, name + ": " + dump_json(all.at(name)) + " is there twice");
      setting.values.push_back(all.at(name));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCorruption) throw;  // it has its place
      set.refuse(value, error.what());
    }
  };
  if (!sweeps) {
    take(node);
    return setting;
  }
  for (const toml::node& value : *list) take(value);
  if (setting.values.empty()) set.refuse(node, name + ": expected a value or more, found none");
  return setting;
}

StudyMethod read_study_method(const std::string& file, const toml::table& table) {
  const TomlReader reader(file, table, "[[method]]");
  reader.allow({"method", "name", "draft", "draft_device", "set"});
  if (!reader.has("method")) reader.refuse("[[method]]: expected a key 'method', found none");
  StudyMethod entry;
  entry.method = reader.text("method", "");
  const MethodInfo* method = nullptr;
  try {
    method = &find_method(entry.method);
  } catch (const Error& error) {
    reader.refuse_value("method", error.what());
  }
  entry.name = reader.text("name", entry.method);
  entry.draft = reader.text("draft", "");
  entry.draft_device = reader.text("draft_device", "");
  if (!entry.draft.empty() && !method->takes_draft_model() && !method->takes_draft_head())
    reader.refuse_value("draft", "method " + entry.method + " takes no draft model or head");
  if (const toml::table* const set = reader.inner("set"))
    for (const auto& [key, node] : *set)
      entry.settings.push_back(
          read_study_setting(TomlReader(file, *set, "set"), *method, std::string(key.str()), node));
  return entry;
}

void read_study_table(const TomlReader& reader, StudyFile& study) {
  reader.allow({"title", "models", "device", "dtype", "kv_dtype", "threads", "chat", "system",
                "max_new_tokens", "seeds", "repeats", "captures", "baseline"});
  study.title = reader.text("title", "");
  study.models = reader.texts("models", {""});
  study.device = reader.text("device", study.device);
  const auto dtype = [&](const char* key) -> std::optional<DType> {
    if (!reader.has(key)) return std::nullopt;
    try {
      return dtype_from_string(reader.text(key, ""));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCorruption) throw;
      reader.refuse_value(key, error.what());
    }
  };
  study.dtype = dtype("dtype");
  study.kv_dtype = dtype("kv_dtype");
  study.threads = static_cast<int>(reader.whole("threads", 0, 0, 1024));
  study.chat = reader.truth("chat", false);
  study.system = reader.text("system", "");
  if (!study.system.empty() && !study.chat)
    reader.refuse_value("system", "a system prompt is part of a chat: expected chat = true");
  study.max_new_tokens.clear();
  for (const std::int64_t value : reader.wholes("max_new_tokens", {128}, 1, 1 << 20))
    study.max_new_tokens.push_back(static_cast<int>(value));
  study.seeds.clear();
  for (const std::int64_t value :
       reader.wholes("seeds", {0}, 0, std::numeric_limits<std::int64_t>::max()))
    study.seeds.push_back(static_cast<std::uint64_t>(value));
  study.repeats = static_cast<int>(reader.whole("repeats", 1, 1, 1000));
  if (reader.has("captures")) {
    const std::string name = reader.text("captures", "");
    const auto level = capture::code_from_name<capture::Level>(name);
    if (!level)
      reader.refuse_value("captures", "expected off, steps, tree or full, found '" + name + "'");
    study.captures = *level;
  }
  study.baseline = reader.text("baseline", "");
}

}  // namespace

StudyFile read_study(const std::string& path) {
  const std::string text = read_text_file(path, "a study, a TOML file");
  toml::table root;
  try {
    root = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    refuse_toml(path, error.source(), std::string(error.description()));
  }
  const TomlReader top(path, root, "a study");
  top.allow({"study", "method", "prompts"});
  StudyFile study;
  for (const toml::table* const entry : entries(path, root, "method")) {
    study.methods.push_back(read_study_method(path, *entry));
    const auto last = std::prev(study.methods.end());
    if (std::any_of(study.methods.begin(), last,
                    [&](const StudyMethod& one) { return one.name == last->name; }))
      TomlReader(path, *entry, "[[method]]")
          .refuse("two [[method]] are called '" + last->name +
                  "': give each a name, or sweep a setting with a list");
  }
  if (study.methods.empty())
    top.refuse("expected at least one [[method]], found none: a study says what runs");
  for (const toml::table* const entry : entries(path, root, "prompts"))
    for (StudyPrompt& prompt : read_study_prompts(path, *entry)) {
      study.prompts.push_back(std::move(prompt));
      if (StudyPrompt& last = study.prompts.back(); last.id < 0)
        last.id = static_cast<int>(study.prompts.size());
    }
  if (study.prompts.empty())
    top.refuse("expected at least one [[prompts]], with 'text', 'messages' or 'file'; found none");
  const toml::table none;
  const toml::table* const table = top.inner("study");
  const TomlReader reader(path, table ? *table : none, "[study]");
  read_study_table(reader, study);
  std::vector<std::string> names;
  for (const StudyMethod& one : study.methods) names.push_back(one.name);
  if (!study.baseline.empty()) {
    if (std::find(names.begin(), names.end(), study.baseline) == names.end())
      reader.refuse_value("baseline", "no [[method]] is called '" + study.baseline + "'" +
                                          did_you_mean(study.baseline, names));
  } else if (std::find(names.begin(), names.end(), "greedy") != names.end()) {
    study.baseline = "greedy";
  }
  return study;
}

}  // namespace triescope::app

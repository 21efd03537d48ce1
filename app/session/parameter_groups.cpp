#include "app/session/parameter_groups.h"

#include <algorithm>
#include <span>

#include "app/session/text_tools.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/method/parameters_of.h"
#include "core/method/settings.h"
#include "core/sampling/logits_processors.h"
#include "core/sampling/warpers.h"
#include "core/verify/text_acceptor.h"

namespace triescope::app {
namespace {

bool names(std::span<const Parameter> list, const std::string& name) {
  return std::ranges::find(list, name, &Parameter::name) != list.end();
}

enum Group : std::uint8_t { kOwn, kVerification, kSampling, kProcessors, kKv, kRecording, kGroups };

Group group_of(const std::string& name) {
  static const std::vector<Parameter> warpers = warper_parameters(),
                                      processors = logits_processor_parameters(),
                                      verification = verify_parameters();
  if (name == "kv" || name == "gc_every") return kKv;
  if (name == "eos_token_id" || name == "candidates") return kRecording;
  if (names(warpers, name) || name == "sampler") return kSampling;
  if (names(processors, name)) return kProcessors;
  if (names(verification, name) || name == "replacement") return kVerification;
  return kOwn;
}

// A value that was typed is read first, so that "off" is 0; what cannot be read stays as it is.
std::string value_text(const MethodInfo& method, const std::string& name,
                       const nlohmann::json& settings) {
  for (const Parameter& parameter : parameters_of(method)) {
    if (parameter.name != name) continue;
    if (!settings.contains(name)) return json_text(parameter.default_value);
    const nlohmann::json& given = settings.at(name);
    return json_text(why_refused(parameter, given).empty() ? read_setting(parameter, given)
                                                           : given);
  }
  return "";
}

}  // namespace

std::vector<ParameterGroup> parameter_groups(const MethodInfo& method) {
  std::vector<ParameterGroup> groups(kGroups);
  groups[kOwn].title = method.kind == capture::RunKind::kDrafts  ? "Drafting"
                       : method.kind == capture::RunKind::kBeams ? "Search"
                                                                 : "Method";
  groups[kVerification].title = "Verification";
  groups[kSampling].title = "Sampling";
  groups[kProcessors] = {"Logits processors", {}, true};
  groups[kKv].title = "KV cache";
  groups[kRecording] = {"End of text and recording", {}, true};
  for (const Parameter& parameter : parameters_of(method))
    groups[group_of(parameter.name)].parameters.push_back(parameter);
  std::erase_if(groups, [](const ParameterGroup& group) { return group.parameters.empty(); });
  return groups;
}

std::string no_effect_because(const MethodInfo& method, const std::string& name,
                              const nlohmann::json& settings) {
  const auto value = [&](const char* other) { return value_text(method, other, settings); };
  const bool verifies = names(method.parameters, "verify");
  const std::string verify = verifies ? value("verify") : "";
  const Group group = group_of(name);
  if (group == kSampling && (verify == "greedy" || verify == "top_k"))
    return "verify=" + verify + " takes the most likely token: nothing is drawn";
  if (name == "typical_epsilon" || name == "typical_delta")
    return verify == "typical" ? "" : "only verify=typical uses it; verify is " + verify;
  if (name == "accept_top_k")
    return verify == "top_k" ? "" : "only verify=top_k uses it; verify is " + verify;
  if (name == "replacement" && (verify == "greedy" || verify == "typical" || verify == "top_k"))
    return "verify=" + verify + " takes chosen drafts: none is drawn";
  if (name == "gc_every" && value("kv") != "compact")
    return "only kv=compact collects garbage; kv is " + value("kv");
  if (names(method.parameters, "do_sample")) {
    const bool draws = value("do_sample") == "true";
    if (draws && (name == "draft_width" || name == "draft_margin"))
      return "do_sample drafts num_beams a level";
    if (!draws && (name == "pass_chance" || name == "least_beams")) return "only do_sample uses it";
    if ((name == "draft_margin" || name == "pass_chance" || name == "least_beams") &&
        value("dynamic_width") != "true")
      return "only dynamic_width uses it";
  }
  if (name == "num_assistant_tokens")
    if (const std::string tree = value("expansion"); !tree.empty() && tree != "[]")
      return "expansion says how long the drafts are";
  if (name == "min_length" && value("min_new_tokens") != "0")
    return "min_new_tokens takes its place";
  return "";
}

std::string why_refused(const Parameter& parameter, const nlohmann::json& value) try {
  read_setting(parameter, value);
  return "";
} catch (const Error& error) {
  // The field stands beside its name.
  std::string reason = error.what();
  if (const std::string name = parameter.name + ": "; reason.starts_with(name))
    reason.erase(0, name.size());
  return reason;
}

}  // namespace triescope::app

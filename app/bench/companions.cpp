// The rows of the drafting table: methods, and the draft models and heads with which they are
// measured.
#include <algorithm>

#include "app/bench/bench_spec.h"
#include "app/bench/benchmarks.h"
#include "app/session/catalog.h"
#include "core/base/error.h"
#include "core/files/draft_head/head_file.h"
#include "core/method/settings.h"
#include "core/methods/registry.h"

namespace triescope::app {
namespace {

bool takes(const MethodInfo& method, const BenchCompanion& companion) {
  if (companion.draft.head)
    return method.needs_draft_head() &&
           std::find(method.heads.begin(), method.heads.end(), companion.draft.head->config.kind) !=
               method.heads.end();
  return method.needs_draft_model();
}

[[noreturn]] void refuse_without_companion(const MethodInfo& method) {
  throw Error(ErrorCode::kInvalidArgument, "method " + method.name + ": expected a " +
                                               to_string(method.needs) +
                                               " that it takes, found none; name one with --draft");
}

}  // namespace

BenchSpec bench_spec(const std::string& text) {
  BenchSpec spec{.method = text.substr(0, text.find(':')), .settings = nlohmann::json::object()};
  for (std::size_t at = text.find(':'); at != std::string::npos;) {
    const std::size_t next = text.find(':', at + 1);
    const std::string part = text.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size())
      throw Error(ErrorCode::kInvalidArgument,
                  "'" + text + "': expected METHOD:parameter=value, found '" + part + "'");
    spec.settings[part.substr(0, equals)] = part.substr(equals + 1);
    at = next;
  }
  return spec;
}

void check_bench_names(const std::vector<std::string>& methods,
                       const std::vector<std::string>& companions) {
  bool heads = false, models = false;
  for (const std::string& name : companions)
    (formats::is_draft_head(resolve_draft(name)) ? heads : models) = true;
  for (const std::string& text : methods) {
    const BenchSpec spec = bench_spec(text);
    const MethodInfo& method = find_method(spec.method);
    validate_settings(method, spec.settings);
    if ((method.needs_draft_head() && !heads) || (method.needs_draft_model() && !models))
      refuse_without_companion(method);
  }
}

std::vector<BenchCompanion> load_companions(const std::vector<std::string>& names,
                                            const LoadedModel& target,
                                            const ProgressSink& progress) {
  std::vector<BenchCompanion> companions;
  for (const std::string& name : names) {
    BenchCompanion& companion = companions.emplace_back(BenchCompanion{.name = name});
    const std::string path = resolve_draft(name);
    if (formats::is_draft_head(path)) {
      companion.loaded.head = load_draft_head(path, *target.model, target.options.threads);
      companion.loaded.head_of = target.model.get();
      companion.draft = {.head = companion.loaded.head.get()};
    } else {
      RunRequest request;
      request.method = "draft_model";
      request.draft_model = name;
      companion.draft = draft_for(request, target, companion.loaded, progress, {});
    }
  }
  return companions;
}

std::vector<DraftBenchMethod> bench_methods(const std::vector<std::string>& names,
                                            const std::vector<BenchCompanion>& companions) {
  std::vector<DraftBenchMethod> rows = {{"greedy"}};
  std::vector<std::string> wanted = names;
  if (wanted.empty()) {
    wanted = {"ngram_trie", "ngram_trie:num_draft=32", "prompt_lookup"};
    for (const MethodInfo& method : methods()) {
      if (method.any_vocabulary)
        continue;  // pays beside a companion of other tokens, when it is named
      if (std::any_of(companions.begin(), companions.end(),
                      [&](const BenchCompanion& companion) { return takes(method, companion); }))
        wanted.push_back(method.name);
    }
  }
  for (const std::string& text : wanted) {
    const MethodInfo& method = find_method(bench_spec(text).method);
    if (method.needs == Need::kNothing) {
      rows.push_back({text});
      continue;
    }
    const std::size_t before = rows.size();
    for (const BenchCompanion& companion : companions)
      if (takes(method, companion)) rows.push_back({text, companion.draft, companion.name});
    if (rows.size() == before) refuse_without_companion(method);
  }
  return rows;
}

}  // namespace triescope::app

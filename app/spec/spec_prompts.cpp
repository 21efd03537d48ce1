// Prompts by task.
#include <algorithm>
#include <map>

#include "app/bench/prompts.h"
#include "app/spec/spec_plan.h"

namespace triescope::app {
namespace {

// Lists in turn: the first of each, the second of each, …
template <class Value>
std::vector<Value> in_turn(const std::vector<std::vector<Value>>& lists) {
  std::vector<Value> all;
  std::size_t longest = 0;
  for (const auto& list : lists) longest = std::max(longest, list.size());
  for (std::size_t i = 0; i < longest; ++i)
    for (const auto& list : lists)
      if (i < list.size()) all.push_back(list[i]);
  return all;
}

// By `key`, in the order of the first of each.
template <class Key>
std::vector<std::vector<BenchPrompt>> parted(const std::vector<BenchPrompt>& prompts, Key key) {
  std::vector<std::vector<BenchPrompt>> parts;
  std::map<std::string, std::size_t> place;
  for (const BenchPrompt& prompt : prompts) {
    const auto [found, is_new] = place.emplace(key(prompt), parts.size());
    if (is_new) parts.emplace_back();
    parts[found->second].push_back(prompt);
  }
  return parts;
}

}  // namespace

std::string spec_task(const std::string& category) {
  for (const char* part :
       {"writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities"})
    if (category == part) return "dialogue";
  return category == "math_reasoning" ? "math" : category;
}

std::vector<BenchPrompt> spec_prompts(const std::vector<std::string>& files,
                                      const std::vector<std::string>& categories, int per_task) {
  std::vector<BenchPrompt> all =
      files.empty() ? builtin_bench_prompts() : std::vector<BenchPrompt>{};
  for (const std::string& file : files)
    for (BenchPrompt& prompt : read_bench_prompts(file, {}, 0)) all.push_back(std::move(prompt));
  std::erase_if(all, [&](const BenchPrompt& prompt) {
    const auto named = [&](const std::string& name) {
      return std::find(categories.begin(), categories.end(), name) != categories.end();
    };
    return !categories.empty() && !named(prompt.category) && !named(spec_task(prompt.category));
  });
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].id < 0) all[i].id = static_cast<int>(i) + 1;
  std::vector<std::vector<BenchPrompt>> tasks;
  for (const auto& task :
       parted(all, [](const BenchPrompt& prompt) { return spec_task(prompt.category); })) {
    tasks.push_back(
        in_turn(parted(task, [](const BenchPrompt& prompt) { return prompt.category; })));
    if (per_task > 0 && static_cast<int>(tasks.back().size()) > per_task)
      tasks.back().resize(static_cast<std::size_t>(per_task));
    for (BenchPrompt& prompt : tasks.back()) prompt.category = spec_task(prompt.category);
  }
  return in_turn(tasks);
}

}  // namespace triescope::app

// Spec-Bench's questions, read from the test data: first turns, by category.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace triescope::test {

struct SpecBenchPrompt {
  int id = 0;
  std::string category;
  std::string text;
};

// `per_category` of each of `categories` in the file's order; 0 = all; no categories = every one.
inline std::vector<SpecBenchPrompt> spec_bench(const std::filesystem::path& data_dir,
                                               const std::vector<std::string>& categories = {},
                                               int per_category = 0) {
  std::ifstream file(data_dir / "prompts" / "spec_bench_question.jsonl");
  std::vector<SpecBenchPrompt> prompts;
  std::vector<std::pair<std::string, int>> taken;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) continue;
    const auto row = nlohmann::json::parse(line);
    const auto category = row.at("category").get<std::string>();
    if (!categories.empty() &&
        std::find(categories.begin(), categories.end(), category) == categories.end())
      continue;
    auto count = std::find_if(taken.begin(), taken.end(),
                              [&](const auto& entry) { return entry.first == category; });
    if (count == taken.end()) count = taken.insert(taken.end(), {category, 0});
    if (per_category > 0 && count->second >= per_category) continue;
    ++count->second;
    prompts.push_back(
        {row.at("question_id").get<int>(), category, row.at("turns").at(0).get<std::string>()});
  }
  return prompts;
}

}  // namespace triescope::test

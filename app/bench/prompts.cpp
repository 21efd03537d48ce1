#include "app/bench/prompts.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/base/text_file.h"

namespace triescope::app {
namespace {

std::string text_at(const nlohmann::json& line, const char* key, const std::string& otherwise) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

}  // namespace

std::vector<BenchPrompt> read_bench_prompts(const std::string& path,
                                            const std::vector<std::string>& categories,
                                            int per_category) {
  const std::string text =
      read_text_file(path, "a .jsonl file with \"category\" and \"turns\" or \"prompt\" a line");
  if (text.starts_with("\x1f\x8b"))
    throw Error(ErrorCode::kCorruption, path + ": is compressed; unpack it with gunzip first");
  std::istringstream file(text);
  std::vector<BenchPrompt> prompts;
  std::map<std::string, int> taken;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    const auto json = json_or_discarded(line);
    BenchPrompt prompt;
    if (json.is_object()) {
      prompt.category = text_at(json, "category", "all");
      prompt.id = json.value("question_id", -1);
      // HumanEval's "task_id": "HumanEval/12".
      const std::string task = text_at(json, "task_id", "");
      if (const std::size_t slash = task.find('/'); slash != std::string::npos && slash > 0) {
        prompt.category = task.substr(0, slash);
        const char* const end = task.data() + task.size();
        std::from_chars(task.data() + slash + 1, end, prompt.id);
      }
      if (json.contains("turns") && json["turns"].is_array() && !json["turns"].empty() &&
          json["turns"][0].is_string())
        prompt.text = json["turns"][0];
      else if (json.contains("prompt") && json["prompt"].is_string())
        prompt.text = json["prompt"];
    }
    if (prompt.text.empty())
      throw Error(
          ErrorCode::kCorruption,
          path + ":" + std::to_string(number) +
              ": expected a JSON object with \"turns\": [text, …] or \"prompt\": text, found " +
              line.substr(0, 60));
    if (!categories.empty() &&
        std::find(categories.begin(), categories.end(), prompt.category) == categories.end())
      continue;
    if (++taken[prompt.category] > per_category && per_category > 0) continue;
    prompts.push_back(std::move(prompt));
  }
  if (prompts.empty()) {
    std::string names;
    for (const std::string& name : categories) names += (names.empty() ? "" : ", ") + name;
    throw Error(ErrorCode::kInvalidArgument,
                path + ": no prompts" + (names.empty() ? "" : " of the categories " + names));
  }
  return prompts;
}

std::vector<BenchPrompt> builtin_bench_prompts() {
  static const char* kPassage =
      "The lighthouse at Cape Morrow was built in 1871 by a crew of forty masons. Its lamp burned "
      "whale oil until 1889, when the keeper, "
      "Ada Lindqvist, had it changed to kerosene. The lamp was changed to electric light in 1932. "
      "The lighthouse stands 41 metres tall "
      "and its light can be seen from 32 kilometres away. Ada Lindqvist kept the light for 36 "
      "years and wrote a diary of every storm she "
      "saw; the diary is shown in the museum at the foot of the tower. The museum opens every day "
      "from May to September. In winter the "
      "road to the cape is closed, and the lighthouse can only be reached by boat.";
  return {
      {"story", "Write a short story about a fox who learns to swim."},
      {"story", "Tell me about a morning in a small harbour town."},
      {"summarization",
       std::string("Summarize the following text in three sentences, using its own words:\n\n") +
           kPassage},
      {"rag", std::string("Answer from the text, quoting the sentence that says it.\n\nText: ") +
                  kPassage + "\n\nQuestion: Who changed the lamp to kerosene, and when?"},
      {"rag", std::string("Answer from the text, quoting the sentence that says it.\n\nText: ") +
                  kPassage + "\n\nQuestion: How can the lighthouse be reached in winter?"}};
}

}  // namespace triescope::app

#include "app/study/prompts_table.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>

#include "app/session/request.h"
#include "core/base/error.h"
#include "core/base/nearest_name.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostNumber = std::numeric_limits<int>::max();

void refuse_file_keys(const TomlReader& reader) {
  for (const char* key : {"categories", "per_category"})
    if (reader.has(key)) reader.refuse_value(key, "goes with 'file'");
}

std::vector<StudyPrompt> text_prompt(const TomlReader& reader) {
  refuse_file_keys(reader);
  const auto numbers = reader.wholes("numbers", {-1}, 0, kMostNumber);
  if (numbers.size() > 1) reader.refuse_value("numbers", "expected one number beside 'text'");
  StudyPrompt prompt;
  prompt.category = reader.text("category", "own");
  prompt.text = reader.text("text", "");
  prompt.id = static_cast<int>(numbers.front());
  return {prompt};
}

// The files of conversations, one or more.
std::vector<StudyPrompt> conversation_prompts(const TomlReader& reader) {
  refuse_file_keys(reader);
  if (reader.has("numbers"))
    reader.refuse_value("numbers", "goes with 'text' and 'file'; conversations are counted");
  std::vector<StudyPrompt> all;
  for (const std::string& name : reader.texts("messages", {})) {
    StudyPrompt prompt;
    prompt.category = reader.text("category", "own");
    prompt.source = (fs::path(reader.file()).parent_path() / name).string();
    try {
      RunRequest request;  // its last message, and whether that can be answered
      prompt.conversation = read_messages_file(prompt.source);
      take_conversation(request, *prompt.conversation, prompt.source);
      prompt.text = request.prompt;
    } catch (const Error& error) {
      reader.refuse_value("messages", error.what());
    }
    all.push_back(std::move(prompt));
  }
  return all;
}

std::vector<StudyPrompt> file_prompts(const TomlReader& reader) {
  if (reader.has("category")) reader.refuse_value("category", "goes with 'text'; categories?");
  const fs::path path = fs::path(reader.file()).parent_path() / reader.text("file", "");
  std::vector<BenchPrompt> all;
  try {
    all = read_bench_prompts(path.string(), {}, 0);
  } catch (const Error& error) {
    reader.refuse_value("file", error.what());
  }
  std::vector<std::string> there;  // categories
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].id < 0) all[i].id = static_cast<int>(i) + 1;
    if (std::find(there.begin(), there.end(), all[i].category) == there.end())
      there.push_back(all[i].category);
  }
  const std::vector<std::string> categories = reader.texts("categories", {});
  for (const std::string& name : categories)
    if (std::find(there.begin(), there.end(), name) == there.end()) {
      std::string list;
      for (const std::string& one : there) list += (list.empty() ? "" : ", ") + one;
      reader.refuse_value("categories", "no prompt of the file is of '" + name + "'" +
                                            did_you_mean(name, there) + "; it has " + list);
    }
  const auto numbers = reader.wholes("numbers", {}, 0, kMostNumber);
  const auto in = [](const auto& list, const auto& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  for (const std::int64_t number : numbers)
    if (std::none_of(all.begin(), all.end(),
                     [&](const BenchPrompt& prompt) { return prompt.id == number; }))
      reader.refuse_value("numbers", "the file has no prompt " + std::to_string(number));
  const auto most = reader.whole("per_category", 0, 1, 1'000'000);
  std::map<std::string, std::int64_t> taken;
  std::vector<StudyPrompt> wanted;
  for (BenchPrompt& prompt : all)
    if (in(categories, prompt.category) && in(numbers, std::int64_t{prompt.id}) &&
        (most == 0 || ++taken[prompt.category] <= most))
      wanted.push_back({std::move(prompt)});
  if (wanted.empty())
    reader.refuse("[[prompts]]: no prompt is of these categories and has one of these numbers");
  return wanted;
}

}  // namespace

std::vector<StudyPrompt> read_study_prompts(const std::string& file, const toml::table& table) {
  const TomlReader reader(file, table, "[[prompts]]");
  reader.allow({"text", "messages", "file", "category", "categories", "numbers", "per_category"});
  const int kinds = reader.has("text") + reader.has("messages") + reader.has("file");
  if (kinds != 1) reader.refuse("[[prompts]]: expected one of 'text', 'messages' and 'file'");
  return reader.has("text")       ? text_prompt(reader)
         : reader.has("messages") ? conversation_prompts(reader)
                                  : file_prompts(reader);
}

}  // namespace triescope::app

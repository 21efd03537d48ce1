#include "app/session/catalog.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "app/session/text_tools.h"
#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "core/files/draft_head/head_file.h"
#include "core/files/weights.h"
#include "core/model/model.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;

// "SmolLM2-135M-Instruct.Q4_1.gguf" -> "smollm2-135m-instruct.q4_1"
std::string short_name(const fs::path& path) {
  return lower(path.extension() == ".gguf" ? path.stem().string() : path.filename().string());
}

// Folders beside the program: `in_build` for a program that runs in its build folder, `installed`
// below the prefix of an installed one.
std::vector<fs::path> beside_program(const char* in_build, const char* installed) {
  std::error_code ec;
  const fs::path program = fs::read_symlink("/proc/self/exe", ec);
  if (ec) return {};
  const fs::path above = program.parent_path().parent_path();
  return {above / in_build, above / installed};
}

}  // namespace

std::vector<fs::path> model_folders() {
  std::vector<fs::path> folders;
  if (const char* env = std::getenv("TRIESCOPE_MODELS"); env && *env) {
    std::stringstream list(env);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty()) folders.emplace_back(folder);
  }
  for (fs::path& folder : beside_program(".deps/models", "share/triescope/models"))
    folders.push_back(std::move(folder));
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  if (data && *data) {
    folders.push_back(fs::path(data) / "triescope/models");
  } else if (home && *home) {
    folders.push_back(fs::path(home) / ".local/share/triescope/models");
  }
  return folders;
}

std::vector<fs::path> draft_folders() {
  std::vector<fs::path> folders = beside_program("assets/draft", "share/triescope/draft");
  const std::vector<fs::path> made = beside_program(".deps/draft", "share/triescope/draft");
  if (!made.empty()) folders.push_back(made.front());
  return folders;
}

namespace {

// The program's own folders precede the user's.
std::vector<fs::path> all_folders() {
  std::vector<fs::path> folders = draft_folders();
  for (fs::path& folder : model_folders()) folders.push_back(std::move(folder));
  return folders;
}

bool is_head(const fs::path& path) {
  try {
    return formats::is_draft_head(path.string());
  } catch (const Error&) {
    return false;  // opening it as a model tells what is wrong with it
  }
}

enum class Which { kAll, kHeads, kModels };

// The *.gguf files and directories with a config.json in these folders, by name within each folder:
// all of them, the draft heads, or all others. If two have one name, the first counts.
std::vector<CatalogEntry> list(const std::vector<fs::path>& folders, Which which) {
  const auto is_wanted = [&](const fs::path& path) {
    std::error_code ignored;
    if (path.extension() == ".gguf") return which != Which::kHeads;
    if (!fs::exists(path / "config.json", ignored)) return false;
    return which == Which::kAll || is_head(path) == (which == Which::kHeads);
  };
  std::vector<CatalogEntry> entries;
  for (const fs::path& folder : folders) {
    std::error_code ec;
    std::vector<fs::path> found;
    for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
      const fs::path& path = it->path();
      if (is_wanted(path)) found.push_back(path);
    }
    std::sort(found.begin(), found.end());
    for (const fs::path& path : found) {
      const std::string name = short_name(path);
      if (std::any_of(entries.begin(), entries.end(), [&](auto& e) { return e.name == name; }))
        continue;
      entries.push_back(
          {name, path.lexically_normal().string(), "in " + folder.lexically_normal().string()});
    }
  }
  return entries;
}

bool is_default(const CatalogEntry& entry) {
  return entry.name.find("smollm2-135m-instruct") != std::string::npos;
}

// The path of the entry with this short name, or of the only one whose name begins so.
std::string resolve(const std::vector<CatalogEntry>& entries, const std::string& name,
                    const std::string& what, const std::string& expected) {
  const std::string wanted = lower(name);
  const bool is_path = name.find('/') != std::string::npos;
  // Captures of lessons name a model by its file.
  const std::string of_file = is_path ? wanted : short_name(name);
  for (const CatalogEntry& entry : entries)
    if (entry.name == wanted || entry.name == of_file) return entry.path;
  // A unique beginning is enough: "smollm2".
  const CatalogEntry* match = nullptr;
  int matches = 0;
  for (const CatalogEntry& entry : entries) {
    if (entry.name.rfind(wanted, 0) != 0) continue;
    match = &entry;
    ++matches;
  }
  if (matches == 1) return match->path;
  std::vector<std::string> known;
  std::string names;
  for (const CatalogEntry& entry : entries) {
    known.push_back(entry.name);
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  throw Error(
      is_path || wanted.ends_with(".gguf") ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument,
      what + " '" + name + "' is neither a file nor a directory nor a known short name (" +
          (names.empty() ? "none installed" : names) + "); expected " + expected +
          ", or one of `triescope info --list`" +
          (matches > 1 ? "; several begin with it" : did_you_mean(name, known)));
}

// The model's folder if the path leads to one of its files (weights, config.json, tokenizer.json
// and the like); any other path unchanged.
std::string folder_of_model(const std::string& path) {
  std::error_code ec;
  const fs::path file(path);
  const std::string kind = lower(file.extension().string());
  const bool may_be_part = kind == ".safetensors" || kind == ".json" || kind == ".bin" ||
                           kind == ".txt" || kind == ".jinja" || kind == ".model";
  if (!may_be_part || !fs::is_regular_file(file, ec)) return path;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  return fs::exists(folder / "config.json", ec) ? folder.string() : path;
}

}  // namespace

std::vector<CatalogEntry> list_models() {
  std::vector<CatalogEntry> entries = list(model_folders(), Which::kModels);
  std::stable_partition(entries.begin(), entries.end(), is_default);
  return entries;
}

std::string resolve_model(const std::string& model) {
  std::error_code ec;
  if (!model.empty() && fs::exists(model, ec)) return folder_of_model(model);
  const std::vector<CatalogEntry> entries = list_models();
  if (!model.empty())
    return resolve(entries, model, "model", "a Hugging Face directory, a .gguf file");
  if (!entries.empty()) return entries.front().path;
  throw Error(ErrorCode::kNotFound,
              "no model given and none is installed: run `make build` once (it fetches "
              "SmolLM2-135M-Instruct), or pass "
              "--model with a Hugging Face directory or a .gguf file");
}

std::vector<CatalogEntry> list_draft_heads() { return list(all_folders(), Which::kHeads); }

std::vector<CatalogEntry> list_draft_models() { return list(draft_folders(), Which::kModels); }

std::string resolve_draft(const std::string& draft, const std::string& called) {
  if (draft.empty())
    throw Error(ErrorCode::kInvalidArgument,
                called + ": expected a path or a short name, found none");
  std::error_code ec;
  if (fs::exists(draft, ec)) {
    const std::string folder = folder_of_model(draft);
    // A head may be named by its weights' file.
    const bool may_be_head = folder != draft && !draft.ends_with(".json");
    return may_be_head && formats::is_draft_head(folder) ? draft : folder;
  }
  return resolve(list(all_folders(), Which::kAll), draft, called,
                 "a Hugging Face directory, a .gguf file, the folder or file of a draft head");
}

std::string default_draft(const MethodInfo& method, const std::string& target) {
  if (method.needs_draft_model() && !method.any_vocabulary) {
    const int vocabulary = inspect_model(target).vocab_size;
    for (const CatalogEntry& entry : list_draft_models())
      if (inspect_model(entry.path).vocab_size == vocabulary) return entry.path;
  }
  if (!method.needs_draft_head()) return "";
  const formats::TargetShape shape =
      formats::target_shape(formats::WeightSource::open(target)->config());
  // A model may bring its own: SPACE's masks as rows of its embedding.
  std::vector<std::string> paths = {target};
  for (const CatalogEntry& entry : list_draft_heads()) paths.push_back(entry.path);
  for (const std::string& path : paths) {
    try {
      const formats::HeadKind kind = formats::HeadFile::open(path, shape).kind();
      if (std::ranges::find(method.heads, kind) != method.heads.end()) return path;
    } catch (const Error&) {
      // It is damaged or made for another target. Naming it gives that error.
    }
  }
  return "";
}

}  // namespace triescope::app

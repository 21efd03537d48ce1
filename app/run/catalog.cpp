#include "app/run/catalog.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "app/run/text_tools.h"
#include "core/base/error.h"
#include "core/base/nearest_name.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;

// "SmolLM2-135M-Instruct.Q4_1.gguf" -> "smollm2-135m-instruct.q4_1"
std::string short_name(const fs::path& path) {
  return lower(path.extension() == ".gguf" ? path.stem().string() : path.filename().string());
}

std::vector<fs::path> model_folders() {
  std::vector<fs::path> folders;
  if (const char* env = std::getenv("TRIESCOPE_MODELS"); env && *env) folders.emplace_back(env);
  std::error_code ec;
  const fs::path program = fs::read_symlink("/proc/self/exe", ec);
  if (!ec) {
    const fs::path here = program.parent_path();
    folders.push_back(here.parent_path() / ".deps/models");
    folders.push_back(here.parent_path() / "share/triescope/models");
  }
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  if (data && *data) {
    folders.push_back(fs::path(data) / "triescope/models");
  } else if (home && *home) {
    folders.push_back(fs::path(home) / ".local/share/triescope/models");
  }
  return folders;
}

bool is_default(const CatalogEntry& entry) {
  return entry.name.find("smollm2-135m-instruct") != std::string::npos;
}

}  // namespace

std::vector<CatalogEntry> list_models() {
  std::vector<CatalogEntry> entries;
  for (const fs::path& folder : model_folders()) {
    std::error_code ec;
    std::vector<fs::path> found;
    for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
      const fs::path& path = it->path();
      std::error_code ignored;
      if (path.extension() == ".gguf" || fs::exists(path / "config.json", ignored))
        found.push_back(path);
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
  std::stable_partition(entries.begin(), entries.end(), is_default);
  return entries;
}

std::string resolve_model(const std::string& model) {
  std::error_code ec;
  if (!model.empty() && fs::exists(model, ec)) return model;
  const std::vector<CatalogEntry> entries = list_models();
  if (model.empty()) {
    if (!entries.empty()) return entries.front().path;
    throw Error(ErrorCode::kNotFound,
                "no model given and none is installed: run `make build` once (it fetches "
                "SmolLM2-135M-Instruct), or pass "
                "--model with a Hugging Face directory or a .gguf file");
  }
  const std::string wanted = lower(model);
  for (const CatalogEntry& entry : entries)
    if (entry.name == wanted) return entry.path;
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
  std::string list;
  for (const CatalogEntry& entry : entries) {
    known.push_back(entry.name);
    list += (list.empty() ? "" : ", ") + entry.name;
  }
  const bool is_path = model.find('/') != std::string::npos || wanted.ends_with(".gguf");
  throw Error(
      is_path ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument,
      "model '" + model + "' is neither a file nor a directory nor a known short name (" +
          (list.empty() ? "none installed" : list) +
          "); expected a Hugging Face directory, a .gguf file, or one of `triescope info --list`" +
          (matches > 1 ? "; several begin with it" : did_you_mean(model, known)));
}

std::vector<CatalogEntry> list_draft_heads() {
  std::vector<CatalogEntry> entries;
  std::error_code ec;
  const fs::path program = fs::read_symlink("/proc/self/exe", ec);
  if (ec) return entries;
  const fs::path above = program.parent_path().parent_path();
  for (const fs::path& folder : {above / "assets", above / "share/triescope/assets"}) {
    for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
      std::error_code ignored;
      const fs::path& path = it->path();
      if (path.extension() != ".safetensors" && !fs::exists(path / "model.safetensors", ignored))
        continue;
      entries.push_back({lower(path.stem().string()), path.lexically_normal().string(),
                         "in " + folder.lexically_normal().string()});
    }
  }
  std::ranges::sort(entries, {}, &CatalogEntry::name);
  return entries;
}

std::string resolve_draft(const std::string& draft) {
  std::error_code ec;
  if (!draft.empty() && fs::exists(draft, ec)) return draft;
  const std::string wanted = lower(draft);
  for (const CatalogEntry& entry : list_draft_heads())
    if (entry.name == wanted) return entry.path;
  return resolve_model(draft);
}

}  // namespace triescope::app

#include "app/remote/allowed_paths.h"

#include <algorithm>
#include <utility>

#include "app/remote/wire.h"
#include "core/base/error.h"
#include "core/methods/registry.h"

namespace triescope::app {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxQuotedPath = 4096;  // bytes of a path that is refused

}  // namespace

AllowedPaths::AllowedPaths(const std::vector<fs::path>& folders) {
  std::error_code ec;
  for (const fs::path& folder : folders) {
    const fs::path root = fs::canonical(folder, ec);
    if (ec) continue;  // it does not exist
    roots_.push_back(root);
    for (fs::directory_iterator it(root, ec), end; !ec && it != end; it.increment(ec)) {
      std::error_code ignored;
      if (!it->is_symlink(ignored)) continue;
      if (const fs::path target = fs::canonical(it->path(), ignored); !ignored)
        roots_.push_back(target);
    }
  }
}

bool AllowedPaths::allows(const std::string& path) const {
  if (path.find('\0') != std::string::npos) return false;  // the system would read less of it
  std::error_code ec;
  const fs::path real = fs::canonical(path, ec);
  if (ec) return false;
  return std::ranges::any_of(roots_, [&](const fs::path& root) {
    return std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
  });
}

void AllowedPaths::check(const std::string& path) const {
  if (allows(path)) return;
  throw Error(ErrorCode::kInvalidArgument,
              "'" + plain_text(path, kMaxQuotedPath) +
                  "' is not a file in the folders that this machine lends: expected a name of "
                  "`triescope info --remote … --list`; `serve --models DIR` there lends another "
                  "folder");
}

std::string AllowedPaths::model(const std::string& name) const {
  // A path is judged before anything looks for it.
  if (name.find('/') != std::string::npos) check(name);
  std::string path = resolve_model(name);
  check(path);
  return path;
}

std::string AllowedPaths::draft(const std::string& name) const {
  if (name.find('/') != std::string::npos) check(name);
  std::string path = resolve_draft(name);
  check(path);
  return path;
}

RunRequest AllowedPaths::request(RunRequest request) const {
  request.model = model(request.model);
  if (!request.draft_model.empty()) request.draft_model = draft(request.draft_model);
  for (const Parameter& parameter : find_method(request.method).parameters) {
    if (parameter.kind != ParameterKind::kText || !request.settings.contains(parameter.name))
      continue;
    const nlohmann::json& value = request.settings[parameter.name];
    if (!value.is_string()) continue;  // refused when the run starts
    const std::string& text = value.get_ref<const std::string&>();
    std::error_code ignored;
    if (text.find('/') != std::string::npos || fs::exists(text, ignored)) check(text);
  }
  return request;
}

std::vector<CatalogEntry> AllowedPaths::of(std::vector<CatalogEntry> entries) const {
  std::erase_if(entries, [&](const CatalogEntry& entry) { return !allows(entry.path); });
  return entries;
}

}  // namespace triescope::app

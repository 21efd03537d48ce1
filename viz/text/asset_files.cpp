#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "viz/text/assets.h"

namespace triescope::viz {

namespace fs = std::filesystem;

std::vector<AssetFile> asset_files(std::string_view prefix, const std::string& folder) {
  std::error_code ec;
  if (!folder.empty() && !fs::is_directory(folder, ec))
    throw Error(ErrorCode::kIoError, "TRIESCOPE_ASSETS: expected a folder; found '" + folder + "'");
  std::vector<AssetFile> files;
  for (const Asset& asset : assets()) {
    if (!asset.name.starts_with(prefix)) continue;
    files.push_back({std::string(asset.name), std::string(asset.text)});
    if (folder.empty()) continue;
    const std::string path = (fs::path(folder) / asset.name).string();
    if (!fs::exists(path, ec)) continue;
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in || fs::is_directory(path, ec))
      throw Error(ErrorCode::kIoError, path + ": cannot be read; is it a file one may read?");
    files.push_back({path, text.str()});
  }
  return files;
}

std::string asset_folder() {
  const char* const folder = std::getenv("TRIESCOPE_ASSETS");
  return folder ? folder : "";
}

}  // namespace triescope::viz

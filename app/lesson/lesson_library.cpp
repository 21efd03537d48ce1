#include "app/lesson/lesson_library.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "app/session/folders.h"
#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "core/base/words.h"
#include "core/methods/registry.h"
#include "viz/export/whole_file.h"
#include "viz/text/assets.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "assets/lessons/";

std::string read_whole(const fs::path& path) {
  std::error_code ec;
  if (!fs::exists(path, ec))
    throw Error(
        ErrorCode::kNotFound,
        path.string() + ": no such file; `triescope lesson list` names the lessons there are");
  if (!fs::is_regular_file(path, ec))
    throw Error(ErrorCode::kCorruption, path.string() + ": expected a file; found something else");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in)
    throw Error(ErrorCode::kIoError,
                path.string() + ": cannot be read; is it a file one may read?");
  return text.str();
}

// Refuses a link, which would lead out of the lesson's folder.
void refuse_link(const std::string& path) {
  std::error_code ec;
  if (fs::is_symlink(path, ec))
    throw Error(ErrorCode::kCorruption,
                path +
                    ": expected a file of the lesson's own folder; found a link, which is not "
                    "followed");
}

std::string path_beside(const LibraryLesson& lesson, const std::string& file) {
  std::string path = (fs::path(lesson.folder) / file).string();
  refuse_link(path);
  return path;
}

LibraryLesson read(const std::string& file, const std::string& folder, std::string_view text,
                   const std::string& path) {
  return {fs::path(file).stem().string(), file, folder, lessons::read_lesson(text, path)};
}

// The folder of $TRIESCOPE_ASSETS from which lessons come; "" = none.
std::string own_folder() {
  const std::string folder = viz::asset_folder();
  std::error_code ec;
  if (folder.empty()) return {};
  const fs::path lessons = fs::path(folder) / kPrefix;
  return fs::is_directory(lessons, ec) ? lessons.string() : "";
}

std::set<std::string> files_of(const std::string& folder) {
  std::set<std::string> files;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->path().extension() == ".md") files.insert(it->path().filename().string());
  return files;
}

std::set<std::string> built_in_files() {
  std::set<std::string> files;
  for (const viz::Asset& asset : viz::assets())
    if (asset.name.starts_with(kPrefix) && asset.name.ends_with(".md"))
      files.emplace(asset.name.substr(kPrefix.size()));
  return files;
}

std::string_view built_in(const std::string& file) {
  for (const viz::Asset& asset : viz::assets())
    if (asset.name.starts_with(kPrefix) && asset.name.substr(kPrefix.size()) == file)
      return asset.text;
  return {};
}

LibraryLesson read_named(const std::string& file, const std::string& own) {
  std::error_code ec;
  const fs::path path = fs::path(own) / file;
  if (!own.empty() && fs::exists(path, ec)) return read(file, own, read_whole(path), path.string());
  return read(file, "", built_in(file), std::string(kPrefix) + file);
}

std::set<std::string> library_files(const std::string& own) {
  std::set<std::string> files = built_in_files();
  if (!own.empty()) files.merge(files_of(own));
  return files;
}

}  // namespace

std::vector<LibraryLesson> library_lessons(std::vector<std::string>& problems) {
  std::vector<LibraryLesson> all;
  const std::string own = own_folder();
  for (const std::string& file : library_files(own)) {
    try {
      all.push_back(read_named(file, own));
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  }
  return all;
}

LibraryLesson find_lesson(const std::string& path_or_name) {
  const std::string own = own_folder();
  const std::set<std::string> files = library_files(own);
  for (const std::string& file : {path_or_name, path_or_name + ".md"})
    if (files.count(file) > 0 && !fs::exists(path_or_name)) return read_named(file, own);
  const fs::path path(path_or_name);
  if (path_or_name.find('/') == std::string::npos && path.extension() != ".md" &&
      !fs::exists(path)) {
    std::vector<std::string> names;
    std::string list;
    for (const std::string& file : files) {
      names.push_back(fs::path(file).stem().string());
      list += (list.empty() ? "" : ", ") + names.back();
    }
    throw Error(ErrorCode::kInvalidArgument, "there is no lesson '" + path_or_name +
                                                 "'; expected a file or one of " + list +
                                                 did_you_mean(path_or_name, names));
  }
  const std::string text = read_whole(path);
  const fs::path folder = path.parent_path();
  return read(path.filename().string(), folder.empty() ? "." : folder.string(), text, path_or_name);
}

std::vector<std::string> lessons_beside(const LibraryLesson& lesson) {
  const std::set<std::string> files =
      lesson.folder.empty() ? library_files(own_folder()) : files_of(lesson.folder);
  return {files.begin(), files.end()};
}

std::string file_beside(const LibraryLesson& lesson, const std::string& file,
                        std::uintmax_t most_bytes) {
  if (lesson.folder.empty()) {
    const std::string_view bytes = built_in(file);
    if (bytes.empty()) throw Error(ErrorCode::kNotFound, file + ": is not part of this program");
    return std::string(bytes);
  }
  const fs::path path = fs::path(lesson.folder) / file;
  std::error_code ec;
  const fs::file_status status = fs::symlink_status(path, ec);
  if (!fs::exists(status))
    throw Error(ErrorCode::kNotFound, path.string() + ": no such file beside the lesson");
  refuse_link(path.string());
  if (!fs::is_regular_file(status))
    throw Error(ErrorCode::kCorruption, path.string() + ": expected a file; found something else");
  if (const std::uintmax_t bytes = fs::file_size(path, ec); ec || bytes > most_bytes)
    throw Error(ErrorCode::kCorruption, path.string() + ": expected at most " +
                                            std::to_string(most_bytes >> 10) + " KiB; found " +
                                            std::to_string(bytes >> 10));
  return read_whole(path);
}

std::string capture_path(const LibraryLesson& lesson) {
  const std::string& capture = lesson.lesson.about.capture;
  return capture.empty() || lesson.folder.empty() ? "" : path_beside(lesson, capture);
}

std::string capture_of(const LibraryLesson& lesson) {
  const std::string& capture = lesson.lesson.about.capture;
  return capture.empty() ? "" : capture_beside(lesson, capture);
}

std::string capture_beside(const LibraryLesson& lesson, const std::string& capture) {
  std::error_code ec;
  if (!lesson.folder.empty()) {
    std::string path = path_beside(lesson, capture);
    if (fs::exists(path, ec)) return path;
    const lessons::FrontMatter& about = lesson.lesson.about;
    const bool is_ours = about.program.empty() && capture == about.capture;
    throw Error(ErrorCode::kNotFound,
                path + ": no such file" +
                    (is_ours ? "; `triescope lesson record " + lesson.lesson.path + "` makes it"
                             : " beside the lesson; put it there"));
  }
  const std::string_view bytes = built_in(capture);
  if (bytes.empty())
    throw Error(ErrorCode::kNotFound,
                lesson.lesson.path + ": its capture " + capture + " is not part of this program");
  // The name depends on the content: another version's capture is another file, and one with
  // bookmarks keeps them.
  char key[20];
  std::snprintf(key, sizeof key, "%016zx", std::hash<std::string_view>()(bytes));
  const fs::path folder = cache_folder() / "lessons" / key, path = folder / capture;
  if (fs::exists(path, ec)) return path.string();
  fs::create_directories(folder, ec);
  try {
    viz::write_whole(path.string(), bytes);
  } catch (const Error& error) {
    throw Error(ErrorCode::kIoError,
                error.what() + std::string(" XDG_CACHE_HOME names another folder for it"));
  }
  return path.string();
}

RunRequest request_of(const lessons::Lesson& lesson) {
  const lessons::FrontMatter& about = lesson.about;
  if (!about.program.empty())
    throw Error(ErrorCode::kInvalidArgument,
                lesson.path + ": its run was recorded by " + about.program +
                    "; triescope shows it, and cannot decode it again");
  RunRequest request;
  request.model = about.model;
  request.draft_model = about.draft;
  request.method = about.method;
  for (const auto& [name, value] : about.settings) request.settings[name] = value;
  request.prompt = about.prompt;
  request.chat = about.chat;
  request.max_new_tokens = about.max_new_tokens;
  request.seed = about.seed;
  return request;
}

RunRequest changed_request(const lessons::Lesson& lesson, const std::string& changes) {
  RunRequest request = request_of(lesson);
  for (const std::string& change : words(changes)) {
    const std::size_t equals = change.find('=');
    const std::string name = change.substr(0, equals), value = change.substr(equals + 1);
    if (name == "seed")
      request.seed = static_cast<std::uint64_t>(lessons::whole_number("a seed", value));
    else if (name == "max_new_tokens")
      request.max_new_tokens = std::clamp(lessons::whole_number("a number", value), 1, 4096);
    else
      request.settings[name] = value;
  }
  validate_settings(find_method(request.method), request.settings);
  return request;
}

}  // namespace triescope::app

// The lessons there are: those of the program (assets/lessons, built into it), over them those of
// the folder that $TRIESCOPE_ASSETS names, and any file a lecturer opens. Errors are those of reading.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/run/request.h"
#include "lessons/lesson.h"

namespace triescope::app {

// One lesson, read, and where its capture comes from.
struct LibraryLesson {
  std::string id;      // its file's name without .md: what is remembered of a finished one
  std::string file;    // "beam-trie.md"
  std::string folder;  // of the file; "" = built in
  lessons::Lesson lesson;
};

// Those of the program and of $TRIESCOPE_ASSETS, in the order of their names. One that cannot be read
// is left out, and said in `problems`.
std::vector<LibraryLesson> library_lessons(std::vector<std::string>& problems);
// A path, or the name of one of the above ("beam-trie", "beam-trie.md"). Errors: kNotFound for a path
// (it has a '/', or ends in .md), kInvalidArgument for a name: lists those there are; read_lesson()'s.
LibraryLesson find_lesson(const std::string& path_or_name);
// The names of the lesson files beside it, its own among them.
std::vector<std::string> lessons_beside(const LibraryLesson& lesson);

// The path of its capture, "" where it has none. A built-in one is written to the user's cache folder
// first, where it may be given bookmarks. Error{kNotFound}: the file is missing; {kCorruption}: a link or
// not a plain file; {kIoError}: cannot be written.
std::string capture_of(const LibraryLesson& lesson);
// What a file beside the lesson holds, a picture for example. Error{kNotFound}: there is none;
// {kCorruption}: a link, not a plain file, or larger than `most_bytes`.
std::string file_beside(const LibraryLesson& lesson, const std::string& file,
                        std::uintmax_t most_bytes);
// Where its capture is recorded to; "" where it is built in or has none. Error{kCorruption}: a link,
// which would lead out of the folder.
std::string capture_path(const LibraryLesson& lesson);
// The run that it is about.
RunRequest request_of(const lessons::Lesson& lesson);
// The same with `changes`, "kv=recycle seed=3": settings of the method, seed and max_new_tokens.
// Error{kInvalidArgument}: the method refuses one.
RunRequest changed_request(const lessons::Lesson& lesson, const std::string& changes);

}  // namespace triescope::app

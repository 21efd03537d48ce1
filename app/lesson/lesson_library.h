// The library of lessons: the program's own (assets/lessons, built into it), replaced by those in
// the folder that $TRIESCOPE_ASSETS names, and any file that a lecturer opens. Errors are those of
// reading.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/session/request.h"
#include "lessons/lesson.h"

namespace triescope::app {

// One lesson, and where its capture comes from.
struct LibraryLesson {
  std::string id;      // its file's name without .md, by which a finished one is remembered
  std::string file;    // "beam-trie.md"
  std::string folder;  // the file's folder; "" = built in
  lessons::Lesson lesson;
};

// The program's lessons and those of $TRIESCOPE_ASSETS, in the order of their names. A lesson that
// cannot be read is left out and reported in `problems`.
std::vector<LibraryLesson> library_lessons(std::vector<std::string>& problems);
// Finds a lesson by its path or its name ("beam-trie", "beam-trie.md"). Errors: kNotFound for a
// path (it has a '/', or ends in .md), kInvalidArgument for a name: lists the names that exist;
// those of read_lesson().
LibraryLesson find_lesson(const std::string& path_or_name);
// The names of the lesson files in its folder, its own included.
std::vector<std::string> lessons_beside(const LibraryLesson& lesson);

// The path of its capture; "" if it has none. A built-in capture is first written to the user's
// cache folder, where it can be given bookmarks. Error{kNotFound}: the file is missing;
// {kCorruption}: a link, or not a plain file; {kIoError}: it cannot be written.
std::string capture_of(const LibraryLesson& lesson);
// The same for another capture of the lesson's folder, by its file's name.
std::string capture_beside(const LibraryLesson& lesson, const std::string& capture);
// The content of a file beside the lesson, for example a picture. Error{kNotFound}: it does not
// exist; {kCorruption}: a link, not a plain file, or larger than `most_bytes`.
std::string file_beside(const LibraryLesson& lesson, const std::string& file,
                        std::uintmax_t most_bytes);
// The path to which its capture is recorded; "" if it is built in or has none. Error{kCorruption}:
// a link, which would lead out of the folder.
std::string capture_path(const LibraryLesson& lesson);
// The run that the lesson is about. Error{kInvalidArgument}: another program recorded it, so it cannot be
// decoded here.
RunRequest request_of(const lessons::Lesson& lesson);
// The same with `changes`, such as "kv=recycle seed=3": settings of the method, seed and
// max_new_tokens. Error{kInvalidArgument}: the method refuses one.
RunRequest changed_request(const lessons::Lesson& lesson, const std::string& changes);

}  // namespace triescope::app

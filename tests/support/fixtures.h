// Captures that earlier programs recorded (tests/fixtures/captures), copied to a folder of the
// test's own: opening one may make files beside it.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "tests/support/paths.h"

namespace triescope::test {

// Of schema 1, recorded by triescope 0.1.0 with two tiny models. Beside each <name>.tscap stands
// <name>.csv: the CSV of every panel after two steps, as that program exported it, each behind a
// line "=== panel NAME after step N". "killed" was recorded by a program that was killed: its log
// is beside it, and its status still "running".
inline constexpr const char* kSchema1Captures[] = {"beam",         "ngram_trie", "draft_chain",
                                                   "draft_tree",   "lookahead",  "typical",
                                                   "ngram_sample", "killed"};

// Of schema 2, by a later triescope 0.1.0 with one tiny model, which also drafts for itself.
inline constexpr const char* kSchema2Captures[] = {"beam", "sample", "draft_chain"};

// Of schema 3, likewise, of shorter runs.
inline constexpr const char* kSchema3Captures[] = {"sample", "draft_chain"};

inline std::filesystem::path captures_folder(int schema) {
  return source_dir() / "tests" / "fixtures" / "captures" / ("schema" + std::to_string(schema));
}

// The copy's path. It is as old as a capture from another day, for a reader that asks whether
// somebody still writes it.
inline std::string copy_of_capture(int schema, const std::string& name, const TempDir& dir) {
  namespace fs = std::filesystem;
  const std::string path = dir.path() / (name + ".tscap");
  for (const char* suffix : {"", "-wal"}) {
    const fs::path from = captures_folder(schema) / (name + ".tscap" + suffix);
    if (!fs::exists(from)) continue;
    fs::copy_file(from, path + suffix, fs::copy_options::overwrite_existing);
    fs::permissions(path + suffix, fs::perms::owner_write, fs::perm_options::add);
    fs::last_write_time(path + suffix, fs::file_time_type::clock::now() - std::chrono::hours(24));
  }
  return path;
}

}  // namespace triescope::test

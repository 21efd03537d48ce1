// Captures of tiny models that are kept (tests/fixtures/captures), copied to a folder of the test's
// own: opening one may make files beside it.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "tests/support/paths.h"

namespace triescope::test {

// Beside each <name>.tscap stands <name>.csv: the CSV of every panel after two steps, each behind a
// line "=== panel NAME after step N". "killed" was recorded by a program that was killed: its log
// is beside it, and its status still "running". In those of the first row, verdicts have the recorder's
// own words and no codes, and stages were not recorded.
inline constexpr const char* kKeptCaptures[] = {
    "beam",       "ngram_trie",   "draft_chain", "draft_tree", "lookahead",
    "typical",    "ngram_sample", "killed",      "self_beam",  "self_sample",
    "self_chain", "short_sample", "short_chain"};
inline constexpr const char* kCapturesInWords[] = {"beam",         "ngram_trie", "draft_chain",
                                                   "draft_tree",   "lookahead",  "typical",
                                                   "ngram_sample", "killed"};

inline std::filesystem::path captures_folder() {
  return source_dir() / "tests" / "fixtures" / "captures";
}

// The copy's path. It is as old as a capture from another day, for a reader that asks whether
// somebody still writes it.
inline std::string copy_of_capture(const std::string& name, const TempDir& dir) {
  namespace fs = std::filesystem;
  const std::string path = dir.path() / (name + ".tscap");
  for (const char* suffix : {"", "-wal"}) {
    const fs::path from = captures_folder() / (name + ".tscap" + suffix);
    if (!fs::exists(from)) continue;
    fs::copy_file(from, path + suffix, fs::copy_options::overwrite_existing);
    fs::permissions(path + suffix, fs::perms::owner_write, fs::perm_options::add);
    fs::last_write_time(path + suffix, fs::file_time_type::clock::now() - std::chrono::hours(24));
  }
  return path;
}

}  // namespace triescope::test

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/run/scratch_folder.h"
#include "tests/support/paths.h"

namespace triescope::test {
namespace {

namespace fs = std::filesystem;

// $TMPDIR for as long as it lives.
struct TemporaryFiles {
  std::string before = fs::temp_directory_path().string();
  explicit TemporaryFiles(const std::string& folder) { ::setenv("TMPDIR", folder.c_str(), 1); }
  ~TemporaryFiles() { ::setenv("TMPDIR", before.c_str(), 1); }
};

TEST_CASE("scratch folder: each has its own, and takes everything in it away") {
  const TempDir room;
  const TemporaryFiles here(room.path().string());
  fs::path kept;
  {
    const app::ScratchFolder one("lesson"), other("lesson");
    kept = one.path();
    CHECK(kept.parent_path() == room.path());
    CHECK(kept.filename().string().starts_with("triescope-lesson-"));
    CHECK(kept != other.path());
    CHECK(one.file("run.tscap") == (kept / "run.tscap").string());
    fs::create_directory(kept / "deep");
    std::ofstream(kept / "deep" / "file") << "x";
  }
  CHECK_FALSE(fs::exists(kept));
  CHECK(fs::is_empty(room.path()));
}

}  // namespace
}  // namespace triescope::test

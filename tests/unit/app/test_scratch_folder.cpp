#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "app/session/folders.h"
#include "tests/support/environment.h"
#include "tests/support/paths.h"

namespace triescope::test::test_scratch_folder {
namespace {

namespace fs = std::filesystem;

TEST_CASE("scratch folder: each has its own, and takes everything in it away") {
  const TempDir room;
  const EnvironmentVariable here("TMPDIR", room.path());
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
}  // namespace triescope::test::test_scratch_folder

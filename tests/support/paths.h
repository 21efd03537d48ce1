// Where tests find what is not in the repository. All are optional: a test skips where it gets
// nothing.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace triescope::test {

// The checkout.
inline std::filesystem::path source_dir() { return TRIESCOPE_TEST_SOURCE_DIR; }

// The program under test (built before ctest runs; may be missing where only some targets were
// built).
inline std::filesystem::path program_path() {
  if (const char* given = std::getenv("TRIESCOPE")) return given;
  return TRIESCOPE_TEST_PROGRAM;
}

// Prompts, corpora, golden outputs: $TRIESCOPE_TEST_DATA, else ../shared/data beside the checkout.
inline std::optional<std::filesystem::path> data_dir() {
  std::filesystem::path path = source_dir().parent_path() / "shared" / "data";
  if (const char* given = std::getenv("TRIESCOPE_TEST_DATA")) path = given;
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return std::nullopt;
  return path;
}

// SmolLM2-135M-Instruct as GGUF, where set-up installed it.
inline std::optional<std::filesystem::path> model_path() {
  std::filesystem::path folder = source_dir() / ".deps" / "models";
  if (const char* given = std::getenv("TRIESCOPE_MODELS")) folder = given;
  const std::filesystem::path path = folder / "SmolLM2-135M-Instruct.Q4_1.gguf";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return path;
}

// A folder of this test's own, removed at the end.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "triescope-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TempDir() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace triescope::test

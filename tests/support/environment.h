// An environment variable of a test's own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace triescope::test {

// Set for as long as it lives; then again what it was before, or not there at all. Those of one name end
// in the reverse order of their beginnings. Not while other threads read the environment.
class EnvironmentVariable {
 public:
  EnvironmentVariable(std::string name, const std::filesystem::path& value)
      : name_(std::move(name)) {
    if (const char* const before = std::getenv(name_.c_str())) before_ = before;
    ::setenv(name_.c_str(), value.c_str(), /*overwrite=*/1);
  }
  ~EnvironmentVariable() {
    if (before_)
      ::setenv(name_.c_str(), before_->c_str(), /*overwrite=*/1);
    else
      ::unsetenv(name_.c_str());
  }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace triescope::test

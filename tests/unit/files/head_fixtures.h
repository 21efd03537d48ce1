// The small draft heads of tests/fixtures/draft_heads (its README says what each one is).
#pragma once

#include <filesystem>
#include <string>

#include "core/files/draft_head/head_file.h"
#include "tests/support/paths.h"

namespace triescope::test {

inline std::filesystem::path head_fixtures() {
  return source_dir() / "tests" / "fixtures" / "draft_heads";
}

// Of the target beside them.
inline formats::TargetShape tiny_target() {
  return formats::target_shape(formats::config_from_folder((head_fixtures() / "target").string()));
}

inline formats::HeadFile tiny_head(const std::string& name) {
  return formats::HeadFile::open((head_fixtures() / name).string(), tiny_target());
}

}  // namespace triescope::test

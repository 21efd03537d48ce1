// A draft head's file in words. Pure.
#pragma once

#include <string>

#include "core/files/draft_head/head_config.h"

namespace triescope::formats {

// One paragraph, for HeadFile::describe().
std::string describe_head(const HeadConfig& config, std::int64_t parameters, std::int64_t bytes);

}  // namespace triescope::formats

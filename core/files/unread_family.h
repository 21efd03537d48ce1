// Errors about a model whose family is not read: what kind of model it is by its own configuration, and what to open in its place.
#pragma once

#include <string>

#include "core/files/family.h"

namespace triescope::formats {

// Throws Error{kNotSupported} for a config.json whose model_type no family has.
[[noreturn]] void refuse_unread_family(const JsonFields& config, const std::string& model_type);
// The same for a GGUF file whose general.architecture no family has.
[[noreturn]] void refuse_unread_architecture(const GgufFile& file, const std::string& architecture);

}  // namespace triescope::formats

// A model as a program computes it that does not know its rope scaling: to recognise its numbers.
#pragma once

#include <memory>
#include <string>

#include "core/model/model.h"

namespace triescope {

bool has_rope_scaling(const std::string& path);
// load_model(), with plain rotary positions. The same errors.
std::unique_ptr<Model> load_without_rope_scaling(const std::string& path,
                                                 const LoadOptions& options = {});

}  // namespace triescope

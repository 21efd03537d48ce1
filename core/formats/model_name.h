// What a model is called where people read it: in narration, figures and the window.
#pragma once

#include <string>
#include <string_view>

namespace triescope::formats {

// Of a GGUF file. `general_name` is what its author's training run was called, which is often no name
// ("Smollm2 135M 8k Lc100K Mix1 Ep2"). It is taken where the file's name has all of its words or says
// nothing itself ("model.gguf"); else the file's name is, without type and shard: for
// "SmolLM2-135M-Instruct.Q4_1.gguf" "SmolLM2-135M-Instruct".
std::string gguf_model_name(std::string_view general_name, std::string_view path);

// Of a Hugging Face folder: its name. In the Hugging Face cache, where that is a hash
// (models--ORG--NAME/snapshots/HASH), the model's, "ORG/NAME".
std::string folder_model_name(const std::string& folder);

}  // namespace triescope::formats

// A model's name as people read it in narration, figures and the window.
#pragma once

#include <string>
#include <string_view>

namespace triescope::formats {

// The name of a GGUF file's model. `general_name` is the name of its author's training run, often
// no good name ("Smollm2 135M 8k Lc100K Mix1 Ep2"). It is used where the file's name has all of its
// words or says nothing itself ("model.gguf"). Otherwise the file's name is used, without type and
// shard: "SmolLM2-135M-Instruct.Q4_1.gguf" gives "SmolLM2-135M-Instruct".
std::string gguf_model_name(std::string_view general_name, std::string_view path);

// A Hugging Face folder's name. In the Hugging Face cache the folder is a hash
// (models--ORG--NAME/snapshots/HASH), and the name is "ORG/NAME".
std::string folder_model_name(const std::string& folder);

}  // namespace triescope::formats

// Implements load_tokenizer (tokenizer.h).
#include <filesystem>

#include "core/base/error.h"
#include "core/text/tokenizer/spec.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope {

std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path) {
  namespace fs = std::filesystem;
  using namespace tokenizer;
  std::error_code ec;
  if (!fs::exists(path, ec))
    throw Error(ErrorCode::kNotFound,
                path +
                    ": no such file or folder; expected a model folder, a tokenizer.json, a "
                    "tokenizer.model or a .gguf");
  if (fs::is_directory(path, ec)) return make_tokenizer(spec_from_directory(path));
  const fs::path extension = fs::path(path).extension();
  if (extension == ".json") return make_tokenizer(spec_from_json_file(path));
  if (extension == ".model") return make_tokenizer(spec_from_sentencepiece_file(path));
  return make_tokenizer(spec_from_gguf(path));
}

}  // namespace triescope

// The tokens that the files beside a tokenizer name: added_tokens_decoder and the *_token keys of
// tokenizer_config.json, special_tokens_map.json, added_tokens.json. Source: transformers 5.17,
// PreTrainedTokenizerBase._from_pretrained and TokenizersBackend.__init__. The order of the steps
// decides ids and flags, so it is theirs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/text/tokenizer/folder_file.h"
#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

// transformers' class that opens a folder's tokenizer, where that makes a difference.
enum class TokenizerClass : std::uint8_t { kAny, kGpt2, kQwen2 };
// Reads it from tokenizer_config.json and config.json.
TokenizerClass tokenizer_class(const FolderFile& config, const FolderFile& model);

// Adds the tokens to the spec and fills special_texts. A token that the vocabulary lacks gets the
// next id, whatever id the file says. `tokenizer_json`: the spec comes from that file, which itself
// knows what begins and ends a text; otherwise add_bos_token and add_eos_token say it. Errors:
// kCorruption (names the file).
void read_folder_tokens(const std::filesystem::path& folder, const FolderFile& config,
                        TokenizerClass made_by, bool tokenizer_json, TokenizerSpec& spec);

// -1: no token has that text.
std::int32_t token_id(const TokenizerSpec& spec, const std::string& text);

}  // namespace triescope::tokenizer

// The "model" of a tokenizer.json: BPE, Unigram or WordPiece.
#include <algorithm>
#include <utility>

#include "core/base/json_io.h"
#include "core/text/tokenizer/spec_json.h"

namespace triescope::tokenizer {
namespace {

using nlohmann::json;

// Reads the tokens with their ids, and which of them is the unknown token.
TokenIds read_vocabulary(const std::string& file, const json& model, TokenizerSpec& spec) {
  const json& vocab = model.at("vocab");
  TokenIds ids;
  ids.reserve(vocab.size());
  const std::size_t id_end = highest_ids(vocab.size());
  for (const auto& [token, id_json] : vocab.items()) {
    if (!id_json.is_number_integer())
      corrupt(file, "vocab: the id of '" + token + "' is not an integer");
    const auto id = id_json.get<std::int64_t>();
    if (id < 0 || id >= static_cast<std::int64_t>(id_end))
      corrupt(file, "vocab: id " + std::to_string(id) + " of '" + token.substr(0, 80) +
                        "', expected 0 to " + std::to_string(id_end - 1) + " of " +
                        std::to_string(vocab.size()) + " tokens");
    check_length(file, token);
    if (spec.vocab.size() <= static_cast<std::size_t>(id))
      spec.vocab.resize(static_cast<std::size_t>(id) + 1);
    if (!spec.vocab[static_cast<std::size_t>(id)].empty())
      corrupt(file, "vocab: id " + std::to_string(id) + " appears twice");
    spec.vocab[static_cast<std::size_t>(id)] = token;
    ids.emplace(token, static_cast<std::int32_t>(id));
  }
  if (model.contains("unk_token") && model["unk_token"].is_string()) {
    const auto found = ids.find(model["unk_token"].get<std::string>());
    if (found != ids.end()) spec.unk_id = found->second;
  }
  return ids;
}

void read_bpe(const std::string& file, const json& model, TokenizerSpec& spec) {
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (model.contains(key) && model[key].is_string() && !model[key].get<std::string>().empty())
      unsupported(file, std::string("a BPE ") + key);
  if (model.contains("dropout") && model["dropout"].is_number() &&
      model["dropout"].get<double>() != 0)
    unsupported(file, "BPE dropout");
  spec.byte_fallback = model.value("byte_fallback", false);
  spec.ignore_merges = model.value("ignore_merges", false);
  spec.fuse_unk = model.value("fuse_unk", false);
  if (!model.at("vocab").is_object() || !model.at("merges").is_array())
    corrupt(file, "model: expected a \"vocab\" of tokens and ids and a list of \"merges\"");
  const TokenIds ids = read_vocabulary(file, model, spec);
  std::size_t rank = 0;
  for (const json& merge : model.at("merges")) {
    std::optional<TokenizerSpec::Merge> found;
    if (merge.is_array() && merge.size() == 2) {
      found = merge_of(merge[0].get<std::string>(), merge[1].get<std::string>(), ids);
    } else if (merge.is_string()) {
      found = split_merge(merge.get<std::string>(), ids);
    }
    if (!found)
      corrupt(file, "merges: entry " + std::to_string(rank) +
                        ": expected two tokens whose union is a token, found " +
                        dump_json(merge).substr(0, 100));
    spec.merges.push_back(*found);
    ++rank;
  }
}

// Tokens in the order of their ids, each with its score.
void read_unigram(const std::string& file, const json& model, TokenizerSpec& spec) {
  spec.model = ModelKind::kUnigram;
  spec.byte_fallback = model.value("byte_fallback", false);
  const json& vocab = model.at("vocab");
  if (!vocab.is_array() || vocab.empty())
    corrupt(file, "model: expected a \"vocab\" of [token, score], found " +
                      dump_json(vocab).substr(0, 80));
  if (vocab.size() > highest_ids(vocab.size()))
    corrupt(file, "vocab: expected fewer tokens, found " + std::to_string(vocab.size()));
  for (const json& entry : vocab) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
      corrupt(file, "vocab: entry " + std::to_string(spec.vocab.size()) +
                        ": expected [token, score], found " + dump_json(entry).substr(0, 80));
    spec.vocab.push_back(entry[0].get<std::string>());
    check_length(file, spec.vocab.back());
    spec.scores.push_back(entry[1].get<double>());
  }
  if (!model.contains("unk_id") || model["unk_id"].is_null()) return;
  const std::int64_t unk = integer_of(file, model["unk_id"], "model: unk_id");
  if (unk < 0 || unk >= static_cast<std::int64_t>(vocab.size()))
    corrupt(file, "model: unk_id: expected 0 to " + std::to_string(vocab.size() - 1) + ", found " +
                      std::to_string(unk));
  spec.unk_id = static_cast<std::int32_t>(unk);
}

void read_word_piece(const std::string& file, const json& model, TokenizerSpec& spec) {
  spec.model = ModelKind::kWordPiece;
  spec.continuing_prefix = model.value("continuing_subword_prefix", spec.continuing_prefix);
  check_length(file, spec.continuing_prefix);
  if (!model.at("vocab").is_object())
    corrupt(file, "model: expected a \"vocab\" of tokens and ids");
  read_vocabulary(file, model, spec);
  if (!model.contains("max_input_chars_per_word")) return;
  const std::int64_t most =
      integer_of(file, model["max_input_chars_per_word"], "model: max_input_chars_per_word");
  if (most < 0)
    corrupt(file,
            "model: max_input_chars_per_word: expected 0 or more, found " + std::to_string(most));
  spec.max_word_characters = static_cast<std::size_t>(most);
}

// Older files do not say what their model is.
std::string type_of_model(const std::string& file, const json& model) {
  if (!model.is_object())
    corrupt(file, "model: expected an object, found " + dump_json(model).substr(0, 80));
  if (model.contains("type")) return model["type"].get<std::string>();
  if (model.contains("merges")) return "BPE";
  if (model.contains("unk_id")) return "Unigram";
  return model.contains("continuing_subword_prefix") ? "WordPiece" : "?";
}

}  // namespace

void read_model(const std::string& file, const json& model, TokenizerSpec& spec) {
  const std::string type = type_of_model(file, model);
  if (type == "BPE") return read_bpe(file, model, spec);
  if (type == "Unigram") return read_unigram(file, model, spec);
  if (type == "WordPiece") return read_word_piece(file, model, spec);
  unsupported(file, "the tokenizer model " + type + " (BPE, Unigram and WordPiece are)");
}

}  // namespace triescope::tokenizer

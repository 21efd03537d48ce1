#include "core/text/tokenizer/folder_tokens.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <unordered_set>

#include "core/base/json_io.h"
#include "core/text/tokenizer/add_tokens.h"
#include "core/text/tokenizer/folder_file.h"
#include "core/text/tokenizer/spec_json.h"

namespace triescope::tokenizer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The names that every tokenizer may have, in the order in which new tokens get their ids.
constexpr std::array<std::string_view, 7> kNames = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

constexpr std::size_t kMaxNames = 1000;

bool is_common(const std::string& name) {
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// A special token as a file gives it: only its text, or with flags.
struct Given {
  AddedToken token;
  bool text_alone = false;
  bool from_map = false;  // special_tokens_map.json gives it with flags
};
using GivenByName = std::vector<std::pair<std::string, Given>>;

Given text_alone(const std::string& text) {
  Given given;
  given.text_alone = true;
  given.token.content = text;
  given.token.special = true;
  return given;
}

bool names_token(const json& value) {
  return value.is_string() || (value.is_object() && value.contains("content"));
}

Given given_of(const std::string& file, const json& value) {
  if (value.is_string()) return text_alone(value.get<std::string>());
  return {added_token_of(file, value)};
}

template <class List>  // GivenByName, const or not
auto* find(List& list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const auto& there) { return there.first == name; });
  return found == list.end() ? nullptr : &found->second;
}

// Works like a Python dict: an existing name keeps its place.
void put(GivenByName& list, const std::string& name, Given given) {
  if (Given* there = find(list, name))
    *there = std::move(given);
  else
    list.emplace_back(name, std::move(given));
}

// The same for a name and value from a file.
void put(const FolderFile& file, GivenByName& list, const std::string& name, const json& value) {
  put(list, name, given_of(file.path, value));
  if (list.size() > kMaxNames)
    corrupt(file.path, "expected at most " + std::to_string(kMaxNames) +
                           " names of special tokens, found more, such as " + name.substr(0, 80));
}

// Equal in everything that tokenizers compares.
bool same(const AddedToken& a, const AddedToken& b) {
  return a.content == b.content && a.single_word == b.single_word && a.lstrip == b.lstrip &&
         a.rstrip == b.rstrip && a.normalized == b.normalized && a.special == b.special;
}

// The contents of the files, before any token is added.
class FolderTokens {
 public:
  FolderTokens(const fs::path& folder, const FolderFile& config, TokenizerClass made_by,
               bool tokenizer_json, const TokenizerSpec& spec) {
    read_config(config);
    if (config.content.contains("added_tokens_decoder")) {
      read_decoder(config);
    } else {
      // Only older folders have this file.
      const FolderFile map(folder, "special_tokens_map.json");
      read_map(map);
      read_added(FolderFile(folder, "added_tokens.json"));
      if (map.content.contains("additional_special_tokens") && !has_extra_)
        read_extra(map, "additional_special_tokens");
      if (tokenizer_json)
        for (const AddedToken& token : spec.added) note(token.id, token);
    }
    // A token that a list gives with flags has those flags wherever it is named.
    for (auto& [name, given] : common_)
      if (const auto found = listed_.find(given.token.content); found != listed_.end())
        given = {found->second};
    fill_defaults(made_by, spec);
  }

  // By name: the seven common ones in their order, then the model's own.
  GivenByName named() const {
    GivenByName all;
    for (const std::string_view name : kNames)
      if (const Given* given = find(common_, name)) all.emplace_back(name, *given);
    GivenByName own = other_;
    for (const auto& [name, given] : own_) put(own, name, given);
    for (const auto& [name, given] : own) put(all, name, given);
    return all;
  }
  const std::vector<Given>& extra() const { return extra_; }
  const std::map<std::int64_t, AddedToken>& by_id() const { return by_id_; }

 private:
  void read_config(const FolderFile& file) {
    const json& config = file.content;
    // additional_special_tokens is the older name.
    const char* extra = config.contains("extra_special_tokens") ? "extra_special_tokens"
                                                                : "additional_special_tokens";
    if (config.contains(extra)) {
      has_extra_ = !config[extra].is_object();
      read_extra(file, extra);
    }
    GivenByName own;
    for (const std::string& key : key_order(file.text)) {
      if (!key.ends_with("_token")) continue;
      const json& value = config[key];
      if (is_common(key)) {
        if (value.is_null()) nulls_.insert(key);
        if (names_token(value)) put(file, common_, key, value);
      } else if (value.is_string()) {
        put(file, own, key, value);
      } else if (names_token(value) && value.contains("__type")) {
        put(file, other_, key, value);
      }
    }
    for (auto& [name, given] : own_) put(own, name, std::move(given));
    own_ = std::move(own);
  }

  // Reads a list of tokens, or tokens by name.
  void read_extra(const FolderFile& read, const char* key) {
    const json& value = read.content[key];
    if (value.is_object()) {
      for (const std::string& name : key_order(read.text, key)) {
        if (!names_token(value[name]))
          corrupt(read.path, std::string(key) + ": " + name + ": expected a token, found " +
                                 dump_json(value[name]).substr(0, 80));
        put(read, own_, name, value[name]);
      }
    } else if (value.is_array()) {
      for (const json& entry : value) {
        if (!names_token(entry))
          corrupt(read.path, std::string(key) + ": expected a list of tokens, found " +
                                 dump_json(entry).substr(0, 80));
        extra_.push_back(given_of(read.path, entry));
      }
    } else if (!value.is_null()) {
      corrupt(read.path,
              std::string(key) + ": expected tokens, found " + dump_json(value).substr(0, 80));
    }
  }

  void read_decoder(const FolderFile& config) {
    const json& list = config.content["added_tokens_decoder"];
    if (!list.is_object())
      corrupt(config.path, "added_tokens_decoder: expected tokens by their ids, found " +
                               dump_json(list).substr(0, 80));
    for (const auto& [key, entry] : list.items()) {
      std::int64_t id = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
      if (error != std::errc() || end != key.data() + key.size())
        corrupt(config.path, "added_tokens_decoder: expected an id, found '" + key + "'");
      if (!entry.is_object())
        corrupt(config.path, "added_tokens_decoder: " + key +
                                 ": expected a token and its flags, found " +
                                 dump_json(entry).substr(0, 80));
      note(id, added_token_of(config.path, entry));
    }
  }

  void read_map(const FolderFile& map) {
    for (const std::string& key : key_order(map.text)) {
      const json& value = map.content[key];
      if (key == "extra_special_tokens") {
        if (!value.is_null()) read_map_extra(map);
        continue;
      }
      if (!key.ends_with("_token")) continue;
      if (is_common(key)) nulls_.erase(key);
      if (is_common(key) && value.is_null()) {
        nulls_.insert(key);
        std::erase_if(common_, [&](const auto& there) { return there.first == key; });
      }
      if (!names_token(value)) continue;
      GivenByName& list = is_common(key) ? common_ : other_;
      put(map, list, key, value);
      Given& given = *find(list, key);
      if (given.text_alone) continue;
      given.token.special = given.from_map = true;
      given.token.normalized = value.value("normalized", false);
    }
  }

  void read_map_extra(const FolderFile& map) {
    const std::size_t before = extra_.size();
    read_extra(map, "extra_special_tokens");
    if (map.content["extra_special_tokens"].is_array()) has_extra_ = true;
    for (std::size_t i = before; i < extra_.size(); ++i)
      extra_[i].token.special = extra_[i].from_map = true;
  }

  // added_tokens.json has only ids: its tokens are special if something names them as such.
  void read_added(const FolderFile& added) {
    std::unordered_set<std::string> special;
    for (const auto& [name, given] : common_)
      if (given.text_alone || given.from_map) special.insert(given.token.content);
    for (const Given& given : extra_)
      if (given.text_alone || given.from_map) special.insert(given.token.content);
    for (const auto& [text, id] : added.content.items()) {
      AddedToken token;
      token.content = text;
      check_length(added.path, text);
      token.special = special.contains(text);
      token.normalized = !token.special;
      note(integer_of(added.path, id, "the id of '" + text + "'"), token);
    }
  }

  void note(std::int64_t id, const AddedToken& token) {
    by_id_[id] = token;
    listed_[token.content] = token;
  }

  // Fills in the names that a tokenizer class gives its tokens where no file does.
  void fill_defaults(TokenizerClass made_by, const TokenizerSpec& spec) {
    const auto fill = [&](const std::string& name, const std::string& text) {
      if (!find(common_, name) && !nulls_.contains(name)) put(common_, name, text_alone(text));
    };
    for (const auto& [name, text] : spec.special_texts) fill(name, text);
    if (made_by == TokenizerClass::kAny) return;
    for (const char* name : {"unk_token", "eos_token"}) fill(name, "<|endoftext|>");
    fill(made_by == TokenizerClass::kGpt2 ? "bos_token" : "pad_token", "<|endoftext|>");
  }

  GivenByName common_;           // the seven common names
  GivenByName own_;              // the model's own, given as texts or by extra_special_tokens
  GivenByName other_;            // the model's own, given in another way; these come first
  std::set<std::string> nulls_;  // names whose value is null
  std::vector<Given> extra_;     // special tokens without a name
  bool has_extra_ = false;       // whether tokenizer_config.json has a list of them
  std::map<std::int64_t, AddedToken> by_id_;
  std::unordered_map<std::string, AddedToken> listed_;
};

// The tokens that the vocabulary lacks, or has with other flags, in the order in which ids are
// given.
std::vector<AddedToken> lacking(const FolderTokens& tokens, const GivenByName& named,
                                const TokenizerSpec& spec) {
  std::unordered_map<std::string, const AddedToken*> there;
  for (const AddedToken& token : spec.added) there.emplace(token.content, &token);
  std::unordered_set<std::string> names, listed;
  for (const auto& [name, given] : named) names.insert(given.token.content);
  for (const AddedToken& token : spec.added) listed.insert(token.content);
  std::vector<AddedToken> found;
  for (const auto& [id, listed_token] : tokens.by_id()) {
    AddedToken token = listed_token;
    token.special = token.special || names.contains(token.content);
    listed.insert(token.content);
    // transformers adds them all again, which changes nothing for those that are equal.
    const auto known = there.find(token.content);
    if (known == there.end() || !same(*known->second, token)) found.push_back(token);
  }
  const auto take = [&](const Given& given, bool is_named) {
    if (listed.contains(given.token.content)) return;
    found.push_back(given.token);
    if (is_named || names.contains(given.token.content)) found.back().special = true;
  };
  for (const auto& [name, given] : named) take(given, true);
  for (const Given& given : tokens.extra()) take(given, false);
  return found;
}

}  // namespace

std::int32_t token_id(const TokenizerSpec& spec, const std::string& text) {
  for (const AddedToken& token : spec.added)
    if (token.content == text) return token.id;
  const auto found = std::find(spec.vocab.begin(), spec.vocab.end(), text);
  return found == spec.vocab.end() || text.empty()
             ? -1
             : static_cast<std::int32_t>(found - spec.vocab.begin());
}

TokenizerClass tokenizer_class(const FolderFile& config, const FolderFile& model) {
  const std::string type = model.word("model_type");
  const std::string of_type = type == "gpt2"                       ? "GPT2Tokenizer"
                              : type == "qwen2" || type == "qwen3" ? "Qwen2Tokenizer"
                                                                   : "";
  std::string name = config.word("tokenizer_class");
  if (name.empty()) name = model.word("tokenizer_class");
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  // Many Qwen 2 folders name a class that is not theirs.
  if (name.empty() || type == "qwen2") name = of_type;
  return name == "GPT2Tokenizer"    ? TokenizerClass::kGpt2
         : name == "Qwen2Tokenizer" ? TokenizerClass::kQwen2
                                    : TokenizerClass::kAny;
}

void read_folder_tokens(const fs::path& folder, const FolderFile& config, TokenizerClass made_by,
                        bool tokenizer_json, TokenizerSpec& spec) {
  const FolderTokens tokens(folder, config, made_by, tokenizer_json, spec);
  const GivenByName named = tokens.named();
  add_tokens(config.path, lacking(tokens, named, spec), spec);
  // this class adds its special tokens again, without flags
  if (made_by == TokenizerClass::kQwen2) {
    std::vector<AddedToken> plain;
    for (const auto& [name, given] : named) plain.push_back(text_alone(given.token.content).token);
    for (const Given& given : tokens.extra())
      plain.push_back(text_alone(given.token.content).token);
    add_tokens(config.path, plain, spec);
  }
  spec.special_texts.clear();
  for (const auto& [name, given] : named)
    spec.special_texts.emplace_back(name, given.token.content);
  spec.split_special_tokens = config.says("split_special_tokens");
  if (made_by != TokenizerClass::kAny && config.content.contains("add_prefix_space"))
    for (PreTokenizerStep& step : spec.pre_tokenizer)
      if (step.kind == PreTokenizerStep::Kind::kByteLevel)
        step.add_prefix_space = config.says("add_prefix_space");
  if (tokenizer_json) return;
  const auto end = [&](const char* flag, const char* name, std::vector<std::int32_t>& ids) {
    if (!config.says(flag)) return;
    if (const Given* given = find(named, name)) ids.push_back(token_id(spec, given->token.content));
  };
  end("add_bos_token", "bos_token", spec.prefix_ids);
  end("add_eos_token", "eos_token", spec.suffix_ids);
}

}  // namespace triescope::tokenizer

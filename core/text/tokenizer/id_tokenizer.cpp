#include "core/text/tokenizer/id_tokenizer.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/files/gguf.h"

namespace triescope {
namespace {

namespace fs = std::filesystem;

class IdTokenizer final : public Tokenizer {
 public:
  IdTokenizer(std::string path, int vocab_size, std::int32_t bos, std::vector<std::int32_t> eos)
      : path_(std::move(path)), bos_(bos), eos_(std::move(eos)) {
    pieces_.reserve(static_cast<std::size_t>(vocab_size));
    for (int id = 0; id < vocab_size; ++id) pieces_.push_back("<" + std::to_string(id) + ">");
  }

  bool encodes_text() const override { return false; }
  std::vector<std::int32_t> encode(std::string_view, bool) const override { refuse_text(); }
  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const override {
    std::string text;
    for (const std::int32_t id : ids) {
      const std::string_view shown = piece(id);
      if (!skip_special_tokens || !is_special(id)) text += shown;
    }
    return text;
  }
  std::string_view piece(std::int32_t id) const override {
    if (id < 0 || id >= vocab_size())
      throw Error(ErrorCode::kInvalidArgument, "token id " + std::to_string(id) +
                                                   " is outside the vocabulary: expected 0 to " +
                                                   std::to_string(vocab_size() - 1));
    return pieces_[static_cast<std::size_t>(id)];
  }
  int vocab_size() const override { return static_cast<int>(pieces_.size()); }
  bool is_special(std::int32_t id) const override {
    return id == bos_ || std::find(eos_.begin(), eos_.end(), id) != eos_.end();
  }
  std::int32_t bos_token_id() const override { return bos_; }
  const std::vector<std::int32_t>& eos_token_ids() const override { return eos_; }
  std::string description() const override {
    return "no tokenizer, " + std::to_string(vocab_size()) + " ids";
  }
  bool has_chat_template() const override { return false; }
  std::string apply_chat_template(const Conversation&, bool) const override { refuse_text(); }

 private:
  [[noreturn]] void refuse_text() const {
    const bool gguf = fs::path(path_).extension() == ".gguf";
    throw Error(ErrorCode::kNotSupported,
                path_ + ": no tokenizer was found (looked for " +
                    (gguf ? "tokenizer.ggml.tokens in its metadata"
                          : "tokenizer.json, vocab.json with merges.txt, and "
                            "tokenizer.model") +
                    "), so a text cannot be turned into tokens; give the prompt as token ids: "
                    "--prompt-ids 1,2,3, or in the window's prompt field");
  }

  const std::string path_;
  const std::int32_t bos_;
  const std::vector<std::int32_t> eos_;
  std::vector<std::string> pieces_;  // by id
};

}  // namespace

bool has_tokenizer(const std::string& path) {
  std::error_code ignored;
  const fs::path at(path);
  if (fs::is_directory(at, ignored))
    return fs::exists(at / "tokenizer.json", ignored) ||
           (fs::exists(at / "vocab.json", ignored) && fs::exists(at / "merges.txt", ignored)) ||
           fs::exists(at / "tokenizer.model", ignored);
  if (at.extension() != ".gguf") return true;
  return formats::GgufFile::open(path)->has("tokenizer.ggml.tokens");
}

std::unique_ptr<Tokenizer> make_id_tokenizer(const std::string& path, int vocab_size,
                                             std::int32_t bos_token_id,
                                             std::vector<std::int32_t> eos_token_ids) {
  return std::make_unique<IdTokenizer>(path, vocab_size, bos_token_id, std::move(eos_token_ids));
}

}  // namespace triescope

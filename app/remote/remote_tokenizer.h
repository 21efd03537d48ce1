// RemoteTokenizer: the tokenizer of a model on another machine. Texts are split there; a question
// costs a round trip, and its answer is kept. Safe from any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "app/remote/messages.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::app {

class RemoteTokenizer final : public Tokenizer {
 public:
  // Asks the other machine, and waits. Errors: the machine's, or kIoError: there is no line.
  using Question =
      std::function<nlohmann::json(const std::string& question, const nlohmann::json& about)>;

  RemoteTokenizer(TokenizerFacts facts, Question ask);

  bool encodes_text() const override { return facts_.encodes_text; }
  std::vector<std::int32_t> encode(std::string_view text, bool add_special_tokens) const override;
  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const override;
  std::string_view piece(std::int32_t id) const override;
  int vocab_size() const override { return facts_.vocab_size; }
  bool is_special(std::int32_t id) const override;
  std::int32_t bos_token_id() const override { return facts_.bos_token_id; }
  const std::vector<std::int32_t>& eos_token_ids() const override { return facts_.eos_token_ids; }
  std::string description() const override { return facts_.description; }
  bool has_chat_template() const override { return facts_.has_chat_template; }
  std::string apply_chat_template(const Conversation& conversation,
                                  bool add_generation_prompt) const override;

 private:
  void keep_piece(std::int32_t id, const std::string& bytes) const;

  const TokenizerFacts facts_;
  const Question ask_;
  mutable std::mutex mutex_;
  // Pieces never move, because views of them are given out.
  mutable std::unordered_map<std::int32_t, std::unique_ptr<const std::string>> pieces_;
  mutable std::unordered_map<std::string, std::vector<std::int32_t>> encoded_;  // by text
};

}  // namespace triescope::app

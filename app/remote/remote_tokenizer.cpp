#include "app/remote/remote_tokenizer.h"

#include <algorithm>
#include <utility>

#include "app/remote/served_answers.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

constexpr std::size_t kKeptTexts = 256;

}  // namespace

RemoteTokenizer::RemoteTokenizer(TokenizerFacts facts, Question ask)
    : facts_(std::move(facts)), ask_(std::move(ask)) {}

void RemoteTokenizer::keep_piece(std::int32_t id, const std::string& bytes) const {
  std::lock_guard lock(mutex_);
  if (auto& piece = pieces_[id]; !piece) piece = std::make_unique<const std::string>(bytes);
}

std::vector<std::int32_t> RemoteTokenizer::encode(std::string_view text,
                                                  bool add_special_tokens) const {
  const std::string key = (add_special_tokens ? "+" : "-") + std::string(text);
  {
    std::lock_guard lock(mutex_);
    if (const auto found = encoded_.find(key); found != encoded_.end()) return found->second;
  }
  const nlohmann::json answer = ask_(kAskEncode, {{"text", text}, {"special", add_special_tokens}});
  std::vector<std::int32_t> ids;
  std::vector<std::string> pieces;
  if (!answer.is_object()) refuse_field(kAskEncode, "ids and pieces");
  FieldReader read(answer);
  read("ids", ids), read("pieces", pieces);
  if (pieces.size() != ids.size()) refuse_field("pieces", "one for each id");
  for (std::size_t i = 0; i < ids.size(); ++i) keep_piece(ids[i], pieces[i]);
  std::lock_guard lock(mutex_);
  if (encoded_.size() >= kKeptTexts) encoded_.clear();
  return encoded_[key] = std::move(ids);
}

std::string RemoteTokenizer::decode(std::span<const std::int32_t> ids,
                                    bool skip_special_tokens) const {
  const std::vector<std::int32_t> list(ids.begin(), ids.end());
  return value_of<std::string>(
      ask_(kAskDecode, {{"ids", list}, {"skip_special", skip_special_tokens}}), kAskDecode);
}

std::string_view RemoteTokenizer::piece(std::int32_t id) const {
  const auto known = [&]() -> const std::string* {
    std::lock_guard lock(mutex_);
    const auto found = pieces_.find(id);
    return found == pieces_.end() ? nullptr : found->second.get();
  };
  if (const std::string* const piece = known()) return *piece;
  const auto pieces = value_of<std::vector<std::string>>(
      ask_(kAskPieces, {{"ids", std::vector<std::int32_t>{id}}}), kAskPieces);
  if (pieces.size() != 1) refuse_field(kAskPieces, "one for each id");
  keep_piece(id, pieces.front());
  return *known();
}

bool RemoteTokenizer::is_special(std::int32_t id) const {
  return std::ranges::find(facts_.special_ids, id) != facts_.special_ids.end();
}

std::string RemoteTokenizer::apply_chat_template(const Conversation& conversation,
                                                 bool add_generation_prompt) const {
  return value_of<std::string>(ask_(kAskChat, {{"conversation", json_of(conversation)},
                                               {"add_generation_prompt", add_generation_prompt}}),
                               kAskChat);
}

}  // namespace triescope::app

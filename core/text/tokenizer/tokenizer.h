// Tokenizer: turns text into ids and back, as Hugging Face's `tokenizers` does. Immutable once
// made, safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace triescope {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant", "tool"
  std::string content;
  // The rest of the message (tool_calls, name, …), a JSON object whose members come behind role and
  // content, or in their place; "" = nothing.
  std::string more = {};
  bool operator==(const ChatMessage&) const = default;
};

// What a chat template renders.
struct Conversation {
  std::vector<ChatMessage> messages;  // oldest first
  std::string tools = {};             // a JSON list of tools; "" = none
  std::string chat_template = {};     // in place of the model's; "" = the model's
  std::string template_source = {};   // the file it comes from, for messages
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // False: the model came without a tokenizer (id_tokenizer.h), and encode and apply_chat_template
  // refuse.
  virtual bool encodes_text() const { return true; }
  // UTF-8 text -> ids, on request with the special tokens that the model's post-processor adds
  // (BOS, ...). Special tokens written in the text are recognised. Error{kInvalidArgument} on
  // invalid UTF-8 says the byte offset.
  virtual std::vector<std::int32_t> encode(std::string_view text,
                                           bool add_special_tokens = true) const = 0;
  // ids -> text, like tokenizers' decode: invalid UTF-8 becomes U+FFFD. Error{kInvalidArgument}: id
  // out of range.
  virtual std::string decode(std::span<const std::int32_t> ids,
                             bool skip_special_tokens = false) const = 0;
  // The raw bytes of a token within a text (maybe half a UTF-8 character); for a special token, its
  // name.
  virtual std::string_view piece(std::int32_t id) const = 0;

  virtual int vocab_size() const = 0;
  virtual bool is_special(std::int32_t id) const = 0;
  virtual std::int32_t bos_token_id() const = 0;  // -1 = none
  virtual const std::vector<std::int32_t>& eos_token_ids() const = 0;
  virtual std::string description() const = 0;  // "byte-level BPE, smollm, 49152 tokens"

  virtual bool has_chat_template() const = 0;
  // Error{kNotSupported}: there is no template, or it uses an unsupported construct (named);
  // {kInvalidArgument}: the template refuses the conversation.
  virtual std::string apply_chat_template(const Conversation& conversation,
                                          bool add_generation_prompt) const = 0;
};

// Loads from a Hugging Face directory (tokenizer.json, tokenizer_config.json, chat_template.jinja),
// a tokenizer.json, a tokenizer.model, or a .gguf. Errors: kNotFound, kCorruption (file, place, expected, found),
// kNotSupported (names the construct).
std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path);

// Streaming decoder: takes ids one by one and gives text as soon as it is complete. It holds back
// half a UTF-8 character. The pieces joined are decode() of all ids, with one exception:
// byte-fallback tokens that become invalid UTF-8 after a valid beginning, which decode() then
// replaces too, and spaces that WordPiece's decoder takes back.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special_tokens = false);
  std::string push(std::int32_t id);  // the new text, maybe empty
  std::string finish();               // the rest (broken bytes as U+FFFD)

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_tokens_;
  std::vector<std::int32_t> ids_;  // a window of the newest ids
  std::string emitted_;            // the part of the window's text that was given out
  std::size_t held_ = 0;           // tokens since text was last given out
};

}  // namespace triescope

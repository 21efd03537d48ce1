// How many tokens a prompt has, where its model is. The weights are not needed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/session/request.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::app {

struct PromptCount {
  std::int64_t tokens = -1;  // as a run would have them; -1 = not counted, or it cannot be
  // why it cannot be counted: invalid UTF-8, no chat template, not an id
  std::string problem = {};
  // The model whose tokenizer counted: its name, and its context in tokens (0 = unknown).
  std::string model = {};
  int context = 0;
  bool unread = false;  // the model's tokenizer could not be read; loading the model tells why
};

// A model's tokenizer, without its weights.
struct PromptSource {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string model;
  int context = 0;
};

// Counts prompts, and keeps the tokenizer that it read last. Thread-safe.
class PromptReader {
 public:
  // Takes a path or a short name. Whatever error it throws, the answer is then `unread`.
  using Open = std::function<PromptSource(const std::string& model)>;
  explicit PromptReader(Open open = open_source);

  // `loaded` is the request's model; without a tokenizer, the tokenizer is read by the request's
  // name. The prompt is read as RunHost::start reads it.
  PromptCount count(const PromptSource& loaded, const RunRequest& request);

 private:
  static PromptSource open_source(const std::string& model);

  const Open open_;
  std::mutex mutex_;
  // The last name that was read, and what was read. No tokenizer: it could not be read.
  std::optional<std::string> read_for_;
  PromptSource read_;
};

// The problem with a prompt of this many tokens, and what to do about it; "" = it fits.
std::string over_context(std::int64_t tokens, int max_new_tokens, int context);

}  // namespace triescope::app

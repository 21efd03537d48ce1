#include "app/run/request.h"

#include "app/run/catalog.h"
#include "core/base/error.h"

namespace triescope::app {

void check_request(const RunRequest& request) {
  const MethodInfo& method = find_method(request.method);
  validate_settings(method, request.settings);
  if (!needs_draft_model(method)) return;
  if (request.draft_model.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "method " + method.name +
                    ": expected a draft model, a smaller one with the same vocabulary; found none. "
                    "Name one with --draft MODEL, or in the run bar");
  resolve_model(request.draft_model);
}

RunConfig make_run_config(const RunRequest& request, const Tokenizer& tokenizer) {
  RunConfig config;
  config.method = request.method;
  config.settings = request.settings;
  config.max_new_tokens = request.max_new_tokens;
  config.seed = request.seed;
  if (!request.prompt_ids.empty()) {
    config.prompt_tokens = request.prompt_ids;
    for (const std::int32_t id : config.prompt_tokens) {
      if (id >= 0 && id < tokenizer.vocab_size()) continue;
      throw Error(ErrorCode::kInvalidArgument, "prompt id " + std::to_string(id) +
                                                   " is outside the vocabulary: expected 0 to " +
                                                   std::to_string(tokenizer.vocab_size() - 1));
    }
    config.prompt_text = tokenizer.decode(config.prompt_tokens);
    return config;
  }
  config.prompt_text = request.prompt;
  if (request.chat) {
    const ChatMessage message{"user", request.prompt};
    config.prompt_text =
        tokenizer.apply_chat_template({&message, 1}, /*add_generation_prompt=*/true);
    // The template writes the special tokens itself.
    config.prompt_tokens = tokenizer.encode(config.prompt_text, /*add_special_tokens=*/false);
  } else {
    config.prompt_tokens = tokenizer.encode(request.prompt);
  }
  if (config.prompt_tokens.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "the prompt is empty: expected at least one token (this model's tokenizer adds "
                "none); give --prompt some text");
  return config;
}

}  // namespace triescope::app

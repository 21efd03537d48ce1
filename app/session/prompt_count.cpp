#include "app/session/prompt_count.h"

#include <exception>
#include <utility>

#include "app/session/catalog.h"
#include "app/session/loaded_model.h"
#include "core/base/counted.h"

namespace triescope::app {

PromptReader::PromptReader(Open open) : open_(std::move(open)) {}

PromptSource PromptReader::open_source(const std::string& model) {
  const std::string path = resolve_model(model);
  const ModelInfo info = inspect_model(path);
  return {open_tokenizer(path), info.name, info.context};
}

PromptCount PromptReader::count(const PromptSource& loaded, const RunRequest& request) {
  PromptSource source = loaded;
  if (!source.tokenizer) {
    std::lock_guard lock(mutex_);
    if (read_for_ != request.model) {
      read_for_ = request.model;
      read_ = {};
      try {
        read_ = open_(request.model);
      } catch (const std::exception&) {
        // Loading the model tells what is wrong with it.
      }
    }
    source = read_;
  }
  PromptCount count{.model = source.model, .context = source.context, .unread = !source.tokenizer};
  if (count.unread) return count;
  try {
    const RunRequest read = as_read_by(*source.tokenizer, request);
    count.tokens =
        static_cast<std::int64_t>(make_run_config(read, *source.tokenizer).prompt_tokens.size());
  } catch (const std::exception& error) {
    count.problem = error.what();
  }
  return count;
}

std::string over_context(std::int64_t tokens, int max_new_tokens, int context) {
  if (context <= 0 || tokens + max_new_tokens <= context) return "";
  if (tokens >= context)
    return "the prompt alone fills the context: shorten it by at least " +
           counted(tokens - context + 1, "token") + ", or choose a model with a longer context";
  return "with max_new_tokens the run is " + std::to_string(tokens + max_new_tokens - context) +
         " over the context: take at most " + counted(context - tokens, "new token") +
         ", or shorten the prompt";
}

}  // namespace triescope::app

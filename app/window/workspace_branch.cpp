// From one run to the next: branches (what if?), and the settings of a run taken over.
#include <algorithm>

#include "app/window/workspace.h"
#include "core/base/error.h"
#include "viz/words/token_text.h"

namespace triescope::app {
namespace {

bool same_run(const RunRequest& a, const RunRequest& b) {
  return same_decoding(a, b) && a.model == b.model && a.draft_model == b.draft_model &&
         a.draft_device == b.draft_device && a.device == b.device && a.dtype == b.dtype &&
         a.kv_dtype == b.kv_dtype;
}

std::string shown_token(const capture::Capture& capture, std::int32_t token) {
  return viz::token_text(capture.piece(token));
}

}  // namespace

void Workspace::branch(std::int32_t node, std::int32_t token) {
  if (!active_is_live()) {
    say(LogLevel::kError,
        "only the newest run can be continued with another token: start this run again, then choose "
        "it");
    return;
  }
  try {
    const std::string path = new_run_path();
    origins_[path] = {active_->run_serial, node, token};
    end_messages();
    host_->branch(node, token, path);
  } catch (const std::exception& error) {
    say(LogLevel::kError, error.what());
  }
}

void Workspace::branch_with(std::int32_t node, const std::string& text) {
  const std::vector<std::int32_t> tokens = tokens_of(text);
  if (tokens.empty())
    throw Error(ErrorCode::kInvalidArgument,
                text.empty() ? "what if: expected the text of a token, found none"
                : !live_->tokenizer
                    ? "what if: no model is loaded that could split '" + text + "' into tokens"
                    : "what if: the loaded model has no tokenizer: give the token's id");
  branch(node, tokens.front());
}

std::vector<std::int32_t> Workspace::tokens_of(const std::string& text) const {
  if (!live_->tokenizer || !live_->tokenizer->encodes_text() || text.empty()) return {};
  try {
    return live_->tokenizer->encode(text, /*add_special_tokens=*/false);
  } catch (const Error&) {
    return {};  // half a character, while it is being typed
  }
}

Document* Workspace::origin_of(const Document& document) const {
  if (!document.origin) return nullptr;
  for (const auto& other : documents_)
    if (other->run_serial == document.origin->run_serial) return other.get();
  return nullptr;
}

std::string Workspace::origin_text(const Document& document) const {
  const Document* const from = origin_of(document);
  if (!from) return "";
  const auto nodes = from->capture->nodes();
  const auto at = static_cast<std::size_t>(document.origin->node);
  const bool after_token = document.origin->node > 0 && at < nodes.size();
  // The branch itself has not recorded the token's text yet.
  const std::string with = live_->tokenizer
                               ? viz::token_text(live_->tokenizer->piece(document.origin->token))
                               : shown_token(*from->capture, document.origin->token);
  return "branch of #" + std::to_string(from->run_serial) + " after " +
         (after_token ? shown_token(*from->capture, nodes[at].token) : "the prompt") + " with " +
         with;
}

void Workspace::compare_with_origin() {
  if (!active_) return;
  Document* const from = origin_of(*active_);
  if (!from) return;
  Document* const branch = active_;
  activate(from);  // on the left, as what came first
  compare(branch);
}

const RunRequest* Workspace::request_shown() const {
  if (!active_) return nullptr;
  if (active_->request) return &*active_->request;
  return taken_serial_ == active_->serial && taken_ ? &*taken_ : nullptr;
}

const RunRequest& Workspace::read_request() {
  if (const RunRequest* const known = request_shown()) return *known;
  const capture::RunInfo& run = active_->capture->run();
  std::shared_ptr<const Tokenizer> tokenizer = live_->tokenizer;
  const RunRequest as_text = request_of_run(run, nullptr);
  if (!live_->model || live_->model->path != as_text.model) tokenizer = nullptr;
  if (!tokenizer) {
    try {
      tokenizer = load_tokenizer(as_text.model);
    } catch (const Error&) {
      // The model is elsewhere: the text is taken as it was recorded.
    }
  }
  taken_ = request_of_run(run, tokenizer.get());
  taken_serial_ = active_->serial;
  return *taken_;
}

void Workspace::take_run() {
  if (!active_) return;
  try {
    request() = read_request();
    say(LogLevel::kInfo, "the run bar holds the settings of " + active_->title, active_->serial);
  } catch (const std::exception& error) {
    say(LogLevel::kError, error.what());
  }
}

bool Workspace::can_take_run() const {
  if (!active_) return false;
  const RunRequest* const shown = request_shown();
  return !shown || !same_run(*shown, preferences.request);
}

}  // namespace triescope::app

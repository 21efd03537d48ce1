// Steps from one run to the next: branches, and taking over a run's settings.
#include <algorithm>

#include "app/session/following_tokens.h"
#include "app/window/workspace/live_run.h"
#include "core/base/error.h"
#include "viz/text/token_text.h"

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

void LiveRun::branch(std::int32_t node, std::int32_t token) {
  if (!documents_.active_is_live()) {
    log_.say(
        LogLevel::kError,
        "only the newest run can be continued with another token: start this run again, then choose "
        "it");
    return;
  }
  try {
    const std::string path = new_run_path();
    documents_.note_branch(path, {documents_.active()->run_serial, node, token});
    log_.begin_run();
    host_->branch(node, token, path);
  } catch (const std::exception& error) {
    log_.say(LogLevel::kError, error.what());
  }
}

void LiveRun::branch_with(std::int32_t node, const std::string& text) {
  const std::vector<std::int32_t> tokens = following_tokens(status_->tokenizer.get(), text);
  if (tokens.empty())
    throw Error(ErrorCode::kInvalidArgument,
                text.empty() ? "what if: expected the text of a token, found none"
                : !status_->tokenizer
                    ? "what if: no model is loaded that could split '" + text + "' into tokens"
                    : "what if: the loaded model has no tokenizer: give the token's id");
  branch(node, tokens.front());
}

std::string LiveRun::origin_text(const Document& document) const {
  const Document* const from = documents_.origin_of(document);
  if (!from) return "";
  const auto nodes = from->capture->nodes();
  const auto at = static_cast<std::size_t>(document.origin->node);
  const bool after_token = document.origin->node > 0 && at < nodes.size();
  // The branch has not recorded the token's text yet.
  const std::string with = status_->tokenizer
                               ? viz::token_text(status_->tokenizer->piece(document.origin->token))
                               : shown_token(*from->capture, document.origin->token);
  return "branch of #" + std::to_string(from->run_serial) + " after " +
         (after_token ? shown_token(*from->capture, nodes[at].token) : "the prompt") + " with " +
         with;
}

void LiveRun::compare_with_origin() {
  if (!documents_.active()) return;
  Document* const from = documents_.origin_of(*documents_.active());
  if (!from) return;
  Document* const branch = documents_.active();
  documents_.activate(from);  // the older run is on the left
  comparison_.start(branch);
}

const RunRequest* LiveRun::request_shown() const {
  if (!documents_.active()) return nullptr;
  if (documents_.active()->request) return &*documents_.active()->request;
  return taken_serial_ == documents_.active()->serial && taken_ ? &*taken_ : nullptr;
}

const RunRequest& LiveRun::read_request() {
  if (const RunRequest* const known = request_shown()) return *known;
  const capture::RunInfo& run = documents_.active()->capture->run();
  std::shared_ptr<const Tokenizer> tokenizer = status_->tokenizer;
  const RunRequest as_text = request_of_run(run, nullptr);
  if (!status_->model || status_->model->path != as_text.model) tokenizer = nullptr;
  if (!tokenizer && host_->line().host.empty()) {
    try {
      tokenizer = load_tokenizer(as_text.model);
    } catch (const Error&) {
      // The model is not here, so the recorded text is taken.
    }
  }
  taken_ = request_of_run(run, tokenizer.get());
  taken_serial_ = documents_.active()->serial;
  return *taken_;
}

void LiveRun::take_run() {
  if (!documents_.active()) return;
  try {
    preferences_.request = read_request();
    log_.say(LogLevel::kInfo, "the run bar holds the settings of " + documents_.active()->title,
             documents_.active()->serial);
  } catch (const std::exception& error) {
    log_.say(LogLevel::kError, error.what());
  }
}

bool LiveRun::can_take_run() const {
  if (!documents_.active()) return false;
  const RunRequest* const shown = request_shown();
  return !shown || !same_run(*shown, preferences_.request);
}

}  // namespace triescope::app

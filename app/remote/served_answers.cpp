#include "app/remote/served_answers.h"

#include "app/remote/wire.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

constexpr std::size_t kMaxIds = 1 << 20;
constexpr std::int64_t kMaxPromptTokens = std::int64_t{1} << 30;

nlohmann::json bytes_list(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
  nlohmann::json pieces = nlohmann::json::array();
  std::size_t bytes = 0;
  for (const std::int32_t id : ids) {
    const std::string_view piece = tokenizer.piece(id);
    if ((bytes += piece.size()) > most_bytes(FrameKind::kMessage))
      throw Error(ErrorCode::kInvalidArgument,
                  "the texts of " + std::to_string(ids.size()) +
                      " tokens are longer than an answer: ask for fewer at once");
    pieces.push_back(std::string(piece));
  }
  return pieces;
}

// The fields of what a question is about.
template <class Value>
Value about(const Ask& ask, const char* name) {
  Value value{};
  if (ask.about.is_object()) FieldReader(ask.about)(name, value);
  return value;
}

WhatFits fits_of(const RunHost& host, const AllowedPaths& paths, const RunRequest& request) {
  WhatFits fits = host.what_fits(request);
  std::erase_if(fits.models, [&](const ModelFit& one) { return !paths.allows(one.path); });
  return fits;
}

nlohmann::json tokenizer_answer(const Tokenizer& tokenizer, const Ask& ask) {
  const auto ids = about<std::vector<std::int32_t>>(ask, "ids");
  if (ids.size() > kMaxIds) refuse_field("ids", "at most a million");
  if (ask.question == kAskEncode) {
    const auto found =
        tokenizer.encode(about<std::string>(ask, "text"), about<bool>(ask, "special"));
    // A window shows the tokens of a text that it had split.
    return {{"ids", found}, {"pieces", bytes_list(tokenizer, found)}};
  }
  if (ask.question == kAskDecode) return tokenizer.decode(ids, about<bool>(ask, "skip_special"));
  if (ask.question == kAskPieces) return bytes_list(tokenizer, ids);
  return tokenizer.apply_chat_template(about<Conversation>(ask, "conversation"),
                                       about<bool>(ask, "add_generation_prompt"));
}

}  // namespace

nlohmann::json answer_of(const RunHost& host, const AllowedPaths& paths, const Ask& ask) {
  const std::string& name = ask.question;
  if (name == kAskDevices) return json_of(host.devices());
  if (name == kAskModels) return json_of(paths.of(host.models()));
  if (name == kAskHeads) return json_of(paths.of(host.draft_heads()));
  if (name == kAskDrafts) return json_of(paths.of(host.draft_models()));
  if (name == kAskModelPath) return paths.model(about<std::string>(ask, "model"));
  if (name == kAskDefaultDraft)
    return host.drafts_by_default(paths.request(about<RunRequest>(ask, "request")));
  if (name == kAskMemory) {
    const auto tokens = about<std::int64_t>(ask, "prompt_tokens");
    if (tokens < 0 || tokens > kMaxPromptTokens) refuse_field("prompt_tokens", "0 to 2^30");
    return json_of(host.memory_of(paths.request(about<RunRequest>(ask, "request")), tokens));
  }
  if (name == kAskFits) return json_of(fits_of(host, paths, about<RunRequest>(ask, "request")));
  if (name == kAskCount) {
    auto request = about<RunRequest>(ask, "request");
    request.model = paths.model(request.model);
    return json_of(host.count_prompt(request));
  }
  if (name == kAskEncode || name == kAskDecode || name == kAskPieces || name == kAskChat) {
    const std::shared_ptr<const Tokenizer> tokenizer = host.status()->tokenizer;
    if (!tokenizer)
      throw Error(ErrorCode::kInvalidArgument,
                  "no model is loaded there that could split a text into tokens: load one first");
    return tokenizer_answer(*tokenizer, ask);
  }
  throw Error(ErrorCode::kNotSupported, "the other machine has no answer to '" +
                                            name.substr(0, 40) +
                                            "': expected the same version of triescope on both");
}

void obey(const Ask& ask, RunHost& host, const AllowedPaths& paths,
          const std::function<std::string()>& new_path) {
  switch (ask.kind) {
    case AskKind::kLoad:
      return host.load(paths.model(ask.model), ask.device, ask.dtype, ask.kv_dtype);
    case AskKind::kStart: {
      const RunRequest request = paths.request(ask.request);
      return host.start(request, new_path(), ask.run_at_once);
    }
    case AskKind::kMeasure: {
      const RunRequest request = paths.request(ask.request);
      return host.measure(request, new_path(), {.level = ask.level, .threads = ask.threads});
    }
    case AskKind::kStep:
      return host.step();
    case AskKind::kPhase:
      return host.step_phase();
    case AskKind::kRun:
      return host.run();
    case AskKind::kRunTo:
      return host.run_to(ask.tick);
    case AskKind::kTryAgain:
      return host.try_again();
    case AskKind::kBranch:
      return host.branch(ask.node, ask.token, new_path());
    case AskKind::kBreakpoints:
      for (const Breakpoint& point : ask.breakpoints) check_breakpoint(point);
      return host.set_breakpoints(ask.breakpoints);
    case AskKind::kPause:
      return host.pause();
    case AskKind::kStop:
      return host.stop();
    case AskKind::kCancel:
      return host.cancel();
    case AskKind::kQuestion:
    case AskKind::kEnd:
      return;  // the session's own
  }
}

TokenizerFacts facts_of(const Tokenizer& tokenizer) {
  TokenizerFacts facts{.encodes_text = tokenizer.encodes_text(),
                       .has_chat_template = tokenizer.has_chat_template(),
                       .vocab_size = tokenizer.vocab_size(),
                       .bos_token_id = tokenizer.bos_token_id(),
                       .eos_token_ids = tokenizer.eos_token_ids(),
                       .special_ids = {},
                       .description = tokenizer.description()};
  for (std::int32_t id = 0; id < facts.vocab_size && facts.special_ids.size() < kMaxSpecialIds;
       ++id)
    if (tokenizer.is_special(id)) facts.special_ids.push_back(id);
  return facts;
}

}  // namespace triescope::app

// The session before its run (everything is checked before anything runs) and after it (the
// result).
#include <cmath>
#include <ctime>

#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/method/parameters_of.h"
#include "core/methods/registry.h"
#include "core/model/heads/draft_head.h"
#include "core/model/memory_need.h"
#include "core/session/model_json.h"
#include "core/session/session.h"
#include "core/session/session_impl.h"
#include "core/text/tokenizer/conversation.h"
#include "core/text/tokenizer/vocabulary_hash.h"
#include "core/verify/rule_table.h"

namespace triescope {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

void check_tokens(std::span<const std::int32_t> tokens, int vocab_size, const char* what) {
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] < 0 || tokens[i] >= vocab_size)
      refuse(std::string(what) + ": expected token ids from 0 to " +
             std::to_string(vocab_size - 1) + " (the model's vocabulary); found " +
             std::to_string(tokens[i]) + " at index " + std::to_string(i));
}

// Lengths may differ: embeddings are padded, and fine-tuning adds special tokens at the end.
void check_same_vocabulary(const Tokenizer& target, const Tokenizer& draft,
                           const std::string& draft_name) {
  const int shared = std::min(target.vocab_size(), draft.vocab_size());
  for (std::int32_t id = 0; id < shared; ++id) {
    if (target.piece(id) == draft.piece(id)) continue;
    const auto quoted = [](std::string_view piece) { return dump_json(json(piece)); };
    throw Error(
        ErrorCode::kNotSupported,
        "draft model " + draft_name +
            ": expected the vocabulary of the model it drafts for; found token " +
            std::to_string(id) + " to be " + quoted(draft.piece(id)) + " instead of " +
            quoted(target.piece(id)) +
            ". Take a model of the same family, trained with the same tokenizer, or --method "
            "universal_draft, which drafts through text");
  }
}

std::vector<std::int32_t> eos_tokens(const Settings& settings, const ModelInfo& model,
                                     const Tokenizer& tokenizer) {
  auto given = settings.integers("eos_token_id");
  if (given.empty()) {
    given = model.eos_token_ids.empty() ? tokenizer.eos_token_ids() : model.eos_token_ids;
    // The tokenizer may have more tokens than the model, which never produces those.
    std::erase_if(given, [&](std::int32_t id) { return id >= model.vocab_size; });
  }
  std::erase(given, -1);
  return given;
}

KvPolicyKind kv_kind_of(const Settings& settings) {
  const std::string name = settings.text("kv");
  for (const auto kind : {KvPolicyKind::kBatch, KvPolicyKind::kKeep, KvPolicyKind::kCompact})
    if (name == to_string(kind)) return kind;
  return KvPolicyKind::kRecycle;
}

RunContext checked_context(const RunConfig& config, const MethodInfo& method, Model& model,
                           const Tokenizer& tokenizer, std::size_t path_tokens) {
  const ModelInfo& info = model.info();
  RunContext run;
  run.settings = Settings(validate_settings(method, config.settings));
  if (method.needs_draft_model() || (method.takes_companion && config.draft.model)) {
    if (!config.draft.model || !config.draft.tokenizer)
      refuse("method " + method.name +
             (method.any_vocabulary ? ": expected a draft model, a smaller one; found none"
                                    : ": expected a draft model, a smaller one with the same "
                                      "vocabulary; found none"));
    if (!method.any_vocabulary)
      check_same_vocabulary(tokenizer, *config.draft.tokenizer, config.draft.model->info().name);
    run.draft_model = config.draft.model;
    run.tokenizer = &tokenizer;
    run.draft_tokenizer = config.draft.tokenizer;
  }
  if (method.needs_draft_head() || (method.takes_companion && config.draft.head)) {
    if (!config.draft.head) refuse("method " + method.name + ": expected a draft head; found none");
    check_head_kind(method, config.draft.head->config.kind);
    run.draft_head = config.draft.head;
  }
  if (config.prompt_tokens.empty())
    refuse(
        "prompt: expected at least one token; found an empty prompt. Type a text, or give the "
        "model's BOS token");
  if (config.max_new_tokens < 1)
    refuse("max_new_tokens: expected at least 1; found " + std::to_string(config.max_new_tokens));
  const auto prompt = static_cast<std::int64_t>(config.prompt_tokens.size());
  if (info.context > 0 && prompt + config.max_new_tokens > info.context)
    refuse("prompt: expected prompt + max_new_tokens to fit the model's context of " +
           std::to_string(info.context) + " tokens; found " + std::to_string(prompt) + " + " +
           std::to_string(config.max_new_tokens) +
           ". Shorten the prompt or ask for fewer new tokens");
  if (static_cast<int>(path_tokens) >= config.max_new_tokens)
    refuse("branch: expected a choice before the last of " + std::to_string(config.max_new_tokens) +
           " new tokens; found it at number " + std::to_string(path_tokens));
  check_tokens(config.prompt_tokens, info.vocab_size, "prompt");
  run.eos_token_ids = eos_tokens(run.settings, info, tokenizer);
  check_tokens(run.eos_token_ids, info.vocab_size, "eos_token_id");
  run.max_new_tokens = config.max_new_tokens;
  run.vocab_size = info.vocab_size;
  run.first_unused_token = std::max(info.vocab_size, tokenizer.vocab_size());
  run.row_costs = info.row_costs;
  run.target = &model;
  run.seed = config.seed;
  run.encode = [&tokenizer](std::string_view text) { return tokenizer.encode(text, false); };
  run.vocabulary_hash = [&tokenizer] { return vocabulary_hash(tokenizer); };
  return run;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, size);
}

}  // namespace

Session::Impl::Impl(Model& model_in, const Tokenizer& tokenizer_in, const MethodInfo& method_in,
                    RunConfig config_in, capture::Recorder& recorder_in,
                    std::span<const ForcedToken> forced)
    : model(model_in),
      tokenizer(tokenizer_in),
      config(std::move(config_in)),
      recorder(recorder_in),
      method(method_in),
      run(checked_context(config, method, model_in, tokenizer_in, forced.size())),
      out(recorder_in, tokenizer_in),
      rng(config.seed),
      tree(static_cast<std::int32_t>(config.prompt_tokens.size())) {
  run.prompt = config.prompt_tokens;
  const bool records = out.records(capture::Level::kFull);
  run.record_rows = records;
  method_run = run;
  if (!records) method_run.settings.set("candidates", 0);
  beams = run_width(method, run.settings);
  kv_kind = kv_kind_of(run.settings);
  parts = method.make(method_run);

  frontier = {TokenTree::root()};
  if (!forced.empty()) hang_path(forced);

  const KvPolicyOptions policy{
      .kind = kv_kind, .gc_every = run.settings.integer("gc_every"), .beams = beams};
  const MaskInputs* const masks = parts.drafter ? parts.drafter->masks() : nullptr;
  runner = std::make_unique<TreeRunner>(model, run.prompt, policy, records, masks);
  if (parts.drafter) runner->read_features(parts.drafter->feature_layers());
  out.run(run_info(), drafter_rows(), {"triescope", versions()["triescope"], config.command});
  for (int i = 0; masks != nullptr && i < masks->count; ++i)
    out.name_token(TokenId(run.first_unused_token + i), "[mask " + std::to_string(i + 1) + "]");
}

void Session::Impl::hang_path(std::span<const ForcedToken> forced) {
  NodeId at = TokenTree::root();
  for (const ForcedToken& token : forced) {
    check_tokens({&token.token, 1}, run.vocab_size, "branch");
    at = tree.hang(at, TokenId(token.token), token.source, token.logprob).node;
    path.push_back(at);
  }
  if (std::ranges::find(run.eos_token_ids, forced.back().token) != run.eos_token_ids.end())
    refuse("branch: expected a token to decode on from; found " +
           std::to_string(forced.back().token) + ", which ends the text");
  liveness.hang(tree, path);
  frontier = {at};
}

capture::RunInfo Session::Impl::run_info() const {
  const ModelInfo& info = model.info();
  json described = model_json(info);
  described["eos_token_ids"] = run.eos_token_ids;  // the run's own
  described["row_costs"] = row_costs_json(info.row_costs);
  described["memory"] = memory_json(info);
  if (run.draft_head) {
    described["draft"] = {
        {"path", run.draft_head->path},
        {"name", formats::to_string(run.draft_head->config.kind)},
        {"family", "draft head"},
        {"parameters", run.draft_head->parameters},
        {"file_bytes", run.draft_head->file_bytes},
        {"memory",
         {{"weights", head_need(run.draft_head->parameters, run.draft_head->file_bytes,
                                load_options_of(info))}}}};
    if (!run.draft_head->vocabulary.empty())
      described["draft"]["vocabulary"] =
          vocabulary_bits(run.draft_head->vocabulary, info.vocab_size);
  }
  if (run.draft_model) {
    const ModelInfo& draft = run.draft_model->info();
    described["draft"] = {{"path", draft.path},
                          {"name", draft.name},
                          {"family", draft.family},
                          {"parameters", draft.parameters},
                          {"file_bytes", draft.file_bytes},
                          {"dtype", to_string(draft.dtype)},
                          {"device", draft.device},
                          {"memory", memory_json(draft)}};
  }
  if (const TreeRunner* drafting = drafting_runner(); drafting && !described.contains("draft")) {
    // A part of the target.
    described["draft"] = {{"path", info.path},
                          {"name", drafting->info().name},
                          {"family", info.family},
                          {"layers", drafting->info().layers},
                          {"dtype", to_string(info.dtype)},
                          {"device", info.device}};
  }
  if (const TreeRunner* drafting = drafting_runner())
    described["draft"]["kv_bytes_per_token"] = drafting->store().bytes_per_slot();
  if (runner->store().front() > 0) described["draft"]["prefix_slots"] = runner->store().front();
  json titles = json::object(), words = json::object();
  for (const Parameter& parameter : parameters_of(method)) {
    titles[parameter.name] = parameter.title;
    if (!run.settings.has(parameter.name)) continue;
    const std::string word = word_of(parameter, run.settings.value(parameter.name));
    if (!word.empty()) words[parameter.name] = word;
  }
  // A prompt may hold bytes that are not UTF-8; JSON may not.
  const auto text = [](const json& value) { return dump_json(value); };
  return {.created_utc = now_utc(),
          .model_json = text(described),
          .method = method.name,
          .method_title = method.title,
          .kind = method.kind,
          .width = beams,
          .settings_json = text(run.settings.json()),
          .setting_titles_json = text(titles),
          .setting_words_json = text(words),
          .seed = static_cast<std::int64_t>(config.seed),
          .versions_json = text(versions()),
          .prompt_text = config.prompt_text,
          .prompt_tokens = config.prompt_tokens,
          .max_new_tokens = config.max_new_tokens,
          .kv_bytes_per_token = runner->store().bytes_per_slot(),
          .sliding_window = info.sliding_window,
          .kv_policy = to_string(kv_kind),
          .conversation_json = config.conversation.messages.empty()
                                   ? ""
                                   : dump_json(conversation_json(config.conversation))};
}

std::vector<capture::DrafterRow> Session::Impl::drafter_rows() const {
  if (!parts.drafter) return {};
  const auto either = [](const std::string& text, const std::string& otherwise) {
    return text.empty() ? otherwise : text;
  };
  capture::DrafterRow row{.name = either(method.drafter_name, method.name),
                          .title = either(method.drafter_title, method.title),
                          .kind = method.drafter_kind};
  if (method.takes_companion) {
    row.kind = run.draft_head    ? capture::DrafterKind::kHead
               : run.draft_model ? capture::DrafterKind::kModel
                                 : capture::DrafterKind::kText;
    row.name += std::string(" from a ") + (run.draft_head    ? "head"
                                           : run.draft_model ? "model"
                                                             : "text");
  }
  return {row};
}

std::vector<FinishedSequence> Session::Impl::sequences() const {
  return parts.acceptor->results(tree);
}

RunResult Session::Impl::result() const {
  RunResult result;
  result.prompt_tokens = config.prompt_tokens;
  for (const FinishedSequence& sequence : sequences()) {
    ReturnedSequence returned;
    for (const TokenId token : tree.tokens_to(sequence.node))
      returned.tokens.push_back(token.value);
    returned.text = tokenizer.decode(returned.tokens, /*skip_special_tokens=*/true);
    returned.score = static_cast<double>(sequence.score);
    returned.finish = sequence.finish;
    result.sequences.push_back(std::move(returned));
  }
  result.steps = steps_done;
  result.target_forwards = target_forwards;
  result.emitted_tokens = emitted_tokens;
  result.prefill_tokens = prefill_tokens;
  if (target_forwards > 0)
    result.tokens_per_forward =
        static_cast<double>(emitted_tokens) / static_cast<double>(target_forwards);
  result.accepted_histogram = accepted_histogram;
  result.levels_histogram = levels_histogram;
  result.kv_policy = to_string(kv_kind);
  result.kv_bytes_per_token = runner->store().bytes_per_slot();
  const RunnerFigures& figures = runner->figures();
  result.peak_live_tokens = figures.peak_live;
  result.peak_garbage_tokens = figures.peak_garbage;
  result.peak_held_tokens = figures.peak_held;
  result.peak_reserved_bytes = figures.peak_reserved * runner->store().bytes_per_slot();
  result.moved_tokens = runner->store().moved();
  result.greedy_tokens = peak_text;
  result.batch_beam_tokens = static_cast<std::int64_t>(peak_text) * beams;
  if (figures.expert_layers > 0) {
    const auto layers = static_cast<double>(figures.expert_layers);
    result.expert_layers = layers / static_cast<double>(figures.expert_forwards);
    result.experts_a_layer = static_cast<double>(figures.experts_read) / layers;
  }
  if (const TreeRunner* drafting = drafting_runner())
    result.drafter_cost = {.forwards = drafting->figures().forwards,
                           .forward_rows = drafting->figures().rows,
                           .kv_bytes_per_token = drafting->store().bytes_per_slot(),
                           .kv_peak_tokens = drafting->figures().peak_live};
  result.mask_prefix_tokens = runner->store().front();
  result.warning = warning();
  result.lossless = is_lossless(method, run.settings);
  result.time = time;
  return result;
}

std::optional<double> RunResult::tokens_per_second() const {
  if (time.decode_ms <= 0) return std::nullopt;
  return 1000 * static_cast<double>(emitted_tokens - prefill_tokens) / time.decode_ms;
}

std::optional<double> RunResult::levels_gained() const {
  std::int64_t steps_in = 0, levels = 0;
  for (std::size_t k = 0; k < levels_histogram.size(); ++k) {
    steps_in += levels_histogram[k];
    levels += static_cast<std::int64_t>(k) * levels_histogram[k];
  }
  if (steps_in == 0) return std::nullopt;
  return static_cast<double>(levels) / static_cast<double>(steps_in);
}

std::string Session::Impl::warning() const {
  std::string text = parts.drafter ? parts.drafter->warning() : "";
  const ModelInfo& info = model.info();
  if (info.path_only_rows == 0 || most_rows <= info.path_only_rows) return text;
  if (!text.empty()) text += "; ";
  return text + "a forward had " + std::to_string(most_rows) + " rows: on " + info.device +
         " logits are the same to the last bit only in forwards of up to " +
         std::to_string(info.path_only_rows) + (info.path_only_rows == 1 ? " row" : " rows") +
         ", so drafts and beams may change the text where two tokens are nearly equal";
}

Session::Session(Model& model, const Tokenizer& tokenizer, RunConfig config,
                 capture::Recorder& recorder)
    : Session(model, tokenizer, find_method(config.method), config, recorder) {}

Session::Session(Model& model, const Tokenizer& tokenizer, const MethodInfo& method,
                 RunConfig config, capture::Recorder& recorder)
    : impl_(std::make_unique<Impl>(model, tokenizer, method, std::move(config), recorder,
                                   std::span<const ForcedToken>())) {}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Session::~Session() = default;

std::unique_ptr<Session> Session::branch(const Session& from, NodeId node, std::int32_t token,
                                         capture::Recorder& recorder) {
  const Impl& old = *from.impl_;
  if (node.value < 0 || node.value >= old.tree.size())
    refuse("branch: expected a node from 0 to " + std::to_string(old.tree.size() - 1) + "; found " +
           std::to_string(node.value));
  if (old.tree[node].is_probe())
    refuse("branch: expected a node that may become text; found node " +
           std::to_string(node.value) + ", which is a probe. Branch from the node it hangs below");
  std::vector<ForcedToken> path;
  for (const NodeId id : old.tree.path_to(node))
    path.push_back({old.tree[id].token.value, old.tree[id].logprob, old.tree[id].source});
  path.push_back({token, std::nanf(""), capture::Source::kForced});
  return std::unique_ptr<Session>(new Session(
      std::make_unique<Impl>(old.model, old.tokenizer, old.method, old.config, recorder, path)));
}

const RunContext& Session::context() const { return impl_->run; }
const TokenTree& Session::tree() const { return impl_->tree; }
RunResult Session::result() const { return impl_->result(); }
void Session::set_progress(ProgressSink progress) { impl_->progress = std::move(progress); }

void Session::wait_for_memory(MemoryWait wait) {
  impl_->memory_wait = {};
  if (wait)
    impl_->memory_wait = [impl = impl_.get(), wait = std::move(wait)](const Error& refused) {
      const auto start = std::chrono::steady_clock::now();
      const bool again = wait(refused);
      impl->waited += std::chrono::steady_clock::now() - start;
      return again;
    };
  impl_->out.wait_for_memory(impl_->memory_wait);
  impl_->runner->wait_for_memory(impl_->memory_wait);
  if (TreeRunner* drafting = impl_->drafting_runner())
    drafting->wait_for_memory(impl_->memory_wait);
}

}  // namespace triescope

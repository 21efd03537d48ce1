#include "app/session/head_readings.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "app/session/first_drafts.h"
#include "app/session/known_text.h"
#include "core/base/error.h"
#include "core/model/heads/draft_head.h"
#include "core/session/session.h"

namespace triescope::app {
namespace {

using formats::HeadConfig;
using formats::HeadKind;
using formats::HeadReading;

using NamedReading = std::pair<std::string, HeadReading>;

constexpr const char* kIdsName = "d2t as ids";
constexpr double kDefaultRopeBase = 10000;

void add_shifted_layers(const HeadConfig& head, const ModelInfo& target,
                        std::vector<NamedReading>& all) {
  for (const int by : {1, -1}) {
    std::vector<int> layers = head.feature_layers;
    for (int& layer : layers) layer += by;
    if (std::ranges::all_of(layers, [&](int one) { return one >= 0 && one <= target.layers; }))
      all.push_back({by > 0 ? "auxiliary layers one up" : "auxiliary layers one down",
                     {.layers = std::move(layers)}});
  }
}

void add_eagle3(const HeadConfig& head, std::vector<NamedReading>& all) {
  all.push_back({head.norm_before_residual ? "norm_before_residual off" : "norm_before_residual on",
                 {.norm_before_residual = !head.norm_before_residual}});
  all.push_back({head.norm_output ? "norm_output off" : "norm_output on",
                 {.norm_output = !head.norm_output}});
  all.push_back({"final norm left out", {.no_final_norm = true}});
}

// The readings beside the file's own.
std::vector<NamedReading> readings_of(const HeadConfig& head, const ModelInfo& target) {
  std::vector<NamedReading> all;
  if (head.kind == HeadKind::kEagle3) {
    add_shifted_layers(head, target, all);
    add_eagle3(head, all);
  } else if (head.kind == HeadKind::kDFlash) {
    add_shifted_layers(head, target, all);
  } else {
    const bool is_normed = head.feature_layers == std::vector<int>{kFinalNorm};
    if (is_normed)
      all.push_back({"state before the final norm", {.state = target.layers}});
    else
      all.push_back({"state after the final norm", {.state = kFinalNorm}});
    all.push_back({"state one layer lower",
                   {.state = is_normed ? target.layers - 1 : head.feature_layers.front() - 1}});
  }
  if (head.kind != HeadKind::kMedusa && head.kind != HeadKind::kDFlash)
    all.push_back({"embedding one token off", {.own_token = true}});
  if (head.own_embedding) all.push_back({"the target's embedding", {.target_embedding = true}});
  if (head.kind == HeadKind::kMedusa && head.head_count > 1)
    all.push_back({"heads counted from the next token", {.first_head = 1}});
  if (!head.has_layers()) return all;
  // Layers that were trained with their library's default, or with their target's base.
  const double of_target = static_cast<double>(target.rope_theta);
  const auto add_base = [&](double base, const char* whose) {
    if (base > 0 && std::abs(base - static_cast<double>(head.rope.theta)) > 0.5)
      all.push_back(
          {"rope base " + std::to_string(std::llround(base)) + whose, {.rope_base = base}});
  };
  add_base(kDefaultRopeBase, ", the default");
  if (of_target != kDefaultRopeBase) add_base(of_target, ", the target's");
  return all;
}

// The target's states that the readings read, the file's own too.
std::vector<std::int32_t> layers_read(const DraftHead& own,
                                      const std::vector<NamedReading>& others) {
  std::set<std::int32_t> all;
  for (const std::int32_t layer : own.feature_layers()) all.insert(layer);
  for (const auto& [name, how] : others) {
    all.insert(how.layers.begin(), how.layers.end());
    if (how.state) all.insert(*how.state);
  }
  return {all.begin(), all.end()};
}

const char* method_of(HeadKind kind) {
  switch (kind) {
    case HeadKind::kMedusa:
      return "medusa";
    case HeadKind::kHydra:
      return "hydra";
    case HeadKind::kEagle:
      return "eagle2";
    case HeadKind::kMtp:
      return "mtp";
    case HeadKind::kDFlash:
      return "dflash";
    default:
      return "eagle3";
  }
}

// The capture's first drafts that a head made.
FirstDrafts recorded_drafts(const capture::Capture* recorded) {
  if (recorded == nullptr) return {};
  return first_drafts(recorded->nodes(), [&](const capture::NodeRow& node) {
    const capture::DrafterRow* const drafter = recorded->drafter_of(node);
    return drafter != nullptr && drafter->kind == capture::DrafterKind::kHead;
  });
}

// Every reading writes the same texts, which the target computes once (KnownText).
class Trial {
 public:
  Trial(const HeadToRead& of, const std::vector<std::int32_t>& layers)
      : of_(of), recorded_(recorded_drafts(of.recorded)) {
    for (const std::vector<std::int32_t>& prompt : of.prompts)
      texts_.push_back(KnownText::serves(of.target.info(), prompt.size(), of.max_new_tokens)
                           ? std::make_unique<KnownText>(of.target, prompt, layers)
                           : nullptr);
  }

  TriedReading decoded(const NamedReading& reading, DraftHead& head) {
    TriedReading tried{.name = reading.first, .how = reading.second};
    std::vector<std::int64_t> histogram;
    std::int64_t emitted = 0, forwards = 0, steps = 0;
    for (std::size_t i = 0; i < of_.prompts.size(); ++i) {
      RunConfig config;
      config.method = method_of(head.config.kind);
      config.prompt_tokens = of_.prompts[i];
      config.max_new_tokens = of_.max_new_tokens;
      config.draft = {nullptr, nullptr, &head};
      NodeRecorder recorder;
      Model& target = texts_[i] ? *texts_[i] : of_.target;
      Session session(target, of_.tokenizer, std::move(config), recorder);
      while (!session.done()) session.step();
      const RunResult result = session.result();
      if (histogram.size() < result.accepted_histogram.size())
        histogram.resize(result.accepted_histogram.size());
      for (std::size_t k = 0; k < result.accepted_histogram.size(); ++k) {
        histogram[k] += result.accepted_histogram[k];
        steps += result.accepted_histogram[k];
      }
      emitted += result.emitted_tokens;
      forwards += result.target_forwards;
      if (i == 0) compare(recorder, tried);
    }
    std::int64_t deeper = steps;
    for (std::size_t k = 0; k + 1 < histogram.size(); ++k) {
      deeper -= histogram[k];
      tried.acceptance.push_back(static_cast<double>(deeper) / static_cast<double>(steps));
    }
    if (forwards > 0)
      tried.tokens_per_forward = static_cast<double>(emitted) / static_cast<double>(forwards);
    return tried;
  }

 private:
  void compare(const NodeRecorder& recorder, TriedReading& tried) const {
    constexpr std::size_t kFewestPlaces = 4;
    const Sameness same =
        sameness(recorded_, first_drafts(recorder.nodes(), [](const auto&) { return true; }));
    if (same.places >= kFewestPlaces) tried.same_drafts = same.share;
  }

  const HeadToRead& of_;
  FirstDrafts recorded_;
  // [prompt]; null: the target decodes each time.
  std::vector<std::unique_ptr<KnownText>> texts_;
};

}  // namespace

std::vector<TriedReading> head_readings(const HeadToRead& of) {
  const auto load = [&](const HeadReading& how) {
    return load_draft_head(of.path, of.target, 0, {}, how);
  };
  NamedReading own = {"as the file says", {}};
  std::unique_ptr<DraftHead> head;
  std::string refused;
  std::vector<NamedReading> others;
  HeadReading ids;
  ids.map_holds_ids = true;
  try {
    head = load(own.second);
    if (head->config.draft_vocab < head->config.vocab)  // it has a map
      others.push_back({kIdsName, ids});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCorruption) throw;
    refused = error.what();
    // A map of ids leads out of the vocabulary where it is read as offsets. All else is tried on top.
    try {
      head = load(ids);
    } catch (const Error&) {
      throw error;
    }
  }
  if (head->config.kind == HeadKind::kSpace)
    throw Error(
        ErrorCode::kNotSupported,
        of.path + ": expected a draft head; found SPACE's masks, whose file has one reading");
  for (NamedReading& reading : readings_of(head->config, of.target.info()))
    others.push_back(std::move(reading));

  Trial trial(of, layers_read(*head, others));
  std::vector<TriedReading> all;
  const auto total = static_cast<double>(others.size() + 1);
  const auto progress = [&] {
    if (of.progress) of.progress("reading the head", static_cast<double>(all.size()), total);
  };
  if (refused.empty()) {
    all.push_back(trial.decoded(own, *head));
  } else {
    all.push_back({.name = own.first, .refused = refused});
    all.push_back(trial.decoded({kIdsName, ids}, *head));
  }
  for (const NamedReading& reading : others) {
    progress();
    HeadReading how = reading.second;
    how.map_holds_ids = how.map_holds_ids || !refused.empty();
    try {
      head = load(how);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kOutOfMemory || error.code() == ErrorCode::kCuda) throw;
      continue;  // a map of offsets is none of ids
    }
    all.push_back(trial.decoded({reading.first, how}, *head));
  }
  progress();
  return all;
}

std::size_t trained_reading(const std::vector<TriedReading>& readings) {
  constexpr double kClearly = 1.03;  // of a few prompts
  std::size_t best = 0;
  for (std::size_t i = 1; i < readings.size(); ++i)
    if (readings[i].tokens_per_forward >
        readings[best].tokens_per_forward * (best == 0 ? kClearly : 1))
      best = i;
  return best;
}

std::optional<std::size_t> used_reading(const std::vector<TriedReading>& readings) {
  constexpr double kSame = 0.9, kApart = 0.03;
  std::optional<std::size_t> used;
  for (std::size_t i = 0; i < readings.size(); ++i)
    if (readings[i].same_drafts >= kSame &&
        (!used || readings[i].same_drafts > readings[*used].same_drafts))
      used = i;
  if (!used) return used;
  // Where another comes as near, nothing tells them apart; the file's own is believed then.
  for (std::size_t i = 0; i < readings.size(); ++i)
    if (i != *used && readings[i].same_drafts > readings[*used].same_drafts - kApart)
      return readings[0].same_drafts > readings[*used].same_drafts - kApart
                 ? std::optional<std::size_t>(0)
                 : std::nullopt;
  return used;
}

}  // namespace triescope::app

#include "app/session/head_readings.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/session/scratch_folder.h"
#include "core/base/error.h"
#include "core/base/text_file.h"
#include "core/model/heads/draft_head.h"
#include "core/session/session.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Reading {
  std::string name;
  std::function<void(json&)> change;  // of config.json
  // Layers that the head then reads; empty: those of the file. Which state an id means depends on the
  // list it stands in (LayerConvention), so a change may not come to what it is called.
  std::vector<int> layers = {};
};

// The same head: a change of config.json that has no effect on it.
bool reads_alike(const formats::HeadConfig& a, const formats::HeadConfig& b) {
  return a.feature_layers == b.feature_layers && a.norm_before_residual == b.norm_before_residual &&
         a.norm_output == b.norm_output && a.rope.theta == b.rope.theta;
}

// Where config.json has its list of layers; null = nowhere.
json* layers_in(json& config) {
  for (json* at : {config.contains("eagle_config") ? &config["eagle_config"] : nullptr, &config})
    for (const char* key : {"eagle_aux_hidden_state_layer_ids", "aux_hidden_state_layer_ids"})
      if (at != nullptr && at->is_object() && at->contains(key) && at->at(key).is_array())
        return &at->at(key);
  return nullptr;
}

void set_rope_base(json& config, double base) {
  for (const char* nested : {"transformer_layer_config", "model", "rope_parameters"})
    if (config.contains(nested) && config[nested].is_object()) set_rope_base(config[nested], base);
  config["rope_theta"] = base;
}

std::vector<Reading> readings_of(const json& config, const formats::HeadConfig& head,
                                 const ModelInfo& target) {
  std::vector<Reading> readings = {{"as the file says", [](json&) {}}};
  if (head.kind == formats::HeadKind::kEagle3) {
    for (const int by : {1, -1}) {
      std::vector<int> wanted = head.feature_layers;
      for (int& layer : wanted) layer += by;
      for (const int shift : {by, 2 * by})
        readings.push_back({by > 0 ? "auxiliary layers one up" : "auxiliary layers one down",
                            [shift, head](json& changed) {
                              json* layers = layers_in(changed);
                              if (layers == nullptr)
                                layers =
                                    &(changed["eagle_config"]["eagle_aux_hidden_state_layer_ids"] =
                                          head.feature_layers);
                              for (json& layer : *layers) layer = layer.get<int>() + shift;
                            },
                            wanted});
    }
    for (const char* key : {"norm_before_residual", "norm_output"}) {
      const bool is_on = config.value(key, false);
      readings.push_back({std::string(key) + (is_on ? " off" : " on"),
                          [key, is_on](json& changed) { changed[key] = !is_on; }});
    }
  }
  // Heads that were trained with their library's default, or with their target's base.
  std::vector<double> bases = {10000.0};
  if (target.rope_theta > 0) bases.push_back(static_cast<double>(target.rope_theta));
  for (const double base : bases)
    if (std::abs(base - head.rope.theta) > 0.5)
      readings.push_back({"rope base " + std::to_string(static_cast<long long>(base)) +
                              (base == 10000.0 ? ", the default" : ", the target's"),
                          [base](json& changed) { set_rope_base(changed, base); }});
  return readings;
}

HeadReading decoded(const std::string& name, DraftHead& head, Model& target,
                    const Tokenizer& tokenizer,
                    const std::vector<std::vector<std::int32_t>>& prompts, int max_new_tokens) {
  HeadReading reading;
  reading.name = name;
  std::vector<std::int64_t> histogram;
  std::int64_t emitted = 0, forwards = 0, steps = 0;
  for (const auto& prompt : prompts) {
    RunConfig config;
    config.method = head.config.kind == formats::HeadKind::kEagle3 ? "eagle3" : "eagle2";
    config.prompt_tokens = prompt;
    config.max_new_tokens = max_new_tokens;
    config.draft = {nullptr, nullptr, &head};
    capture::NullRecorder nobody;
    Session session(target, tokenizer, std::move(config), nobody);
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
  }
  std::int64_t deeper = steps;
  for (std::size_t k = 0; k + 1 < histogram.size(); ++k) {
    deeper -= histogram[k];
    reading.acceptance.push_back(static_cast<double>(deeper) / static_cast<double>(steps));
  }
  if (forwards > 0)
    reading.tokens_per_forward = static_cast<double>(emitted) / static_cast<double>(forwards);
  return reading;
}

}  // namespace

std::vector<HeadReading> head_readings(const std::string& path, Model& target,
                                       const Tokenizer& tokenizer,
                                       const std::vector<std::vector<std::int32_t>>& prompts,
                                       int max_new_tokens) {
  const auto own = load_draft_head(path, target);
  if (own->config.kind != formats::HeadKind::kEagle &&
      own->config.kind != formats::HeadKind::kEagle3)
    throw Error(ErrorCode::kNotSupported, path + ": expected an EAGLE or EAGLE-3 head; found " +
                                              formats::to_string(own->config.kind) +
                                              ", whose file has one reading");
  const fs::path folder = path;
  if (!fs::exists(folder / "config.json"))
    throw Error(ErrorCode::kNotSupported,
                path +
                    ": expected the folder of a head with a config.json; its readings are "
                    "changes of that file");
  const json config = json::parse(
      read_text_file((folder / "config.json").string(), "a head's config.json"), nullptr, false);
  if (!config.is_object())
    throw Error(ErrorCode::kCorruption, path + ": config.json: expected a JSON object");
  // A folder with the same files and another config.json. Links out of it are not followed.
  const ScratchFolder scratch("head");
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().filename() == "config.json") continue;
    const fs::path there = scratch.path() / entry.path().filename();
    std::error_code other_device;
    fs::create_hard_link(entry.path(), there, other_device);
    if (other_device) fs::copy_file(entry.path(), there);
  }
  std::vector<HeadReading> all;
  for (const Reading& reading : readings_of(config, own->config, target.info())) {
    if (all.empty()) {
      all.push_back(decoded(reading.name, *own, target, tokenizer, prompts, max_new_tokens));
      continue;
    }
    if (std::ranges::find(all, reading.name, &HeadReading::name) != all.end()) continue;
    json changed = config;
    reading.change(changed);
    std::ofstream(scratch.file("config.json")) << changed.dump();
    std::unique_ptr<DraftHead> head;
    try {
      head = load_draft_head(scratch.path().string(), target);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kOutOfMemory || error.code() == ErrorCode::kCuda) throw;
      continue;  // a layer that the target does not have
    }
    const bool is_it = reading.layers.empty() || head->config.feature_layers == reading.layers;
    if (!is_it || reads_alike(head->config, own->config)) continue;
    all.push_back(decoded(reading.name, *head, target, tokenizer, prompts, max_new_tokens));
  }
  return all;
}

std::size_t trained_reading(const std::vector<HeadReading>& readings) {
  constexpr double kClearly = 1.03;  // of a few prompts
  std::size_t best = 0;
  for (std::size_t i = 1; i < readings.size(); ++i)
    if (readings[i].tokens_per_forward >
        readings[best].tokens_per_forward * (best == 0 ? kClearly : 1))
      best = i;
  return best;
}

}  // namespace triescope::app

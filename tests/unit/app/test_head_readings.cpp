// The heads that come with the program, read as their files say and with one mistake each: in the file
// (config.json, d2t, an embedding), or in how a program used them. The doctor's readings name it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "app/session/head_readings.h"
#include "app/session/loaded_model.h"
#include "core/capture/writer.h"
#include "core/model/heads/draft_head.h"
#include "core/session/session.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"

namespace triescope::test::test_head_readings {
namespace {

namespace fs = std::filesystem;
using app::TriedReading;
using formats::HeadReading;
using nlohmann::json;

constexpr const char* kPrompt =
    "The three primary colours are red, yellow and blue. Mixing red and yellow makes";
constexpr int kTokens = 40;

// A sanitizer, which takes an hour for all of a list, gets every fourth.
template <typename T>
std::vector<T> enough(std::vector<T> list) {
  if (!kSanitized) return list;
  std::vector<T> some;
  for (std::size_t i = 0; i < list.size(); i += 4) some.push_back(std::move(list[i]));
  return some;
}

struct Target {
  std::unique_ptr<Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::int32_t> prompt;

  explicit Target(const std::string& path)
      : model(load_model(path, {})), tokenizer(app::open_tokenizer(path)) {
    prompt = tokenizer->encode(kPrompt, true);
  }

  std::vector<TriedReading> read(const fs::path& head, const capture::Capture* recorded = nullptr) {
    app::HeadToRead of{.path = head.string(), .target = *model, .tokenizer = *tokenizer};
    of.prompts = {prompt};
    of.max_new_tokens = kTokens;
    of.recorded = recorded;
    return head_readings(of);
  }

  // What a program records that uses the head in this way.
  std::unique_ptr<capture::Capture> recorded(const fs::path& head, const std::string& method,
                                             const HeadReading& how, const fs::path& file) {
    const auto used = load_draft_head(head.string(), *model, 0, {}, how);
    {
      RunConfig config;
      config.method = method;
      config.prompt_tokens = prompt;
      config.max_new_tokens = kTokens;
      config.draft = {nullptr, nullptr, used.get()};
      const auto recorder = capture::open_recorder(file.string());
      Session session(*model, *tokenizer, std::move(config), *recorder);
      while (!session.done()) session.step();
    }
    return capture::Capture::open(file.string());
  }
};

// A safetensors file whose tensors a test changes.
struct HeadBytesOnDisk {
  fs::path path;
  json header;
  std::string data;

  explicit HeadBytesOnDisk(fs::path file) : path(std::move(file)) {
    const std::string whole = read_file(path);
    std::uint64_t length = 0;
    std::memcpy(&length, whole.data(), sizeof length);
    header = json::parse(whole.substr(8, length));
    data = whole.substr(8 + length);
  }
  std::string bytes(const std::string& name) const {
    const std::size_t first = header[name]["data_offsets"][0],
                      last = header[name]["data_offsets"][1];
    return data.substr(first, last - first);
  }
  void add(const std::string& name, const std::string& dtype, const json& shape,
           const std::string& values) {
    header[name] = {{"dtype", dtype},
                    {"shape", shape},
                    {"data_offsets", {data.size(), data.size() + values.size()}}};
    data += values;
  }
  void save() const {
    std::string text = header.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    std::uint64_t length = text.size();
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&length), sizeof length);
    out << text << data;
  }
};

// A copy of a head that comes with the program, with a change.
struct Copy {
  TempDir dir;
  Copy(const char* name, const std::function<void(json&)>& config,
       const std::function<void(HeadBytesOnDisk&)>& tensors = {}) {
    fs::copy(source_dir() / "assets/draft" / name, dir.path(), fs::copy_options::recursive);
    for (const auto& entry : fs::directory_iterator(dir.path()))
      fs::permissions(entry.path(), fs::perms::owner_write, fs::perm_options::add);
    json settings = json::parse(read_file(dir.path() / "config.json"));
    config(settings);
    std::ofstream(dir.path() / "config.json") << settings.dump();
    if (!tensors) return;
    const fs::path whole = dir.path() / "model.safetensors";
    HeadBytesOnDisk file(fs::exists(whole) ? whole : dir.path() / "medusa_lm_head.safetensors");
    tensors(file);
    file.save();
  }
};

void shift_layers(json& config, int by) {
  for (json& layer : config["eagle_config"]["eagle_aux_hidden_state_layer_ids"])
    layer = layer.get<int>() + by;
}

void as_ids(HeadBytesOnDisk& file) {
  const std::string offsets = file.bytes("d2t");
  std::vector<std::int64_t> ids(offsets.size() / sizeof(std::int64_t));
  std::memcpy(ids.data(), offsets.data(), offsets.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] += static_cast<std::int64_t>(i);
  std::memcpy(file.data.data() + file.header["d2t"]["data_offsets"][0].get<std::size_t>(),
              ids.data(), offsets.size());
}

void add_untrained_embedding(HeadBytesOnDisk& file) {
  std::string values(std::size_t{49152} * 576 * 2, '\0');
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < values.size(); i += 2) {
    state = state * 1664525u + 1013904223u;
    values[i] = static_cast<char>(state >> 24);
    values[i + 1] = static_cast<char>(0x20 | (state >> 16 & 0x87));  // small numbers of either sign
  }
  file.add("embed_tokens.weight", "F16", {49152, 576}, values);
}

// In front of the heads for t + 2 and on, one for t + 1 that leaves the state as it is.
void count_from_next(HeadBytesOnDisk& file) {
  json moved;
  for (const auto& [name, entry] : file.header.items()) {
    const std::size_t dot = name.find('.');
    moved[name == "__metadata__" ? name : std::to_string(std::stoi(name) + 1) + name.substr(dot)] =
        entry;
  }
  file.header = moved;
  file.add("0.0.linear.weight", "F16", {576, 576}, std::string(std::size_t{576} * 576 * 2, '\0'));
  file.add("0.0.linear.bias", "F16", {576}, std::string(std::size_t{576} * 2, '\0'));
}

TEST_CASE("doctor --head: the heads that come with the program are read as their files say") {
  const auto path = model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed");
  Target target(path->string());
  for (const std::string& name : enough<std::string>({"eagle3", "eagle", "medusa", "hydra"})) {
    CAPTURE(name);
    const auto readings = target.read(source_dir() / "assets/draft" / name);
    REQUIRE(readings.size() >= 3);
    for (const TriedReading& one : readings)
      MESSAGE(name, ": ", one.name, " ", one.tokens_per_forward);
    CHECK(readings[0].tokens_per_forward > 1.3);
    CHECK(app::trained_reading(readings) == 0);
    CHECK_FALSE(app::used_reading(readings));  // no run to compare with
  }
}

TEST_CASE("doctor --head: one mistake in a head's file is named") {
  const auto path = model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed");
  Target target(path->string());
  struct Mistake {
    const char *head, *named;
    std::function<void(json&)> config = [](json&) {};
    std::function<void(HeadBytesOnDisk&)> tensors = {};
  };
  const std::vector<Mistake> mistakes = enough<Mistake>({
      {"eagle3", "auxiliary layers one down", [](json& config) { shift_layers(config, 1); }},
      // A list that begins with 1 counts outputs: no mistake.
      {"eagle3", "as the file says", [](json& config) { shift_layers(config, -1); }},
      {"eagle3", "norm_before_residual off",
       [](json& config) { config["norm_before_residual"] = true; }},
      {"eagle3", "d2t as ids", [](json&) {}, as_ids},
      {"eagle3", "the target's embedding", [](json&) {}, add_untrained_embedding},
      {"eagle", "the target's embedding", [](json&) {}, add_untrained_embedding},
      {"hydra", "state after the final norm",
       [](json& config) { config["hidden_state_offset"] = 1; }},
      {"medusa", "heads counted from the next token",
       [](json& config) { config.erase("draft_tree"); }, count_from_next},
  });
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.head);
    CAPTURE(mistake.named);
    const Copy copy(mistake.head, mistake.config, mistake.tensors);
    const auto readings = target.read(copy.dir.path());
    for (const TriedReading& one : readings)
      MESSAGE(mistake.named, ": ", one.name, " ", one.tokens_per_forward, " ", one.refused);
    CHECK(readings[app::trained_reading(readings)].name == mistake.named);
  }
}

TEST_CASE("doctor --head: one mistake in how a recorded program used a head is named") {
  const auto path = model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed");
  Target target(path->string());
  const int layers = target.model->info().layers;
  struct Mistake {
    const char *head, *method, *named;
    HeadReading how;
  };
  const std::vector<Mistake> mistakes = enough<Mistake>({
      {"eagle3", "eagle3", "as the file says", {}},
      {"eagle3", "eagle3", "auxiliary layers one up", {.layers = {3, 16, 28}}},
      {"eagle3", "eagle3", "auxiliary layers one down", {.layers = {1, 14, 26}}},
      {"eagle3", "eagle3", "embedding one token off", {.own_token = true}},
      {"eagle3", "eagle3", "final norm left out", {.no_final_norm = true}},
      {"eagle", "eagle", "state before the final norm", {.state = layers}},
      {"eagle", "eagle2", "embedding one token off", {.own_token = true}},
      {"medusa", "medusa", "state before the final norm", {.state = layers}},
      {"hydra", "hydra", "embedding one token off", {.own_token = true}},
  });
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.head);
    CAPTURE(mistake.named);
    const TempDir dir;
    const fs::path head = source_dir() / "assets/draft" / mistake.head;
    const auto recorded =
        target.recorded(head, mistake.method, mistake.how, dir.path() / "run.tscap");
    const auto readings = target.read(head, recorded.get());
    for (const TriedReading& one : readings)
      MESSAGE(mistake.named, ": ", one.name, " ", one.tokens_per_forward, " ", one.same_drafts);
    CHECK(app::trained_reading(readings) == 0);
    const auto used = app::used_reading(readings);
    REQUIRE(used);
    CHECK(readings[*used].name == mistake.named);
  }
}

}  // namespace
}  // namespace triescope::test::test_head_readings

// What a forward promises: path only (CPU, bit for bit), windows, KV that moves and grows,
// refusals, cancelling.
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <stop_token>

#include "core/base/error.h"
#include "core/files/weights.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/unit/model/model_test_util.h"

using namespace triescope;
using namespace triescope::test;

namespace {

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> copy(std::span<const float> row) { return {row.begin(), row.end()}; }

// A path of `length` tokens decoded in many ways gives the same bits for its last token.
void check_path_only(Model& model, int length, int prompt) {
  const int vocab = model.info().vocab_size;
  std::mt19937 random(3);
  std::vector<std::int32_t> path;
  for (int i = 0; i < length; ++i)
    path.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(vocab)));

  // Prefill of the whole path.
  const auto whole_kv = model.make_kv(length);
  const std::vector<float> expected = last_logits(model, *whole_kv, path);

  // Prefill of the prompt, then step by step.
  const auto step_kv = model.make_kv(length);
  const std::vector<std::int32_t> start(path.begin(), path.begin() + prompt);
  last_logits(model, *step_kv, start);
  std::vector<float> stepped;
  for (int i = prompt; i < length; ++i)
    stepped = step_logits(model, *step_kv, i, path[static_cast<std::size_t>(i)]);
  CHECK(same_bits(stepped, expected));

  // Among 1 to 32 rows of other branches, in scattered slots, the path's own slots anywhere.
  for (const int others : {0, 1, 2, 3, 5, 9, 15, 31}) {
    CAPTURE(others);
    const int capacity = length + (others + 1) * 8 + 100;
    const auto kv = model.make_kv(capacity);
    std::vector<std::int32_t> free = iota(capacity);
    std::shuffle(free.begin(), free.end(), random);
    std::vector<std::int32_t> prefix;
    for (int i = 0; i < prompt; ++i) {
      prefix.push_back(free.back());
      free.pop_back();
    }
    ForwardBatch prefill;
    const std::vector<std::int32_t> positions = iota(prompt);
    prefill.tokens = start;
    prefill.positions = positions;
    prefill.slots = prefix;
    model.forward(prefill, *kv);
    std::vector<std::int32_t> own;
    std::vector<float> last;
    for (int i = prompt; i < length; ++i) {
      std::vector<TreeRow> rows;
      const int place = static_cast<int>(random() % static_cast<unsigned>(others + 1));
      for (int r = 0; r <= others; ++r) {
        TreeRow row;
        row.token = r == place ? path[static_cast<std::size_t>(i)]
                               : static_cast<std::int32_t>(random() % static_cast<unsigned>(vocab));
        row.position = i;
        row.slot = free[free.size() - 1 - static_cast<std::size_t>(r)];
        row.own = own;
        rows.push_back(row);
      }
      const ForwardOutput output = run_tree_rows(model, *kv, prefix, rows);
      last = copy(output.row(place));
      own.push_back(rows[static_cast<std::size_t>(place)].slot);
      free.erase(free.end() - 1 -
                 place);  // the other rows' slots are garbage, taken again by the next step
    }
    CHECK(same_bits(last, expected));
  }

  // All drafted tokens at once, each seeing those before it.
  const auto draft_kv = model.make_kv(length);
  last_logits(model, *draft_kv, start);
  std::vector<TreeRow> rows;
  std::vector<std::int32_t> own;
  for (int i = prompt; i < length; ++i) {
    rows.push_back({path[static_cast<std::size_t>(i)], i, i, own});
    own.push_back(i);
  }
  CHECK(same_bits(run_tree_rows(model, *draft_kv, iota(prompt), rows).row(length - prompt - 1),
                  expected));
}

}  // namespace

TEST_CASE("path only: a row's logits are its path's alone, bit for bit") {
  for (const char* name : {"llama", "mistral", "gemma2", "gemma3", "qwen3", "phi3", "gpt2",
                           "llama multi-query", "mixtral", "qwen2_moe", "olmoe clipped, normalised",
                           "granitemoeshared", "gemma4", "gemma4 keys are values", "gemma4 experts",
                           "gemma4 experts, wide layers, an embedding of every layer", "lfm2",
                           "lfm2 biases, four taps", "lfm2_moe"}) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      const std::string label = std::string(name) + " " + to_string(dtype);
      CAPTURE(label);
      check_path_only(*golden_model(name, {.dtype = dtype}), 40, 25);
    }
  }
}

TEST_CASE("path only: SmolLM2, fp32") {
  const auto path = model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed");
  check_path_only(*load_model(path->string()), 30, 22);
}

TEST_CASE("path only: a prompt longer than one part of a prefill, its logits and hidden states") {
  // The CPU executor takes kPrefillChunk = 256 rows of a prompt through the layers at once.
  const auto cases = golden_families()["cases"];
  constexpr int kLength = 1100;
  const std::vector<std::int32_t> order = iota(kLength);
  std::vector<std::int32_t> ids;
  for (int i = 0; i < kLength; ++i) ids.push_back(i * 13 % 64);
  for (const char* name : {"llama", "mistral", "lfm2"}) {
    CAPTURE(name);
    auto entry = cases[name];
    entry["config"]["max_position_embeddings"] = 2048;
    const TempDir folder;
    write_golden_model(entry, folder.path());
    const auto model = load_model(folder.path().string(), {.threads = 2});
    const auto hidden = static_cast<std::size_t>(model->info().hidden);
    const std::vector<std::int32_t> layers = {model->info().layers, 0, 2, kFinalNorm};

    const auto kv = model->make_kv(kLength), other = model->make_kv(kLength);
    const std::vector<std::int32_t> wanted = {0, 1, 255, 256, 511, 512, 513, 1023, 1024, 1099};
    const std::vector<std::int32_t> logit_rows = {5, 255, 256, 512, 1099};
    ForwardBatch whole;
    whole.tokens = ids;
    whole.positions = whole.slots = order;
    whole.logit_rows = logit_rows;
    whole.feature_layers = layers;
    whole.feature_rows = wanted;
    const ForwardOutput output = model->forward(whole, *kv);
    const std::vector<float> logits = copy(output.logits), features = copy(output.features);
    REQUIRE(features.size() == layers.size() * wanted.size() * hidden);

    // The same in forwards of 100 rows after the rows before them.
    for (int first = 0; first < kLength; first += 100) {
      const auto begin = static_cast<std::size_t>(first);
      const std::vector<std::int32_t> rows = iota(100);
      ForwardBatch piece;
      piece.tokens = std::span(ids).subspan(begin, 100);
      piece.positions = piece.slots = std::span(order).subspan(begin, 100);
      piece.prefix_slots = std::span(order).first(begin);
      piece.logit_rows = piece.feature_rows = rows;
      piece.feature_layers = layers;
      const ForwardOutput part = model->forward(piece, *other);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i] < first || wanted[i] >= first + 100) continue;
        const auto row = static_cast<std::size_t>(wanted[i] - first);
        for (std::size_t l = 0; l < layers.size(); ++l) {
          CAPTURE(wanted[i]);
          CAPTURE(layers[l]);
          CHECK(same_bits(part.features.subspan((l * 100 + row) * hidden, hidden),
                          std::span(features).subspan((l * wanted.size() + i) * hidden, hidden)));
        }
      }
      for (std::size_t i = 0; i < logit_rows.size(); ++i) {
        if (logit_rows[i] < first || logit_rows[i] >= first + 100) continue;
        CAPTURE(logit_rows[i]);
        CHECK(same_bits(part.row(logit_rows[i] - first), std::span(logits).subspan(i * 64, 64)));
      }
    }
  }
}

TEST_CASE("forward: bf16 stays near fp32, and own kernels near libtorch's") {
  const auto exact = golden_model("llama"), half = golden_model("llama", {.dtype = DType::kBF16}),
             torch_half = golden_model("llama", {.dtype = DType::kBF16, .reference_kernels = true});
  CHECK(half->info().dtype == DType::kBF16);
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(i * 13 % 64);
  const auto a = exact->make_kv(40), b = half->make_kv(40), c = torch_half->make_kv(40);
  CHECK(b->bytes_per_slot() * 2 == a->bytes_per_slot());
  const std::vector<float> logits = last_logits(*exact, *a, ids);
  const double difference = max_difference(logits, last_logits(*half, *b, ids));
  CHECK(difference > 0);
  CHECK(difference < 0.25);
  CHECK(max_difference(logits, last_logits(*torch_half, *c, ids)) < 0.5);
}

TEST_CASE("forward: a sliding window is the same as a list without what it hides") {
  // mistral's window is 16 in every layer: what a row sees of layer 0 is its last 16 entries;
  // deeper layers saw theirs.
  for (const bool reference : {false, true}) {
    CAPTURE(reference);
    const auto windowed = golden_model("mistral", {.reference_kernels = reference});
    const auto plain =
        golden_model("llama", {.reference_kernels = reference});  // the same weights, no window
    const auto kv = windowed->make_kv(64), plain_kv = plain->make_kv(64);
    std::vector<TreeRow> rows;
    std::vector<std::int32_t> ids;
    for (int i = 0; i < 45; ++i) ids.push_back(i * 13 % 64);
    const std::vector<float> by_window = all_logits(*windowed, *kv, ids);
    // Brute force: every row's list is cut by hand, all in one forward, no window.
    for (int i = 0; i < 45; ++i) {
      const int first = std::max(0, i - 15);
      rows.push_back({ids[static_cast<std::size_t>(i)], i, i, iota(i - first, first)});
    }
    const ForwardOutput by_hand = run_tree_rows(*plain, *plain_kv, {}, rows);
    CHECK(max_difference(by_hand.logits, by_window) < 1e-5);
    const std::vector<float> unlimited = all_logits(*plain, *plain_kv, ids);
    CHECK(max_difference(unlimited, by_window) > 1e-3);  // so the window matters here
  }
}

TEST_CASE("forward: KV that moves or grows keeps its contents") {
  for (const bool reference : {false, true}) {
    CAPTURE(reference);
    const auto model = golden_model("llama", {.reference_kernels = reference});
    const auto kv = model->make_kv(12);
    CHECK(kv->bytes_per_slot() == 4 * 2 * 2 * 8 * 4);
    const std::vector<std::int32_t> ids = {5, 9, 13, 17, 21, 25, 29, 33, 37, 41};
    last_logits(*model, *kv, ids);
    const std::vector<float> expected = step_logits(*model, *kv, 10, 3);
    // Rotate the ten slots: every target is another's source.
    std::vector<std::int32_t> from = iota(10), to;
    for (int i = 0; i < 10; ++i) to.push_back((i + 3) % 10);
    kv->move(from, to);
    CHECK(kv->capacity() == 12);
    kv->reserve(100);
    CHECK(kv->capacity() >= 100);
    CHECK(same_bits(run_tree_rows(*model, *kv, to, {{3, 10, 77, {}}}).row(0), expected));
    const int before = kv->capacity();
    kv->reserve(5);
    CHECK(kv->capacity() == before);
    const std::vector<std::int32_t> bad = {before}, one = {0};
    CHECK_THROWS_AS(kv->move(bad, one), Error);
    CHECK_THROWS_AS(kv->move(one, bad), Error);
    CHECK_THROWS_AS(kv->move(from, one), Error);
    kv->move({}, {});
  }
}

TEST_CASE("forward: a batch that contradicts itself is refused and says how") {
  for (const bool reference : {false, true}) {
    const auto model = golden_model("llama", {.reference_kernels = reference});
    const auto kv = model->make_kv(8);
    const auto message = [&](auto change) -> std::string {
      std::vector<std::int32_t> tokens = {1, 2}, positions = {0, 1}, slots = {0, 1}, prefix, own,
                                offsets, rows = {1};
      change(tokens, positions, slots, prefix, own, offsets, rows);
      ForwardBatch batch;
      batch.tokens = tokens;
      batch.positions = positions;
      batch.slots = slots;
      batch.prefix_slots = prefix;
      batch.own_slots = own;
      batch.own_offsets = offsets;
      batch.logit_rows = rows;
      try {
        model->forward(batch, *kv);
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::kInvalidArgument);
        return error.what();
      }
      return "";
    };
    const auto has = [](const std::string& text, const char* part) {
      return text.find(part) != std::string::npos;
    };
    CHECK(message([](auto&...) {}) == "");
    CHECK(has(message([](auto& t, auto&...) { t[1] = 64; }), "token"));
    CHECK(has(message([](auto& t, auto&...) { t[1] = -1; }), "token"));
    CHECK(has(message([](auto&, auto& p, auto&...) { p[1] = 128; }), "position"));
    CHECK(has(message([](auto&, auto&, auto& s, auto&...) { s[1] = 8; }), "slot"));
    CHECK(has(message([](auto&, auto&, auto& s, auto&...) { s[1] = 0; }), "slot 0"));
    CHECK(has(message([](auto&, auto& p, auto&...) { p.pop_back(); }), "positions"));
    CHECK(
        has(message([](auto&, auto&, auto&, auto& prefix, auto&...) { prefix = {9}; }), "prefix"));
    CHECK(has(message([](auto&, auto&, auto&, auto&, auto& own, auto& offsets, auto&) {
                own = {0, 0};
                offsets = {0, 1, 2};
              }),
              "row 1"));
    CHECK(has(message([](auto&, auto&, auto&, auto&, auto& own, auto& offsets, auto&) {
                own = {0, 1};
                offsets = {0, 1};
              }),
              "offsets"));
    CHECK(has(message([](auto&, auto&, auto&, auto&, auto& own, auto& offsets, auto&) {
                own = {0, 1};
                offsets = {0, 5, 2};
              }),
              "row"));
    CHECK(has(message([](auto&, auto&, auto&, auto&, auto&, auto&, auto& rows) { rows = {2}; }),
              "logit"));
    CHECK(has(message([](auto&, auto&, auto&, auto&, auto&, auto&, auto& rows) {
                rows = {1, 0};
              }),
              "logit"));
    CHECK(has(message([](auto& t, auto& p, auto& s, auto&...) { t = p = s = {}; }), "row"));
    CHECK(message([](auto&, auto&, auto&, auto&, auto&, auto&, auto& rows) {
            rows = {0, 0};
          }) == "forward: expected logit rows in ascending order, found 0 after 0 at entry 1");
  }
}

TEST_CASE("forward: hidden states that cannot be had are refused, and the entry is named") {
  for (const bool reference : {false, true}) {
    CAPTURE(reference);
    const auto model = golden_model("llama", {.reference_kernels = reference});  // four layers
    const auto kv = model->make_kv(8);
    const auto message = [&](const std::vector<std::int32_t>& layers,
                             const std::vector<std::int32_t>& rows) -> std::string {
      const std::vector<std::int32_t> two = {0, 1};
      ForwardBatch batch;
      batch.tokens = batch.positions = batch.slots = two;
      batch.feature_layers = layers;
      batch.feature_rows = rows;
      try {
        model->forward(batch, *kv);
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::kInvalidArgument);
        return error.what();
      }
      return "";
    };
    CHECK(message({4, kFinalNorm, 0}, {0, 1}) == "");
    const std::string expected =
        "forward: expected feature layers from 0 (the embeddings) to 4 (after the last layer), or "
        "-1 (the final norm), found ";
    CHECK(message({0, 5}, {0}) == expected + "5 at entry 1");
    CHECK(message({-2}, {0}) == expected + "-2 at entry 0");
    CHECK(message({3, 1, 3}, {0}) ==
          "forward: expected distinct feature layers, found 3 at entries 0 and 2");
    CHECK(message({-1, 0, -1}, {0}) ==
          "forward: expected distinct feature layers, found -1 at entries 0 and 2");
    CHECK(message({0}, {0, 2}) == "forward: expected feature rows from 0 to 1, found 2 at entry 1");
    CHECK(message({0}, {-1}) == "forward: expected feature rows from 0 to 1, found -1 at entry 0");
    CHECK(message({0}, {1, 0}) ==
          "forward: expected feature rows in ascending order, found 0 after 1 at entry 1");
    CHECK(message({0}, {1, 1}) ==
          "forward: expected feature rows in ascending order, found 1 after 1 at entry 1");
  }
}

TEST_CASE("forward: a forward and loading can be cancelled") {
  std::stop_source stop;
  stop.request_stop();
  for (const bool reference : {false, true}) {
    const auto model = golden_model("llama", {.reference_kernels = reference});
    const auto kv = model->make_kv(8);
    const std::vector<std::int32_t> one = {0};
    ForwardBatch batch;
    batch.tokens = batch.positions = batch.slots = batch.logit_rows = one;
    try {
      model->forward(batch, *kv, stop.get_token());
      FAIL("not cancelled");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kCancelled);
    }
    CHECK(model->forward(batch, *kv).logits.size() == 64);
  }
  const TempDir folder;
  write_golden_case("llama", folder.path());
  int calls = 0;
  double last = 0, total = 0;
  std::stop_source later;
  const ProgressSink sink = [&](const std::string& what, double done, double all) {
    CHECK(!what.empty());
    CHECK(done > last);
    last = done;
    total = all;
    if (++calls == 3) later.request_stop();
  };
  try {
    load_model(folder.path().string(), {}, sink, later.get_token());
    FAIL("not cancelled");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kCancelled);
  }
  calls = 100;
  last = 0;
  load_model(folder.path().string(), {}, sink);
  CHECK(last == total);
}

TEST_CASE("forward: hidden states are those the logits are made of") {
  for (const bool reference : {false, true}) {
    CAPTURE(reference);
    const TempDir folder;
    write_golden_case("llama", folder.path());
    const auto model =
        load_model(folder.path().string(), {.reference_kernels = reference, .threads = 2});
    const auto kv = model->make_kv(8);
    const std::vector<std::int32_t> ids = {3, 4, 5}, order = iota(3), rows = {0, 2};
    const std::vector<std::int32_t> normed = {kFinalNorm};
    ForwardBatch batch;
    batch.tokens = ids;
    batch.positions = batch.slots = order;
    batch.logit_rows = rows;
    batch.feature_layers = normed;
    batch.feature_rows = rows;
    const ForwardOutput output = model->forward(batch, *kv);
    REQUIRE(output.features.size() == 2 * 32);
    REQUIRE(output.logits.size() == 2 * 64);
    const auto source = formats::WeightSource::open(folder.path().string());
    std::vector<float> head(64 * 32);
    source->read_rows({formats::Role::kHead, 0}, 0, head);
    for (std::size_t r = 0; r < 2; ++r) {
      for (std::size_t token = 0; token < 64; ++token) {
        double logit = 0;
        for (std::size_t i = 0; i < 32; ++i)
          logit += double{output.features[r * 32 + i]} * head[token * 32 + i];
        REQUIRE(std::abs(logit - output.row(static_cast<int>(r))[token]) < 2e-6);
      }
    }
    // Layer 0's is the embedding, to the bit.
    const std::vector<std::int32_t> first = {0};
    batch.feature_layers = first;
    std::vector<float> embedding(32);
    source->read_rows({formats::Role::kEmbedding, 0}, 5, embedding);
    CHECK(same_bits(model->forward(batch, *kv).features.subspan(32), embedding));
    batch.feature_layers = {};
    batch.logit_rows = {};
    CHECK(model->forward(batch, *kv).logits.empty());
    CHECK(model->forward(batch, *kv).features.empty());
  }
}

TEST_CASE("forward: hidden states of any layers and rows, in any order, with logits or without") {
  for (const char* name : {"llama", "gemma2", "gpt2"}) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      for (const bool reference : {false, true}) {
        CAPTURE(name);
        CAPTURE(to_string(dtype));
        CAPTURE(reference);
        const auto model = golden_model(name, {.dtype = dtype, .reference_kernels = reference});
        const int layers = model->info().layers;
        const std::size_t hidden = static_cast<std::size_t>(model->info().hidden);
        const auto kv = model->make_kv(10);
        const std::vector<std::int32_t> ids = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, order = iota(10);
        ForwardBatch batch;
        batch.tokens = ids;
        batch.positions = batch.slots = batch.logit_rows = order;
        const std::vector<float> logits = copy(model->forward(batch, *kv).logits);
        const std::vector<std::int32_t> last = {9};
        batch.logit_rows = last;
        const std::vector<float> last_logits = copy(model->forward(batch, *kv).logits);
        batch.logit_rows = order;

        std::vector<std::int32_t> all = iota(layers + 1);
        all.push_back(kFinalNorm);
        batch.feature_layers = all;
        batch.feature_rows = order;
        const ForwardOutput whole = model->forward(batch, *kv);
        CHECK(same_bits(whole.logits, logits));
        const std::vector<float> features = copy(whole.features);
        REQUIRE(features.size() == all.size() * 10 * hidden);
        const auto row_of = [&](std::size_t layer, std::size_t row) {
          return std::span(features).subspan((layer * 10 + row) * hidden, hidden);
        };
        for (std::size_t layer = 1; layer < all.size(); ++layer)
          CHECK(max_difference(row_of(layer, 4), row_of(layer - 1, 4)) > 1e-3);

        const std::vector<std::int32_t> some = {layers, kFinalNorm, 1, 0}, rows = {0, 3, 9};
        const std::size_t place[] = {static_cast<std::size_t>(layers), all.size() - 1, 1, 0};
        batch.feature_layers = some;
        batch.feature_rows = rows;
        for (const bool with_logits : {true, false}) {
          batch.logit_rows =
              with_logits ? std::span<const std::int32_t>(last) : std::span<const std::int32_t>();
          const ForwardOutput part = model->forward(batch, *kv);
          CHECK(part.logits.size() == (with_logits ? 64 : 0));
          REQUIRE(part.features.size() == some.size() * rows.size() * hidden);
          for (std::size_t i = 0; i < some.size(); ++i) {
            for (std::size_t r = 0; r < rows.size(); ++r) {
              CHECK(same_bits(part.features.subspan((i * rows.size() + r) * hidden, hidden),
                              row_of(place[i], static_cast<std::size_t>(rows[r]))));
            }
          }
          if (with_logits) CHECK(same_bits(part.logits, last_logits));
        }
        // Layers without rows and rows without layers are nothing.
        batch.feature_rows = {};
        CHECK(model->forward(batch, *kv).features.empty());
        batch.feature_layers = {};
        batch.feature_rows = rows;
        CHECK(model->forward(batch, *kv).features.empty());
      }
    }
  }
}

TEST_CASE("path only: hidden states of drafted rows are those of the path, bit for bit") {
  const auto model = golden_model("mistral");
  const int layers = model->info().layers;
  std::vector<std::int32_t> all = iota(layers + 1), ids;
  all.push_back(kFinalNorm);
  for (int i = 0; i < 30; ++i) ids.push_back(i * 13 % 64);
  const auto features = [&](KvStorage& kv, const std::vector<std::int32_t>& slots, int first,
                            std::span<const std::int32_t> own,
                            std::span<const std::int32_t> offsets) {
    const std::vector<std::int32_t> positions = iota(30 - first, first);
    const std::vector<std::int32_t> last = {29 - first};
    ForwardBatch batch;
    batch.tokens = std::span(ids).subspan(static_cast<std::size_t>(first));
    batch.positions = positions;
    batch.slots = std::span(slots).subspan(static_cast<std::size_t>(first));
    batch.prefix_slots = std::span(slots).first(static_cast<std::size_t>(first));
    batch.own_slots = own;
    batch.own_offsets = offsets;
    batch.feature_layers = all;
    batch.feature_rows = last;
    return copy(model->forward(batch, kv).features);
  };
  const auto kv = model->make_kv(40);
  const std::vector<std::int32_t> order = iota(30);
  const std::vector<float> prefilled = features(*kv, order, 0, {}, {});
  REQUIRE(prefilled.size() == all.size() * 32);
  // The last four as a drafted chain, in slots that lie backwards.
  std::vector<std::int32_t> slots = order, own, offsets = {0};
  for (int i = 26; i < 30; ++i) slots[static_cast<std::size_t>(i)] = 39 - (i - 26);
  for (std::size_t i = 26; i < 30; ++i) {
    own.insert(own.end(), slots.begin() + 26, slots.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    offsets.push_back(static_cast<std::int32_t>(own.size()));
  }
  CHECK(same_bits(features(*kv, slots, 26, own, offsets), prefilled));
}

TEST_CASE("forward: what cannot be loaded says why") {
  const auto code_of = [](const std::string& path, const LoadOptions& options) {
    try {
      load_model(path, options);
    } catch (const Error& error) {
      CHECK(std::string(error.what()).size() > 20);
      return error.code();
    }
    return ErrorCode::kCancelled;
  };
  const TempDir folder;
  CHECK(code_of((folder.path() / "absent").string(), {}) == ErrorCode::kNotFound);
  CHECK(code_of(folder.path().string(), {}) == ErrorCode::kNotFound);
  std::ofstream(folder.path() / "text.gguf") << "hello, this is not a model at all";
  CHECK(code_of((folder.path() / "text.gguf").string(), {}) == ErrorCode::kCorruption);
  write_golden_case("llama", folder.path());
  LoadOptions options;
  options.device = "tpu";
  CHECK(code_of(folder.path().string(), options) == ErrorCode::kInvalidArgument);
  options.device = "cuda:x";
  CHECK(code_of(folder.path().string(), options) == ErrorCode::kInvalidArgument);
  options.device = "cuda:77";
  CHECK(code_of(folder.path().string(), options) == ErrorCode::kCuda);
  options = {};
  options.threads = -1;
  CHECK(code_of(folder.path().string(), options) == ErrorCode::kInvalidArgument);
  options = {};
  options.dtype = DType::kF16;
  CHECK(code_of(folder.path().string(), options) == ErrorCode::kNotSupported);
}

TEST_CASE("forward: BF16 weights go into bf16 memory as they are") {
  const auto cases = golden_families()["cases"];
  for (const char* name : {"llama", "phi3", "gpt2", "gemma4", "gemma4 experts", "lfm2"}) {
    CAPTURE(name);
    std::vector<float> logits[2];
    for (const bool wide : {false, true}) {
      const TempDir folder;
      write_golden_model(cases[name], folder.path(), /*bf16=*/true, wide);
      LoadOptions options;
      options.dtype = DType::kBF16;
      options.threads = 2;
      const auto model = load_model(folder.path().string(), options);
      CHECK(model->info().quantisation == (wide ? "F32" : "BF16"));
      const auto kv = model->make_kv(20);
      logits[wide ? 1 : 0] = all_logits(*model, *kv, iota(20, 3));
    }
    CHECK(same_bits(logits[0], logits[1]));
  }
}

TEST_CASE("forward: what is in a model is told without reading its weights") {
  const auto bytes_read = [] {
    std::ifstream file("/proc/self/io");
    std::string key;
    std::uint64_t value = 0;
    file >> key >> value;
    return key == "rchar:" ? value : 0;
  };
  if (bytes_read() == 0) TRIESCOPE_SKIP("/proc/self/io does not tell what was read");
  // A model of 256 MiB, most of it a hole in the file.
  const TempDir folder;
  auto entry = golden_families()["cases"]["llama"];
  entry["config"]["vocab_size"] = 1 << 20;
  std::ofstream(folder.path() / "config.json") << entry["config"].dump();
  nlohmann::json header = nlohmann::json::object();
  std::uint64_t at = 0;
  for (const auto& tensor : entry["tensors"]) {
    auto shape = tensor[1].get<std::vector<std::uint64_t>>();
    if (shape[0] == 64) shape[0] = 1 << 20;
    std::uint64_t size = sizeof(float);
    for (const std::uint64_t extent : shape) size *= extent;
    header[tensor[0].get<std::string>()] = {
        {"dtype", "F32"}, {"shape", shape}, {"data_offsets", {at, at + size}}};
    at += size;
  }
  write_weights(folder.path(), header, "");
  const auto weights = folder.path() / "model.safetensors";
  std::filesystem::resize_file(weights, std::filesystem::file_size(weights) + at);
  const std::uint64_t before = bytes_read();
  const ModelInfo info = inspect_model(folder.path().string());
  CHECK(info.file_bytes > 256 << 20);
  CHECK(bytes_read() - before < 1 << 20);
}

TEST_CASE("forward: fp16 warns where a family is not stable in it") {
  for (const char* name : {"gemma2", "gemma3", "qwen2", "llama", "phi3"}) {
    CAPTURE(name);
    const bool warns = std::string(name) != "llama" && std::string(name) != "phi3";
    // On the CPU libtorch's operations alone do fp16.
    const std::string warning =
        golden_model(name, {.dtype = DType::kF16, .reference_kernels = true})->info().warning;
    CHECK(warning.empty() == !warns);
    CHECK(golden_model(name, {.dtype = DType::kBF16})->info().warning.empty());
  }
}

TEST_CASE("forward: devices and versions can be asked for without a model") {
  const std::vector<DeviceInfo> devices = list_devices();
  REQUIRE(!devices.empty());
  CHECK(devices[0].id == "cpu");
  CHECK(devices[0].total_bytes > 0);
  CHECK(libtorch_version().find('.') != std::string::npos);
  CHECK(dtype_from_string("bf16") == DType::kBF16);
  CHECK_THROWS_AS(dtype_from_string("fp8"), Error);
}

// Rows that read a vector in a token's place and see a prefix beside their path: what they give, in both
// executors, in models with sliding windows, in every dtype of KV; and that no other row knows of them.
#include <doctest/doctest.h>

#include <cstring>

#include "core/base/error.h"
#include "tests/support/paths.h"
#include "tests/unit/model/mask_step.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test::test_masks {
namespace {

using Row = MaskRow;
using Batch = MaskRowsBatch;
using Step = MaskStep;
constexpr int kText = kMaskText, kPrefix = kMaskPrefix;

bool same(const std::vector<float>& a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

const char* const kModels[] = {"llama", "mistral", "gemma2", "gemma3", "gpt2", "phi3"};

TEST_CASE("masks: a row of the text has the same bits with masks beside it and without") {
  for (const char* name : kModels)
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      CAPTURE(name);
      CAPTURE(to_string(dtype));
      const auto model = golden_model(name, {.dtype = dtype});
      const Step step(*model);
      const auto all = step.run(*model);
      Batch alone;
      for (const Row& row : Step::candidates()) alone.add(row);
      const ForwardOutput output = model->forward(alone.batch(step.text, {}), *step.kv);
      for (int i = 0; i < 2; ++i)
        CHECK(same(all[static_cast<std::size_t>(i)], output.row(i).whole()));
    }
}

TEST_CASE("masks: a mask's row has the same bits whatever stands beside it") {
  for (const char* name : kModels) {
    CAPTURE(name);
    const auto model = golden_model(name);
    const Step step(*model);
    const auto all = step.run(*model);
    // The text's own group of masks alone, then each row as one forward.
    const std::vector<Row> masks = Step::mask_rows();
    for (std::size_t i = 0; i < masks.size(); ++i) {
      Batch one;
      one.add(masks[i]);
      const ForwardOutput output = model->forward(one.batch(step.text, step.masks(1)), *step.kv);
      CHECK(same(all[2 + i], output.row(0).whole()));
    }
  }
}

TEST_CASE(
    "masks: a mask that has a token's vector and no prefix is that token's row, bit for bit") {
  for (const bool reference : {false, true})
    for (const char* name : kModels) {
      CAPTURE(reference);
      CAPTURE(name);
      const auto model = golden_model(name, {.reference_kernels = reference});
      const Step step(*model);
      std::vector<float> rows(static_cast<std::size_t>(2 * model->info().hidden));
      const std::vector<std::int32_t> tokens = {7, 31};
      model->embed(tokens, rows);
      Batch masks, plain;
      for (int i = 0; i < 2; ++i) {
        Row row{i, kText + i, 60 + i, i == 0 ? std::vector<std::int32_t>{} : std::vector{60}};
        masks.add(row);
        row.token = tokens[static_cast<std::size_t>(i)];
        plain.add(row);
      }
      const ForwardOutput by_vector =
          model->forward(masks.batch(step.text, {.rows = 2, .embeddings = rows}), *step.kv);
      const std::vector<float> found(by_vector.logits.begin(), by_vector.logits.end());
      const ForwardOutput by_token = model->forward(plain.batch(step.text, {}), *step.kv);
      CHECK(same(found, by_token.logits));
    }
}

TEST_CASE(
    "masks: in a model with an embedding of every layer a mask has the context's part of it alone") {
  const std::vector<std::int32_t> text = mask_text(), order = iota(kText), tokens = {7};
  std::vector<std::vector<float>> found;
  for (const bool reference : {false, true}) {
    const auto model = golden_model("gemma4", {.reference_kernels = reference});
    const auto kv = model->make_kv(kText + 3);
    all_logits(*model, *kv, text);
    std::vector<float> vector(static_cast<std::size_t>(model->info().hidden));
    model->embed(tokens, vector);
    const auto logits_of = [&](bool mask) {
      Batch batch;
      batch.add({11, kText, kText, {}});
      batch.add({mask ? 0 : 7, kText + 1, kText + 1, {kText}});
      const MaskBatch masks = {.rows = 1, .embeddings = vector};
      const ForwardOutput output =
          model->forward(batch.batch(order, mask ? masks : MaskBatch{}), *kv);
      return std::vector<float>(output.logits.begin(), output.logits.end());
    };
    const std::vector<float> masked = logits_of(true), plain = logits_of(false);
    const auto half = static_cast<std::ptrdiff_t>(masked.size() / 2);
    if (!reference)
      CHECK(
          same({masked.begin(), masked.begin() + half}, std::span(plain).first(masked.size() / 2)));
    CHECK(max_difference(std::span(masked).last(masked.size() / 2),
                         std::span(plain).last(masked.size() / 2)) > 1e-2);
    found.push_back(masked);
  }
  CHECK(max_difference(found[0], found[1]) < 2e-4);
}

TEST_CASE("masks: our kernels and libtorch's operations give the same logits, the prefix matters") {
  for (const char* name : kModels) {
    CAPTURE(name);
    const auto own = golden_model(name), torch = golden_model(name, {.reference_kernels = true});
    const Step step(*own), other(*torch);
    const auto a = step.run(*own), b = other.run(*torch);
    for (std::size_t i = 0; i < a.size(); ++i) {
      CAPTURE(i);
      CHECK(max_difference(a[i], b[i]) < 2e-4);
    }
    Batch without;
    without.add(Step::mask_rows()[0]);
    MaskBatch masks = step.masks(1);
    masks.prefix_slots = {};
    const ForwardOutput output = own->forward(without.batch(step.text, masks), *step.kv);
    CHECK(max_difference(a[2], output.row(0).whole()) > 1e-2);
  }
}

TEST_CASE("masks: a window leaves out text, never the prefix") {
  // mistral has llama's weights and a window of 16 in every layer: the lists are cut by hand.
  for (const bool reference : {false, true}) {
    CAPTURE(reference);
    const auto windowed = golden_model("mistral", {.reference_kernels = reference});
    const auto plain = golden_model("llama", {.reference_kernels = reference});
    const Step step(*windowed), by_hand(*plain);
    // The text as the windowed model saw it.
    Batch text;
    const std::vector<std::int32_t> ids = mask_text();
    for (int i = 0; i < kText; ++i) {
      const int first = std::max(0, i - 15);
      text.add(
          {ids[static_cast<std::size_t>(i)], i, kPrefix + i, iota(i - first, kPrefix + first)});
    }
    plain->forward(text.batch({}, {}), *by_hand.kv);
    Batch cut;
    std::vector<Row> rows = Step::candidates();
    for (const Row& row : Step::mask_rows()) rows.push_back(row);
    for (Row row : rows) {
      std::vector<std::int32_t> seen = by_hand.text;
      seen.insert(seen.end(), row.own.begin(), row.own.end());
      seen.erase(seen.begin(), seen.end() - 15);
      row.own = seen;
      cut.add(row);
    }
    const ForwardOutput output = plain->forward(cut.batch({}, by_hand.masks(6)), *by_hand.kv);
    const auto found = step.run(*windowed);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      CHECK(max_difference(found[i], output.row(static_cast<int>(i)).whole()) < 1e-5);
    }
  }
}

TEST_CASE("masks: KV that is written goes where it belongs, moves and grows as other KV does") {
  for (const bool reference : {false, true}) {
    CAPTURE(reference);
    const auto model = golden_model("llama", {.reference_kernels = reference});
    Step step(*model);
    const auto expected = step.run(*model);
    step.kv->reserve(400);
    const std::vector<std::int32_t> elsewhere = {301, 300, 302};
    step.kv->move(step.prefix, elsewhere);
    Batch rows;
    rows.add(Step::mask_rows()[0]);
    MaskBatch masks = step.masks(1);
    masks.prefix_slots = elsewhere;
    const ForwardOutput output = model->forward(rows.batch(step.text, masks), *step.kv);
    // libtorch's product of one row adds up in another order.
    if (!reference) CHECK(same(expected[2], output.row(0).whole()));
    CHECK(max_difference(expected[2], output.row(0).whole()) < 1e-5);
    const std::vector<std::int32_t> outside = {4000, 1, 2};
    CHECK_THROWS_WITH_AS(step.kv->write(outside, step.keys, step.values),
                         ("KV write: expected slots from 0 to " +
                          std::to_string(step.kv->capacity() - 1) + ", found 4000")
                             .c_str(),
                         Error);
    CHECK_THROWS_AS(step.kv->write(step.prefix, std::span(step.keys).first(5), step.values), Error);
  }
}

TEST_CASE("masks: a batch that contradicts itself is refused and says how") {
  const auto model = golden_model("llama");
  const Step step(*model);
  Batch rows;
  for (const Row& row : Step::mask_rows()) rows.add(row);
  const auto refused = [&](MaskBatch masks, const std::string& what) {
    CHECK_THROWS_WITH_AS(model->forward(rows.batch(step.text, masks), *step.kv), what.c_str(),
                         Error);
  };
  refused(step.masks(7), "forward: expected at most 6 mask rows, found 7");
  MaskBatch masks = step.masks(6);
  masks.embeddings = std::span(step.embeddings).first(5);
  refused(masks, "forward: expected mask embeddings of 32 values each, found 5 values");
  masks.embeddings = std::span(step.embeddings).first(32);
  refused(masks, "forward: expected mask numbers from 0 to 0, found 1 at entry 1");
  masks = step.masks(6);
  const std::vector<std::int32_t> outside = {100};
  masks.prefix_slots = outside;
  refused(masks, "forward: expected slots of the masks' prefix from 0 to 99, found 100 at entry 0");
  ForwardBatch causal = rows.batch({}, step.masks(6));
  causal.own_offsets = {};
  CHECK_THROWS_WITH_AS(model->forward(causal, *step.kv),
                       "forward: expected mask rows to have lists of visible slots", Error);
}

}  // namespace
}  // namespace triescope::test::test_masks

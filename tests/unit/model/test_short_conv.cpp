// Convolutions in attention's place: a row takes the columns of its own path, wherever they lie, and nothing before
// the text's beginning.
#include <doctest/doctest.h>

#include "core/model/model.h"
#include "tests/support/paths.h"
#include "tests/unit/model/mask_step.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test::test_short_conv {
namespace {

// The last row's logits of a chain of tokens in these slots, each row in a forward of its own.
std::vector<float> in_steps(Model& model, KvStorage& kv, const std::vector<std::int32_t>& ids,
                            const std::vector<std::int32_t>& slots) {
  std::vector<float> last;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    TreeRows rows;
    rows.add({ids[i],
              static_cast<std::int32_t>(i),
              slots[i],
              {slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(i)}});
    const ForwardOutput output = model.forward(rows.batch({}), kv);
    last.assign(output.logits.begin(), output.logits.end());
  }
  return last;
}

}  // namespace

TEST_CASE("short convolution: a row in any slot sees its own path alone, from the first row on") {
  const std::vector<std::int32_t> ids = {5, 17, 60, 2, 33};
  for (const char* name : {"lfm2", "lfm2 biases, four taps", "lfm2_moe"})
    for (const bool reference : {false, true}) {
      CAPTURE(name);
      CAPTURE(reference);
      const auto model = golden_model(name, {.reference_kernels = reference});
      const auto kv = model->make_kv(6);
      // What an earlier text left in the slots counts for nothing.
      all_logits(*model, *kv, {50, 51, 52, 53, 54, 55});
      for (std::size_t length = 1; length <= ids.size(); ++length) {
        CAPTURE(length);
        const std::vector<std::int32_t> text(ids.begin(),
                                             ids.begin() + static_cast<std::ptrdiff_t>(length));
        const auto fresh = model->make_kv(6);
        const std::vector<float> all = all_logits(*model, *fresh, text);
        const std::vector<float> expected(all.end() - model->info().vocab_size, all.end());
        for (const std::vector<std::int32_t>& slots :
             {std::vector{0, 1, 2, 3, 4}, std::vector{4, 2, 5, 0, 3}})
          CHECK(max_difference(in_steps(*model, *kv, text, slots), expected) <=
                (reference ? 1e-5 : 0.0));
      }
    }
}

TEST_CASE("short convolution: a mask's row, and those before it, count as rows of tokens do") {
  const std::vector<std::int32_t> text = mask_text(), order = iota(kMaskText), tokens = {7, 31};
  for (const bool reference : {false, true}) {
    CAPTURE(reference);
    const auto model = golden_model("lfm2", {.reference_kernels = reference});
    const auto kv = model->make_kv(70);
    all_logits(*model, *kv, text);
    std::vector<float> vectors(static_cast<std::size_t>(2 * model->info().hidden));
    model->embed(tokens, vectors);
    const auto logits_of = [&](bool masks) {
      MaskRowsBatch batch;
      batch.add({11, kMaskText, kMaskText, {}});
      batch.add({masks ? 0 : 7, kMaskText + 1, 60, {kMaskText}});
      batch.add({masks ? 1 : 31, kMaskText + 2, 61, {kMaskText, 60}});
      const MaskBatch inputs = {.rows = 2, .embeddings = vectors};
      const ForwardOutput output =
          model->forward(batch.batch(order, masks ? inputs : MaskBatch{}), *kv);
      return std::vector<float>(output.logits.begin(), output.logits.end());
    };
    CHECK(logits_of(true) == logits_of(false));
  }
}

TEST_CASE("short convolution: a state kept in bf16 gives nearly the logits of one in fp32") {
  const std::vector<std::int32_t> ids = iota(30, 3);
  const TempDir folder;
  write_golden_case("lfm2", folder.path());
  const auto logits = [&](std::optional<DType> kv_dtype) {
    const auto model = load_model(folder.path().string(), {.kv_dtype = kv_dtype, .threads = 2});
    const auto kv = model->make_kv(30);
    CHECK(kv->bytes_per_slot() == (kv_dtype ? 2 : 4) * (3 * 32 + 2 * 2 * 8));
    return all_logits(*model, *kv, ids);
  };
  const double difference = max_difference(logits(DType::kBF16), logits({}));
  CHECK(difference > 0);
  CHECK(difference < 0.05);
}

}  // namespace triescope::test::test_short_conv

// Both executors against the plain transformer, with settings exaggerated one by one.
#include <doctest/doctest.h>

#include "core/model/model.h"
#include "tests/unit/model/executor_check.h"

namespace triescope::test {
namespace {

TEST_CASE(
    "executors: the CPU executor computes what plain loops compute, in every layer and every setting") {
  check_executor([](const std::filesystem::path& folder) {
    return load_model(folder.string(), {.threads = 2});
  });
}

TEST_CASE(
    "executors: libtorch's operations compute what plain loops compute, in every layer and setting") {
  check_executor([](const std::filesystem::path& folder) {
    return load_model(folder.string(), {.reference_kernels = true, .threads = 2});
  });
}

TEST_CASE(
    "executors: prefill in pieces with the text's length, or a token at a time, is a long text's") {
  // Rope "dynamic" by the length of the text: what the pieces of one prompt have in common.
  nlohmann::json entry = golden_families()["cases"]["llama rope dynamic, outgrown"];
  entry["config"]["max_position_embeddings"] = 20;
  const TempDir folder;
  write_golden_model(entry, folder.path());
  const PlainTransformer plain(folder.path().string());
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 30; ++i) ids.push_back((i * 29 + 7) % 64);
  for (const bool reference : {false, true}) {
    CAPTURE(reference);
    const auto model =
        load_model(folder.path().string(), {.reference_kernels = reference, .threads = 2});
    for (const int text_length : {30, 0}) {  // 0: every row as long as it is
      CAPTURE(text_length);
      const auto want = plain.run(ids, text_length).logits;
      for (const int piece : {30, 7, 1}) {
        CAPTURE(piece);
        const auto kv = model->make_kv(30);
        std::vector<float> logits;
        const std::vector<std::int32_t> order = iota(30);
        for (int first = 0; first < 30; first += piece) {
          const int count = std::min(piece, 30 - first);
          const auto part = [&](const std::vector<std::int32_t>& all) {
            return std::span(all).subspan(static_cast<std::size_t>(first),
                                          static_cast<std::size_t>(count));
          };
          const std::vector<std::int32_t> rows = iota(count);
          ForwardBatch batch;
          batch.tokens = part(ids);
          batch.positions = batch.slots = part(order);
          batch.prefix_slots = std::span(order).first(static_cast<std::size_t>(first));
          batch.logit_rows = rows;
          batch.text_length = text_length;
          const ForwardOutput output = model->forward(batch, *kv);
          logits.insert(logits.end(), output.logits.begin(), output.logits.end());
        }
        CHECK(distance(logits, want) <= 1e-5);
      }
    }
    CHECK(distance(all_logits(*model, *model->make_kv(30), ids), plain.run(ids, 0).logits) > 1e-3);
  }
}

}  // namespace
}  // namespace triescope::test

// Every family and rope kind against transformers, on tiny models whose weights the test writes
// itself.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/paths.h"
#include "tests/unit/model/model_test_util.h"

using namespace triescope;
using namespace triescope::test;

TEST_CASE("families: tiny models of every family have transformers' logits and hidden states") {
  const nlohmann::json golden = golden_families();
  const auto ids = golden["ids"].get<std::vector<std::int32_t>>();
  for (const bool reference : {false, true}) {
    for (const auto& [name, entry] : golden["cases"].items()) {
      const std::string label = name + (reference ? ", reference kernels" : ", own kernels");
      CAPTURE(label);
      const TempDir folder;
      write_golden_model(entry, folder.path());
      LoadOptions options;
      options.reference_kernels = reference;
      options.threads = 2;
      const auto model = load_model(folder.path().string(), options);
      const auto kv = model->make_kv(static_cast<int>(ids.size()));
      const std::vector<float> logits = all_logits(*model, *kv, ids);
      const double largest = golden_difference(entry, logits);
      CAPTURE(largest);
      CHECK(largest < 2e-4);
      CHECK(golden_feature_difference(golden, entry, *model) < 2e-4);
    }
  }
}

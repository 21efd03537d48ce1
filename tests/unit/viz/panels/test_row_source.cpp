#include <doctest/doctest.h>

#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/row_source.h"
#include "viz/panels/whole_memory.h"

namespace triescope::test::test_row_source {
namespace {

std::int64_t bytes_of(const std::string& model, Whose whose) {
  const auto opened = make_capture([&](Recorder& out) {
    RunInfo info = synthetic_info(3, "draft_model", "", "recycle");
    info.model_json = model;
    out.write({.run = info});
  });
  return viz::RowSource{whose}.kv_bytes_per_token(*opened->capture);
}

TEST_CASE("row source: a draft's bytes a token are its own, 0 where the run does not say them") {
  const std::string model = R"({"draft":{"kv_bytes_per_token":1536}})";
  CHECK(bytes_of(model, Whose::kTarget) == 46080);
  CHECK(bytes_of(model, Whose::kDraft) == 1536);
  CHECK(bytes_of(model, Whose::kHead) == 1536);
  for (const char* silent :
       {"", "no JSON", "[]", "{}", R"({"draft":5})", R"({"draft":{}})",
        R"({"draft":{"kv_bytes_per_token":"many"}})", R"({"draft":{"kv_bytes_per_token":null}})"}) {
    CAPTURE(silent);
    CHECK(bytes_of(silent, Whose::kDraft) == 0);
  }
}

TEST_CASE(
    "row source: weights are those of the model that it speaks of, 0 where the run does not say") {
  const auto opened = make_capture([&](Recorder& out) {
    RunInfo info = synthetic_info(3, "draft_model", "", "recycle");
    info.model_json =
        R"({"parameters":900,"file_bytes":1200,"draft":{"parameters":70,"file_bytes":"?"}})";
    out.write({.run = info});
  });
  const auto target = viz::RowSource{Whose::kTarget}.weights(*opened->capture);
  CHECK(target.file_bytes == 1200);
  CHECK(target.parameters == 900);
  for (const Whose whose : {Whose::kDraft, Whose::kHead}) {
    const auto draft = viz::RowSource{whose}.weights(*opened->capture);
    CHECK(draft.file_bytes == 0);
    CHECK(draft.parameters == 70);
  }
  const viz::Scene scene = scene_at(*opened->capture, 0);
  CHECK(viz::weights_text(scene) == "weights: target 1.20 KB");
}

}  // namespace
}  // namespace triescope::test::test_row_source

#include "core/files/draft_head/feature_layers.h"

#include <doctest/doctest.h>

#include <limits>

#include "core/base/error.h"
#include "core/files/draft_head/vocabulary_map.h"
#include "tests/support/refusal.h"

namespace test_feature_layers {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

using Ints = std::vector<int>;

FeatureLayers read(const Ints& stored, int target_layers, const Ints& chosen = {}) {
  return feature_layers(stored, chosen, 3, target_layers, "head");
}

std::string map_refusal(const std::vector<std::int64_t>& offsets,
                        const std::vector<std::int64_t>& mask = {}, int vocab = 10) {
  return refusal(ErrorCode::kCorruption,
                 [&] { check_vocabulary_map(offsets, mask, vocab, "head"); });
}

}  // namespace

TEST_CASE(
    "feature layers: a list that begins with 1 counts outputs, every other what enters a layer") {
  CHECK(read({1, 15, 28}, 32).entering == Ints{2, 16, 29});
  CHECK(read({1, 15, 28}, 32).convention == LayerConvention::kOutput);
  CHECK(read({1, 15, 28}, 0).entering == Ints{2, 16, 29});
  CHECK(read({1, 15, 31}, 32).entering == Ints{2, 16, 32});
  CHECK(read({2, 16, 29}, 32).entering == Ints{2, 16, 29});
  CHECK(read({2, 16, 29}, 32).convention == LayerConvention::kEntering);
  CHECK(read({24, 30, 36}, 36).entering == Ints{24, 30, 36});
  CHECK(read({0, 1, 2}, 32).entering == Ints{0, 1, 2});
}

TEST_CASE("feature layers: a list with the target's last id cannot count outputs") {
  CHECK(read({1, 15, 32}, 32).entering == Ints{1, 15, 32});
  CHECK(read({1, 15, 32}, 32).convention == LayerConvention::kEntering);
}

TEST_CASE("feature layers: without a list EAGLE's own layers are read, once the target is known") {
  CHECK(read({}, 32).entering == Ints{2, 16, 29});
  CHECK(read({}, 30).entering == Ints{2, 15, 27});
  CHECK(read({}, 32).convention == LayerConvention::kAbsent);
  CHECK(read({}, 0).entering.empty());
  CHECK(read({}, 0).convention == LayerConvention::kAbsent);
  CHECK(read({}, 3).entering == Ints{2, 1, 0});
  const std::string said = refusal(ErrorCode::kCorruption, [] { read({}, 2); });
  CHECK(
      said ==
      "head: the file names no layers, and EAGLE's own do not fit: expected 3 layers from 0 to 2 (the target's last), found 2, 1, -1; set the "
      "layers that the head was trained with (--set layers=...)");
}

TEST_CASE("feature layers: the user's list has the last word, entering") {
  CHECK(read({2, 16, 29}, 32, {1, 15, 28}).entering == Ints{1, 15, 28});
  CHECK(read({}, 32, {0, 16, 32}).convention == LayerConvention::kOverride);
  CHECK(refusal(ErrorCode::kInvalidArgument, [] {
          read({}, 32, {2, 16, 33});
        }).find("head: layers: expected 3 layers from 0 to 32") == 0);
  CHECK(refusal(ErrorCode::kInvalidArgument, [] {
          read({}, 32, {2, 16});
        }).find("found 2, 16;") != std::string::npos);
  CHECK(refusal(ErrorCode::kInvalidArgument, [] {
          read({}, 0, {2, 16, -1});
        }).find("expected 3 layers, found 2, 16, -1") != std::string::npos);
}

TEST_CASE("feature layers: a list that does not fit the target or fc is refused") {
  CHECK(refusal(ErrorCode::kCorruption, [] {
          read({2, 16, 33}, 32);
        }).find("from 0 to 32 (the target's last), found 2, 16, 33") != std::string::npos);
  CHECK(refusal(ErrorCode::kCorruption, [] {
          read({2, 16}, 32);
        }).find("expected 3 layers") != std::string::npos);
  CHECK(refusal(ErrorCode::kCorruption, [] {
          read({1, 16}, 32);
        }).find("expected 3 layers") != std::string::npos);
  CHECK(refusal(ErrorCode::kCorruption, [] {
          read({1, 16, 33}, 32);
        }).find("found 1, 16, 33") != std::string::npos);
}

TEST_CASE("feature layers: a draft vocabulary's map leads to distinct tokens of the target") {
  check_vocabulary_map(std::vector<std::int64_t>{0, 2, 7}, {}, 10, "head");
  check_vocabulary_map(std::vector<std::int64_t>{9, -1}, {}, 10, "head");
  CHECK(map_refusal({0, 2, 8}).find(
            "head: d2t[2]: expected an offset that leads to a token of 0 to 9, found 8") == 0);
  CHECK(map_refusal({0, -2}).find(
            "d2t[1]: expected an offset that leads to a token of 0 to 9, found -2") !=
        std::string::npos);
  CHECK(map_refusal({std::numeric_limits<std::int64_t>::max()}).find("d2t[0]") !=
        std::string::npos);
  CHECK(map_refusal({0, 0, std::numeric_limits<std::int64_t>::min()}).find("d2t[2]") !=
        std::string::npos);
  CHECK(map_refusal({3, 2}).find("d2t[1]: expected each token once, found token 3 again") !=
        std::string::npos);
  CHECK(map_refusal({0, 1}, {1, 1, 0, 1})
            .find("d2t[1]: expected a token that t2d allows, found token 2") != std::string::npos);
  CHECK(map_refusal({4}, {1, 1, 1, 1}).find("t2d allows, found token 4") != std::string::npos);
  check_vocabulary_map(std::vector<std::int64_t>{0, 2}, std::vector<std::int64_t>{1, 0, 0, 1}, 10,
                       "head");
}

TEST_CASE("feature layers: absolute ids become offsets") {
  CHECK(offsets_of_ids(std::vector<std::int64_t>{0, 5, 6}) == std::vector<std::int64_t>{0, 4, 4});
  CHECK(offsets_of_ids(std::vector<std::int64_t>{3, 0}) == std::vector<std::int64_t>{3, -1});
}

}  // namespace test_feature_layers

// The rows of the drafting table: how names are parsed, and which companion goes with which method.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "app/bench/bench_spec.h"
#include "app/bench/benchmarks.h"
#include "core/base/error.h"
#include "tests/support/refusal.h"

namespace triescope::app::test_bench_methods {
namespace {

DraftHead head_of(formats::HeadKind kind) {
  DraftHead head;
  head.config.kind = kind;
  return head;
}

std::vector<std::string> names_of(const std::vector<DraftBenchMethod>& rows) {
  std::vector<std::string> names;
  for (const DraftBenchMethod& row : rows)
    names.push_back(row.method + (row.companion.empty() ? "" : " " + row.companion));
  return names;
}

using Names = std::vector<std::string>;

TEST_CASE("bench methods: a row's name is a method and its parameters") {
  CHECK(bench_spec("greedy").method == "greedy");
  CHECK(bench_spec("greedy").settings == nlohmann::json::object());
  const BenchSpec spec = bench_spec("eagle2:draft_tokens=20:tree=0;0,1");
  CHECK(spec.method == "eagle2");
  CHECK(spec.settings == nlohmann::json{{"draft_tokens", "20"}, {"tree", "0;0,1"}});
  for (const char* bad : {"a:", "a:b", "a:=1", "a:b=", "a:b=1:"}) {
    CAPTURE(bad);
    const std::string message =
        test::refusal(ErrorCode::kInvalidArgument, [&] { bench_spec(bad); });
    CHECK(message.find("expected METHOD:parameter=value, found '") != std::string::npos);
  }
}

TEST_CASE(
    "bench methods: without a list the table has the methods that need nothing, and all that take a companion") {
  CHECK(names_of(bench_methods({}, {})) ==
        Names{"greedy", "ngram_trie", "ngram_trie:num_draft=32", "prompt_lookup"});
  DraftHead eagle = head_of(formats::HeadKind::kEagle);
  std::vector<BenchCompanion> companions(2);
  companions[0].name = "my-eagle";
  companions[0].draft.head = &eagle;
  companions[1].name = "small";
  CHECK(names_of(bench_methods({}, companions)) ==
        Names{"greedy", "ngram_trie", "ngram_trie:num_draft=32", "prompt_lookup",
              "draft_model small", "eagle my-eagle", "eagle2 my-eagle"});
}

TEST_CASE(
    "bench methods: a listed method is measured with every companion it takes, and refused without one") {
  DraftHead medusa = head_of(formats::HeadKind::kMedusa),
            other = head_of(formats::HeadKind::kMedusa);
  std::vector<BenchCompanion> companions(2);
  companions[0].name = "one";
  companions[0].draft.head = &medusa;
  companions[1].name = "two";
  companions[1].draft.head = &other;
  const auto rows = bench_methods({"medusa:draft_tokens=5", "lookahead"}, companions);
  CHECK(names_of(rows) ==
        Names{"greedy", "medusa:draft_tokens=5 one", "medusa:draft_tokens=5 two", "lookahead"});
  CHECK(rows[1].draft.head == &medusa);
  CHECK(rows[2].draft.head == &other);
  const auto refused = [&](const std::string& method) {
    return test::refusal(ErrorCode::kInvalidArgument, [&] { bench_methods({method}, companions); });
  };
  CHECK(refused("eagle3").find("expected a draft head that it takes, found none") !=
        std::string::npos);
  CHECK(refused("draft_model").find("expected a draft model that it takes") != std::string::npos);
  CHECK(refused("medusaa").find("did you mean medusa") != std::string::npos);
}

}  // namespace
}  // namespace triescope::app::test_bench_methods

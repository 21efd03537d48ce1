#include <doctest/doctest.h>

#include <set>

#include "app/bench/prompts.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/format_test_util.h"

namespace triescope::app::test_bench_prompts {
namespace {

struct PromptFile {
  test::TempDir folder;
  const std::string path = (folder.path() / "prompts.jsonl").string();

  std::vector<std::string> texts(const std::vector<std::string>& categories, int per_category) {
    std::vector<std::string> found;
    for (const BenchPrompt& prompt : read_bench_prompts(path, categories, per_category))
      found.push_back(prompt.text);
    return found;
  }
  std::string refusal(ErrorCode code, const std::vector<std::string>& categories = {}) {
    return test::refusal(code, [&] { read_bench_prompts(path, categories, 0); });
  }
};

using Texts = std::vector<std::string>;

TEST_CASE_FIXTURE(
    PromptFile, "bench prompts: prompts are taken by category, in the file's order, first turns") {
  test::write_file(path,
                   R"({"question_id": 81, "category": "rag", "turns": ["a", "not this"]}
{"question_id": 82, "category": "qa", "turns": ["b"]}

{"question_id": 83, "category": "rag", "turns": ["c"]}
{"prompt": "d"}
{"category": "rag", "prompt": "e"}
)");
  CHECK(texts({}, 0) == Texts{"a", "b", "c", "d", "e"});
  CHECK(texts({}, 1) == Texts{"a", "b", "d"});
  CHECK(texts({"rag"}, 0) == Texts{"a", "c", "e"});
  CHECK(texts({"rag"}, 2) == Texts{"a", "c"});
  CHECK(texts({"qa", "rag"}, 1) == Texts{"a", "b"});
  const auto prompts = read_bench_prompts(path, {}, 0);
  CHECK(prompts[0].id == 81);
  CHECK(prompts[0].category == "rag");
  CHECK(prompts[3].id == -1);
  CHECK(prompts[3].category == "all");
  CHECK(refusal(ErrorCode::kInvalidArgument, {"math", "code"}) ==
        path + ": no prompts of the categories math, code");
}

TEST_CASE_FIXTURE(PromptFile,
                  "bench prompts: a line that holds no prompt is refused by its number") {
  CHECK(refusal(ErrorCode::kNotFound).starts_with(path + ": cannot be read"));
  test::write_file(path, "");
  CHECK(refusal(ErrorCode::kInvalidArgument) == path + ": no prompts");
  for (const char* line : {"not json", "[]", R"({"turns": []})", R"({"turns": [1]})",
                           R"({"prompt": 3})", R"({"category": "rag"})"}) {
    CAPTURE(line);
    test::write_file(path, std::string("{\"prompt\": \"fine\"}\n\n") + line + "\n");
    const std::string why = refusal(ErrorCode::kCorruption);
    CHECK(why.starts_with(path + ":3: expected a JSON object"));
    CHECK(why.ends_with(std::string("found ") + line));
  }
}

TEST_CASE("bench prompts: the prompts of our own are of three categories") {
  std::multiset<std::string> categories;
  for (const BenchPrompt& prompt : builtin_bench_prompts()) {
    categories.insert(prompt.category);
    CHECK_FALSE(prompt.text.empty());
  }
  CHECK(categories == std::multiset<std::string>{"story", "story", "summarization", "rag", "rag"});
}

}  // namespace
}  // namespace triescope::app::test_bench_prompts

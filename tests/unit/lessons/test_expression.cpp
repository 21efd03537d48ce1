#include "lessons/expression.h"

#include <vector>

#include "tests/unit/lessons/lesson_run.h"

namespace test_expression {

using namespace triescope;
using namespace triescope::test;
using lessons::Expression;

TEST_CASE("expression: operators bind as in school, from left to right") {
  CHECK(number_of("2 + 3 * 4") == 14);
  CHECK(number_of("(2 + 3) * 4") == 20);
  CHECK(number_of("10 - 3 - 2") == 5);
  CHECK(number_of("24 / 4 / 2") == 3);
  CHECK(number_of("-2 * -3") == 6);
  CHECK(number_of("2 - -3") == 5);
  CHECK(number_of("1.25 + 0.75 * 0") == doctest::Approx(1.25));
}

TEST_CASE("expression: comparisons come after sums, not before and, and before or") {
  CHECK(truth_of("1 + 1 = 2"));
  CHECK(truth_of("1 + 1 == 2"));
  CHECK(truth_of("2 < 3 and 3 <= 3 and 4 > 3 and 3 >= 3 and 2 != 3"));
  CHECK_FALSE(truth_of("3 < 3"));
  CHECK_FALSE(truth_of("3 > 3"));
  CHECK(truth_of("true or false and false"));
  CHECK_FALSE(truth_of("(true or false) and false"));
  CHECK(truth_of("not false and true"));
  CHECK(truth_of("not (1 = 2)"));
  CHECK(truth_of("not not true"));
}

TEST_CASE("expression: numbers a rounding apart are the same, neither less nor more") {
  CHECK(truth_of("0.1 + 0.2 = 0.3"));
  CHECK_FALSE(truth_of("0.1 + 0.2 > 0.3"));
  CHECK_FALSE(truth_of("0.3 < 0.1 + 0.2"));
  CHECK(truth_of("0.1 + 0.2 <= 0.3"));
  CHECK(truth_of("0.3 >= 0.1 + 0.2"));
  CHECK_FALSE(truth_of("1 = 1.000001"));
}

TEST_CASE("expression: texts stand in either quotes and compare as bytes") {
  CHECK(text_of("\"it's\"") == "it's");
  CHECK(text_of("'say \"x\"'") == "say \"x\"");
  CHECK(truth_of("' the' = \" the\""));
  CHECK(truth_of("' the' != 'the'"));
}

TEST_CASE("expression: what is wrong is said with its column") {
  CHECK(refused("") == "column 1: expected a number, a text, a name or '('; found the end");
  CHECK(refused("1 +") == "column 4: expected a number, a text, a name or '('; found the end");
  CHECK(refused("1 2") == "column 3: expected the end or an operator; found '2'");
  CHECK(refused("(1") == "column 3: expected ')'; found the end");
  CHECK(refused("1 ? 2") ==
        "column 3: expected a number, a text in quotes, a name or an operator; found '?'");
  CHECK(refused("'open") == "column 1: expected a closing '; found the end");
  CHECK(refused("p(1") == "column 4: expected ',' or ')'; found the end");
  CHECK(refused("acepted(1)") ==
        "column 1: 'acepted' is not a name of expressions; did you mean accepted?; "
        "docs/lessons.md lists them");
  CHECK(refused("2 * p()") == "column 7: expected a number, a text, a name or '('; found ')'");
  CHECK(refused("sees(1)") == "column 1: expected sees(NODE, NODE); found 1 argument");
  CHECK(refused("accepted(1, 2)") == "column 1: expected accepted(STEP); found 2 arguments");
}

TEST_CASE("expression: values of the wrong kind are refused where they stand") {
  CHECK(refused("1 + true") == "column 3: expected a number; found true or false");
  CHECK(refused("1 and true") == "column 3: expected true or false; found a number");
  CHECK(refused("'a' < 'b'") == "column 5: expected a number; found a text");
  CHECK(refused("1 = 'a'") == "column 3: cannot compare a number with a text");
  CHECK(refused("1 / (2 - 2)") == "column 3: division by zero");
  CHECK(refused("-'a'") == "column 1: expected a number; found a text");
}

TEST_CASE("expression: length and nesting are limited") {
  const std::string deep(39, '(');
  CHECK(number_of(deep + "7" + std::string(39, ')')) == 7);
  CHECK(refused(std::string(40, '(') + "7" + std::string(40, ')')) ==
        "column 41: nested more than 40 deep; split it up");
  CHECK(refused(std::string(60, '-') + "7").find("nested more than 40 deep") != std::string::npos);
  const std::string longest(499, ' ');
  CHECK(number_of(longest + "7") == 7);
  CHECK(refused(longest + " 7") == "column 501: an expression has at most 500 bytes; found 501");
}

TEST_CASE("expression: names of single values are those that are given, and no others") {
  const std::vector<std::string> columns = {"speedup", "category"};
  const lessons::Names names = {
      .of_run = false, .variables = columns, .kind = "a column", .listed = "see the table"};
  const lessons::Variables row = [](const std::string& name) -> lessons::Value {
    if (name == "speedup") return 1.5;
    return std::string("rag");
  };
  const auto holds = [&](const std::string& text) {
    return evaluate_truth(Expression::parse(text, names), row);
  };
  CHECK(holds("speedup > 1 and category = 'rag'"));
  CHECK_FALSE(holds("speedup > 1 and category != 'rag'"));
  CHECK(holds("max(speedup, 2) = 2 and round(speedup) = 2"));
  const auto said = [&](const std::string& text) {
    return refusal(ErrorCode::kCorruption, [&] { Expression::parse(text, names); });
  };
  CHECK(said("speedip > 1") ==
        "column 1: 'speedip' is not a column; did you mean speedup?; see the table");
  CHECK(said("1 < accepted(1)") == "column 5: 'accepted' is not a column; see the table");
  CHECK(said("beam = 1") == "column 1: 'beam' is not a column; see the table");
  CHECK(said("best = 1") == "column 1: 'best' is not a column; see the table");
}

TEST_CASE("expression: a run's names and those of single values go together") {
  const std::vector<std::string> variables = {"step"};
  const lessons::Trace run{drafted_run()};
  int fulfilled = 0;
  for (int step = 0; step <= drafted_run().last_step(); ++step)
    fulfilled += evaluate_truth(
        Expression::parse("accepted(step) >= 1 and step > 0", {.variables = variables}), run,
        [&](const std::string&) { return lessons::Value(static_cast<double>(step)); });
  int counted = 0;
  for (const capture::StepRow& row : drafted_run().steps())
    counted += row.accepted >= 1 && row.step > 0;
  CHECK(counted > 0);
  CHECK(fulfilled == counted);
}

TEST_CASE("expression: a text holds another, and names with a text stand for one value each") {
  const std::vector<std::string> names = {"token"}, keyed = {"metric"};
  const lessons::Names known = {.of_run = false, .variables = names, .keyed = keyed};
  const lessons::Variables row = [](const std::string& name) -> lessons::Value {
    if (name == "metric:acceptance length") return 2.5;
    return std::string(" the");
  };
  const auto holds = [&](const std::string& text) {
    return evaluate_truth(Expression::parse(text, known), row);
  };
  CHECK(holds("token holds 'he'"));
  CHECK(holds("token holds token"));
  CHECK_FALSE(holds("not (token holds 'e') or token holds 'x'"));
  CHECK(holds("metric(\"acceptance length\") > 2 and token = ' the'"));
  const auto said = [&](const std::string& text) {
    return refusal(ErrorCode::kCorruption, [&] { holds(text); });
  };
  CHECK(said("token holds 3") == "column 7: cannot compare a text with a number");
  CHECK(said("3 holds 3") == "column 3: expected a text; found a number");
  CHECK(said("metric(token) > 2") == "column 1: expected metric(\"NAME\"), a name in quotes");
  CHECK(said("metric(\"a\", \"b\") > 2") ==
        "column 1: expected metric(\"NAME\"); found 2 arguments");
  CHECK(said("token(3) = 'x'") == "column 1: 'token' stands alone here, without brackets");
  CHECK(said("metrik(\"a\") > 2").find("did you mean metric?") != std::string::npos);
}

}  // namespace test_expression

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/method/parameters_of.h"
#include "core/methods/registry.h"

namespace triescope {
namespace {

using nlohmann::json;

json beam(const json& given) { return validate_settings(find_method("beam"), given); }

std::string refusal(const std::string& method, const json& given) {
  try {
    validate_settings(find_method(method), given);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "(accepted)";
}

TEST_CASE("settings: defaults stand where nothing is given") {
  const json s = beam(json::object());
  CHECK(s["num_beams"] == 3);
  CHECK(s["early_stopping"] == "false");
  CHECK(s["kv"] == "recycle");
  CHECK(s["gc_every"] == 15);
  CHECK(s["eos_token_id"] == json::array());
  CHECK(s["candidates"] == 16);
  CHECK(beam(nullptr) == s);
}

TEST_CASE("settings: texts are read as what they stand for") {
  const json s = beam({{"num_beams", "7"},
                       {"length_penalty", " -0.5 "},
                       {"early_stopping", true},
                       {"eos_token_id", "1, 2,3"},
                       {"kv", "compact"}});
  CHECK(s["num_beams"] == 7);
  CHECK(s["length_penalty"] == -0.5);
  CHECK(s["early_stopping"] == "true");
  CHECK(s["eos_token_id"] == json::array({1, 2, 3}));
  CHECK(beam({{"eos_token_id", 9}})["eos_token_id"] == json::array({9}));
  CHECK(beam({{"eos_token_id", "[4,5]"}})["eos_token_id"] == json::array({4, 5}));
  CHECK(beam({{"num_beams", 4.0}})["num_beams"] == 4);
}

TEST_CASE("settings: a refusal names the parameter, what was found and what is allowed") {
  CHECK(refusal("beam", {{"num_beams", 0}}) ==
        "num_beams: expected an integer from 1 to 256; found 0");
  CHECK(refusal("beam", {{"num_beams", "three"}}) ==
        "num_beams: expected an integer from 1 to 256; found \"three\"");
  CHECK(refusal("beam", {{"num_beams", 2.5}}) ==
        "num_beams: expected an integer from 1 to 256; found 2.5");
  CHECK(refusal("beam", {{"num_beams", "3x"}}) ==
        "num_beams: expected an integer from 1 to 256; found \"3x\"");
  CHECK(refusal("beam", {{"num_beams", ""}}) ==
        "num_beams: expected an integer from 1 to 256; found \"\"");
  CHECK(refusal("beam", {{"length_penalty", "nan"}}) ==
        "length_penalty: expected a number from -10 to 10; found \"nan\"");
  CHECK(refusal("beam", {{"early_stopping", "maybe"}}) ==
        "early_stopping: expected one of true, false, never; found \"maybe\"");
  CHECK(refusal("beam", {{"eos_token_id", "1,x"}})
            .starts_with("eos_token_id: expected comma-separated integers"));
  CHECK(refusal("greedy", {{"num_beams", 2}})
            .starts_with("settings: method greedy has no parameter \"num_beams\"; it has "));
  CHECK(refusal("beam", json::array()).starts_with("settings: expected name=value pairs"));
}

TEST_CASE("settings: bytes that are not UTF-8 are refused like any other") {
  for (const char* name : {"num_beams", "early_stopping", "eos_token_id", "kv", "length_penalty"}) {
    CAPTURE(name);
    CHECK(refusal("beam", {{name, "\xff\xfe"}}).find(name) != std::string::npos);
  }
  CHECK(refusal("beam", "\xff").find("JSON object") != std::string::npos);
}

TEST_CASE("settings: kv policies are those the method can do") {
  CHECK(validate_settings(find_method("batch_beam"), {})["kv"] == "batch");
  CHECK(refusal("batch_beam", {{"kv", "recycle"}}) ==
        "kv: expected one of batch; found \"recycle\"");
  CHECK(refusal("ngram_trie", {{"kv", "batch"}})
            .starts_with("kv: expected one of recycle, compact, keep;"));
}

TEST_CASE("methods: names and parameter names are distinct, defaults pass their own checks") {
  std::set<std::string> names;
  for (const MethodInfo& method : methods()) {
    CAPTURE(method.name);
    CHECK(names.insert(method.name).second);
    CHECK_FALSE(method.title.empty());
    CHECK_FALSE(method.summary.empty());
    CHECK_FALSE(method.kv_policies.empty());
    CHECK(static_cast<bool>(method.make));
    std::set<std::string> parameters;
    for (const Parameter& p : method.parameters) {
      CHECK(parameters.insert(p.name).second);
      CHECK_FALSE(p.help.empty());
    }
    for (const Parameter& p : common_parameters()) CHECK(parameters.insert(p.name).second);
    const json settings = validate_settings(method, {});
    CHECK(validate_settings(method, settings) == settings);
  }
}

// "Beams", "Top-k": words for people, never the machine's name.
bool is_title(const std::string& title) {
  return !title.empty() && title.size() <= 22 &&
         std::isupper(static_cast<unsigned char>(title[0])) &&
         title.find('_') == std::string::npos && title.back() != '.';
}

// Its first sentence stands by itself.
bool is_help(const std::string& help) {
  const std::size_t end = help.find_first_of(".;:");
  return !help.empty() && std::isupper(static_cast<unsigned char>(help[0])) && help.back() == '.' &&
         end != std::string::npos && std::ranges::count(help.substr(0, end), ' ') >= 2;
}

TEST_CASE("settings: every parameter of every method has a title and a sentence") {
  for (const MethodInfo& method : methods()) {
    CAPTURE(method.name);
    std::set<std::string> titles;
    for (const Parameter& p : parameters_of(method)) {
      CAPTURE(p.name);
      CAPTURE(p.help);
      CHECK(is_title(p.title));
      CHECK(is_help(p.help));
      CHECK(titles.insert(p.title).second);  // told apart in the run bar
    }
  }
  CHECK_FALSE(is_title("num_beams"));
  CHECK_FALSE(is_help("verify=top_k: a draft passes where it is among the K best."));
  CHECK_FALSE(is_help("Longest draft."));
}

// "0 = off.", "0 and 1 = off.", "0: as many as pay": the help says that 0 stands for something else.
bool gives_zero_a_meaning(const std::string& help) {
  return std::regex_search(help, std::regex("\\b0( and 1)?( =|:) "));
}

bool gives_nothing_a_meaning(const std::string& help) {
  return std::regex_search(help, std::regex("\\bEmpty( =|:) "));
}

TEST_CASE(
    "settings: a value that stands for something else than itself has a word, in every method") {
  for (const MethodInfo& method : methods()) {
    CAPTURE(method.name);
    for (const Parameter& p : parameters_of(method)) {
      CAPTURE(p.name);
      CAPTURE(p.help);
      if (p.kind == ParameterKind::kInteger || p.kind == ParameterKind::kNumber) {
        CHECK(gives_zero_a_meaning(p.help) == !p.zero_is.empty());
        CHECK(word_of(p, 0) == p.zero_is);
        CHECK(word_of(p, 1) == "");
        // The word can be given in place of the number.
        if (!p.zero_is.empty()) CHECK(read_setting(p, p.zero_is) == 0);
      } else if (p.kind == ParameterKind::kText || p.kind == ParameterKind::kIntegerList) {
        CHECK(gives_nothing_a_meaning(p.help) == !p.empty_is.empty());
        CHECK(word_of(p, p.default_value) == p.empty_is);
      } else {
        CHECK(word_of(p, p.default_value) == "");
      }
    }
  }
  CHECK(gives_zero_a_meaning("0: off.") == true);
  CHECK(gives_zero_a_meaning("Depth 10 = deep.") == false);
  CHECK(word_of(number("n", "Number", 0, 0, 1, "h"), 0.0) == "");
  CHECK(word_of(zero_is("off", number("n", "Number", 0, 0, 1, "h")), 0.0) == "off");
  CHECK(word_of(zero_is("off", number("n", "Number", 0, 0, 1, "h")), 0.5) == "");
  CHECK(word_of(empty_is("none", text("t", "Text", "", "h")), "a") == "");
}

TEST_CASE("settings: a parameter's maker keeps every word it is given in its own place") {
  const Parameter whole = integer("num_beams", "Beams", 3, 1, 256, "Texts kept alive.");
  CHECK(whole.name == "num_beams");
  CHECK(whole.title == "Beams");
  CHECK(whole.help == "Texts kept alive.");
  CHECK(number("n", "Number", 0.5, 0, 1, "h").title == "Number");
  CHECK(boolean("b", "Switch", true, "h").title == "Switch");
  const Parameter one = choice("c", "Choice", "a", {"a", "b"}, "h");
  CHECK(one.title == "Choice");
  CHECK(one.default_value == "a");
  const Parameter words = text("t", "Text", "none", "h");
  CHECK(words.title == "Text");
  CHECK(words.default_value == "none");
  CHECK(integer_list("l", "List", 0, 9, "h").title == "List");
}

TEST_CASE("methods: an unknown name lists the known ones") {
  try {
    find_method("bean");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);  // a usage error: exit code 2
    const std::string message = error.what();
    CHECK(message.starts_with("method: expected one of beam, batch_beam, greedy"));
    CHECK(message.ends_with("; found \"bean\"; did you mean beam?"));
  }
}

TEST_CASE("settings: ranges include both ends, and nothing beyond them") {
  for (const MethodInfo& method : methods()) {
    std::vector<Parameter> parameters = method.parameters;
    for (const Parameter& p : common_parameters()) parameters.push_back(p);
    for (const Parameter& p : parameters) {
      CAPTURE(method.name);
      CAPTURE(p.name);
      const bool whole = p.kind == ParameterKind::kInteger || p.kind == ParameterKind::kIntegerList;
      if (!whole && p.kind != ParameterKind::kNumber) continue;
      const auto value = [&](double x) -> json {
        if (!whole) return x;
        const json one = static_cast<std::int64_t>(x);
        return p.kind == ParameterKind::kInteger ? one : json::array({one});
      };
      const double by = whole ? 1 : 1e-9;
      for (const double end : {p.minimum, p.maximum}) {
        const double beyond = end == p.minimum ? end - by : end + by;
        CHECK(validate_settings(method, {{p.name, value(end)}})[p.name] == value(end));
        CHECK_THROWS_AS(validate_settings(method, {{p.name, value(beyond)}}), Error);
      }
    }
  }
}

TEST_CASE("settings: a value is read with its own type; a name that is not there is an error") {
  const Settings settings(json{{"whole", 3},
                               {"part", 0.5},
                               {"yes", true},
                               {"word", "greedy"},
                               {"list", {4, 5}},
                               {"nothing", nullptr}});
  CHECK(settings.integer("whole") == 3);
  CHECK(settings.number("part") == 0.5);
  CHECK(settings.number("whole") == 3);
  CHECK(settings.boolean("yes"));
  CHECK(settings.text("word") == "greedy");
  CHECK(settings.integers("list") == std::vector<std::int32_t>{4, 5});
  CHECK(settings.value("list") == json::array({4, 5}));
  CHECK(settings.has("whole"));
  CHECK_FALSE(settings.has("nothing"));
  CHECK_FALSE(settings.has("missing"));
  CHECK(settings.integer_or("whole", 9) == 3);
  CHECK(settings.integer_or("missing", 9) == 9);
  CHECK(settings.integer_or("nothing", 9) == 9);
  CHECK(settings.number_or("part", 9) == 0.5);
  CHECK(settings.number_or("missing", 9) == 9);
  const auto error = [](auto&& read) -> std::string {
    try {
      read();
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::kInvalidArgument);
      return e.what();
    }
    return "(read)";
  };
  CHECK(error([&] { (void)settings.integer("missing"); }).find("\"missing\"") != std::string::npos);
  CHECK(error([&] { (void)settings.integer("word"); }) ==
        "word: expected another type; found \"greedy\"");
  CHECK(error([&] { (void)settings.text("whole"); }).starts_with("whole: expected another type"));
  CHECK(error([&] { (void)settings.boolean("whole"); }).starts_with("whole: "));
  CHECK(error([&] { (void)settings.number("word"); }).starts_with("word: "));
  CHECK(error([&] { (void)settings.integers("whole"); }).starts_with("whole: "));
  Settings changed = settings;
  changed.set("whole", 4);
  changed.set("new", "x");
  CHECK(changed.integer("whole") == 4);
  CHECK(changed.text("new") == "x");
  CHECK(settings.integer("whole") == 3);
}

}  // namespace
}  // namespace triescope

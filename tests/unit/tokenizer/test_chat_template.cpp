#include <doctest/doctest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "core/base/error.h"
#include "core/tokenizer/chat_template.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace triescope::tokenizer {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

// Made by tests/golden/chat_templates.py with transformers.
const nlohmann::json& golden() {
  static const nlohmann::json kGolden = nlohmann::json::parse(
      test::read_file(test::source_dir() / "tests/golden/chat_templates.json"));
  return kGolden;
}

Texts texts() {
  Texts result;
  for (const auto& [name, text] : golden()["texts"].items()) result.emplace_back(name, text);
  return result;
}

std::vector<ChatMessage> conversation(std::size_t index) {
  std::vector<ChatMessage> messages;
  for (const auto& message : golden()["conversations"][index])
    messages.push_back({message["role"], message["content"]});
  return messages;
}

// What came of it: the text, or the error.
struct Outcome {
  std::string text;
  std::optional<ErrorCode> code;
};

Outcome outcome(const std::string& source, const std::vector<ChatMessage>& messages,
                bool generation) {
  try {
    return {ChatTemplate(source, "test").render(messages, generation, texts()), std::nullopt};
  } catch (const Error& error) {
    return {error.what(), error.code()};
  }
}

Outcome outcome(const std::string& source) { return outcome(source, {{"user", "Hi"}}, true); }

TEST_CASE("Models' chat templates render as transformers renders them") {
  for (const auto& model : golden()["templates"]) {
    const std::string name = model["name"];
    const std::string source =
        test::read_file(test::source_dir() / "tests/golden/chat_templates" / (name + ".jinja"));
    for (std::size_t i = 0; i < model["results"].size(); ++i)
      for (const bool generation : {false, true}) {
        CAPTURE(name);
        CAPTURE(i);
        CAPTURE(generation);
        const auto& expected = model["results"][i][generation ? 1 : 0];
        const Outcome got = outcome(source, conversation(i), generation);
        CAPTURE(got.text);
        if (expected.contains("text")) {
          CHECK_FALSE(got.code);
          CHECK(got.text == expected["text"].get<std::string>());
        } else {
          CHECK(got.code);
        }
      }
  }
}

TEST_CASE("Pieces of Jinja render as in Jinja, or are refused") {
  int refused = 0;
  for (const auto& piece : golden()["snippets"]) {
    const std::string source = piece["source"];
    CAPTURE(source);
    const Outcome got = outcome(source, conversation(2), true);
    CAPTURE(got.text);
    if (piece.contains("text")) {
      // Refused is allowed (we do a subset), rendered differently is not.
      if (got.code) {
        CHECK(*got.code == ErrorCode::kNotSupported);
        CHECK(got.text.find("line ") != std::string::npos);
        ++refused;
      } else {
        CHECK(got.text == piece["text"].get<std::string>());
      }
    } else {
      CHECK(got.code);
    }
  }
  // What we do not do, of what the script lists: rare filters, recursive loops, call blocks.
  CHECK(refused <= 30);
}

TEST_CASE("A template that never ends, or nests without end, is refused") {
  std::string deep_blocks, deep_parentheses, deep_not;
  for (int i = 0; i < 100'000; ++i) {
    deep_blocks += "{% if true %}";
    deep_parentheses += "(";
    deep_not += "not ";
  }
  const std::string limits[] = {
      "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
      "{% set a = range(100000000000) %}",
      "{% set ns = namespace(t='xxxxxxxxxxxxxxxx') %}{% for i in range(100) %}"
      "{% set ns.t = ns.t ~ ns.t %}{% endfor %}",
      "{% set ns = namespace(t=[1]) %}{% for i in range(100) %}{% set ns.t = ns.t + ns.t %}"
      "{% endfor %}",
      "{{ 'aaaaaaaaaaaaaaaa' * 100000000000 }}",
      "{% set ns = namespace(t='aaaa') %}{% for i in range(100) %}"
      "{% set ns.t = ns.t.replace('a', ns.t) %}{% endfor %}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{% macro f(n) %}{{ f(n + 1) }}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
      "{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}",
      "{% set ns = namespace() %}{% set ns.me = ns %}{{ ns | tojson }}",
      "{% set ns = namespace() %}{% set ns.me = ns %}{{ ns == {'me': ns} }}",
      "{% set ns = namespace() %}{% set ns.a = [] %}{% for i in range(100000) %}"
      "{% set ns.a = [ns.a] %}{% endfor %}{{ ns.a }}",
      deep_blocks,
      "{{ " + deep_parentheses + " }}",
      "{{ " + deep_not + "1 }}",
      "{{ 1" + std::string(500'000, '+') + "1 }}",
      "{{ " + std::string(500'000, '-') + "1 }}",
      "{{ " + std::string(500'000, '[') + " }}",
      std::string(2u << 20, 'x'),
  };
  for (const std::string& source : limits) {
    CAPTURE(source.substr(0, 100));
    const Outcome got = outcome(source);
    CHECK(got.code == ErrorCode::kNotSupported);
  }
}

TEST_CASE("A template cannot fill the memory: what it copies and makes on the way counts too") {
  const auto repeated = [](const std::string& piece, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += piece;
    return all;
  };
  const std::string big = "{% set x = 'a' * 16000000 %}";
  // Without a limit each of these would take gigabytes.
  const std::string sources[] = {
      "{{ range(100000) | list | tojson(indent=10000) }}",
      "{{ range(100000) | list | tojson(separators=['a' * 1000000, ':']) }}",
      big + "{{ range(100000) | map('string') | map('replace', '', x) | list | length }}",
      big + "{{ range(90000) | map('string') | map('replace', '0', x) | list | length }}",
      big + "{{ x.split('a') | length }}",
      big + "{% set l = [x, x, x] %}" + repeated("{% for a in l %}", 150) +
          repeated("{% endfor %}", 150),
      big +
          "{% macro f(n, t) %}{% set q = t %}{% if n %}{{ f(n - 1, t) }}{% endif %}{% endmacro %}"
          "{{ f(90, x) }}",
      repeated("{% set y %}{% for i in range(32) %}" + repeated("k", 5000) +
                   "{{ 'k' * 500000 }}{% endfor %}",
               90) +
          repeated("{% endset %}", 90),
  };
  for (const std::string& source : sources) {
    CAPTURE(source.substr(0, 120));
    CHECK(outcome(source).code == ErrorCode::kNotSupported);
  }
#ifndef __SANITIZE_ADDRESS__  // which keeps what was freed
  rusage usage{};
  REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
  CHECK(usage.ru_maxrss < 700'000);  // KiB
#endif
}

TEST_CASE("Long chains of one operator neither overflow the stack nor are slow") {
  std::string sum = "{{ 1", filters = "{{ 'a'", members = "{{ messages", elifs = "{% if 0 %}";
  for (int i = 0; i < 40'000; ++i) {
    sum += " + 1";
    filters += " | upper";
    members += "[0:]";
    elifs += "{% elif 0 %}";
  }
  for (const std::string& source :
       {sum + " }}", filters + " }}", members + " }}", elifs + "{% endif %}"}) {
    CAPTURE(source.substr(0, 40));
    const Outcome got = outcome(source);
    CHECK((!got.code || got.code == ErrorCode::kNotSupported));
  }
}

TEST_CASE("What a template may not use is named with its line") {
  const std::pair<std::string, std::string> cases[] = {
      {"a\nb\n{% include 'x' %}", "line 3: the statement 'include'"},
      {"{{ 1 }}\n{{ 'a' | nosuch }}", "line 2: the filter 'nosuch'"},
      {"\n\n\n{% if messages is nosuch %}{% endif %}", "line 4: the test 'nosuch'"},
      {"{% set a = [\n1,\n2] %}\n{{ a.pop() }}", "line 4: the method 'pop' of a list"},
      {"x\n{{ nothing.more }}", "line 2: 'more' of something undefined"},
      {"x\n{{ messages\n  [0] $ }}", "line 3: the character '$'"},
      // These arguments have no names in jinja2.
      {"{{ messages|selectattr(attribute='role')|list }}", "without its argument 'attribute'"},
      {"{{ messages|map(name='upper')|list }}", "without its argument 'name'"},
  };
  for (const auto& [source, words] : cases) {
    const Outcome got = outcome(source);
    CAPTURE(got.text);
    CHECK(got.code == ErrorCode::kNotSupported);
    CHECK(got.text.find(words) != std::string::npos);
  }
}

TEST_CASE("A template's own refusal is the caller's error, in the template's words") {
  const Outcome got = outcome("{{ raise_exception('Roles must alternate: ' ~ messages[0].role) }}");
  CHECK(got.code == ErrorCode::kInvalidArgument);
  CHECK(got.text.find("Roles must alternate: user") != std::string::npos);
}

TEST_CASE("One template renders in many threads and its calls leave no trace in the next") {
  const ChatTemplate shared(
      "{% set ns = namespace(n=0) %}{% for m in messages %}"
      "{% set ns.n = ns.n + 1 %}{{ m.content }}{{ ns.n }}{% endfor %}",
      "test");
  std::vector<std::thread> threads;
  std::vector<std::string> results(4);
  for (std::string& result : results)
    threads.emplace_back([&] {
      const std::vector<ChatMessage> messages = {{"user", "a"}, {"assistant", "b"}};
      for (int i = 0; i < 50; ++i) result = shared.render(messages, true, {});
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) CHECK(result == "a1b2");
}

}  // namespace
}  // namespace triescope::tokenizer

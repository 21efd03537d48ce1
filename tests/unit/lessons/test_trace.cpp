#include "lessons/trace.h"

#include <filesystem>
#include <set>

#include "tests/unit/lessons/lesson_run.h"

namespace test_trace {

using namespace triescope;
using namespace triescope::test;

TEST_CASE("trace: what the run is") {
  CHECK(number_of("steps") == 11);
  CHECK(number_of("prompt_tokens") == 13);
  CHECK(text_of("prompt_token(1)") == "<|start_story|>");
  CHECK(text_of("prompt_token(13)") == "dog");
  CHECK(number_of("max_new_tokens") == 12);
  CHECK(number_of("kv_bytes") == 1024);
  CHECK(number_of("vocabulary") == 2048);
  CHECK(number_of("layers") == 2);
  CHECK(number_of("nodes") == 36);
  CHECK(number_of("setting('num_beams')") == 3);
  CHECK(text_of("setting('kv')") == "recycle");
  CHECK(refused("setting('beams')") == "column 1: the run's method has no setting 'beams'");
  CHECK(refused("prompt_token(0)") == "column 1: the prompt has tokens 1 to 13; found 0");
  CHECK(refused("prompt_token(14)") == "column 1: the prompt has tokens 1 to 13; found 14");
}

TEST_CASE("trace: figures of a step") {
  CHECK(number_of("rows(0)") == 13);
  CHECK(number_of("rows(3)") == 3);
  CHECK(number_of("forwards(3)") == 1);
  CHECK(number_of("emitted(11)") == 1);
  CHECK(number_of("paths(10)") == 3);
  CHECK(number_of("paths(11)") == 0);
  CHECK(number_of("kv_live(3)") == 19);
  CHECK(number_of("kv_garbage(3)") == 0);
  CHECK(number_of("kv_held(3)") == 19);
  CHECK(number_of("kv_greedy(3)") == 16);
  CHECK(number_of("kv_batch(3)") == 48);
  CHECK(number_of("kv_taken(1)") == 3);
  CHECK(number_of("kv_reused(3)") == 2);
  CHECK(refused("kv_live(12)") == "column 1: there is no step 12; the run has steps 0 to 11");
  CHECK(refused("kv_live(-1)") == "column 1: there is no step -1; the run has steps 0 to 11");
  CHECK(refused("kv_live(1.5)") == "column 1: expected a step, a whole number; found 1.5");
  CHECK(refused("kv_live('3')") == "column 1: expected a step; found a text");
}

TEST_CASE("trace: figures of all steps") {
  CHECK(number_of("total(emitted)") == 12);
  CHECK(number_of("peak(kv_live)") == 26);
  CHECK(number_of("peak_step(kv_live)") == 10);
  CHECK(number_of("first(kv_reused)") == 3);
  CHECK(number_of("peak(kv_batch)") == 72);
  CHECK(refused("first(accepted)") == "column 1: no step of this run has accepted");
  CHECK(refused("total(3)") ==
        "column 1: expected the name of a series, such as kv_live; found a number");
}

TEST_CASE("trace: the best text and the live paths, step by step") {
  CHECK(number_of("node(best)") == 34);
  CHECK(number_of("node(best, 11)") == 34);
  CHECK(number_of("node(best, 3)") == 10);
  CHECK(number_of("node(best, 0)") == 1);
  CHECK(number_of("node(beam 1, 5)") == 16);
  CHECK(number_of("node(beam 2, 5)") == 17);
  CHECK(number_of("node(best, 5)") == 17);
  CHECK(text_of("token(best, 3)") == "together");
  CHECK(text_of("token(beam 2, 3)") == "Spot");
  CHECK(text_of("token(beam (1 + 1), 3)") == "Spot");
  CHECK(text_of("text(best, 2)") == " and dog liked to play ");
  CHECK(truth_of("node(beam 2, 4) = 14"));
  CHECK(refused("node(beam 4, 3)") ==
        "column 1: there is no beam 4 after step 3, which has 3 live paths");
  CHECK(refused("token(beam 0, 3)") == "column 7: beam: expected a rank, 1 or more; found 0");
  CHECK(refused("token(3, 3)") ==
        "column 1: expected a path (best, beam 2) before a step; found a number");
}

TEST_CASE("trace: a node") {
  CHECK(number_of("logp(1)") == doctest::Approx(-1.0719194412231445));
  CHECK(number_of("p(1)") == doctest::Approx(std::exp(-1.0719194412231445)));
  CHECK(number_of("score(10)") == doctest::Approx(-4.458891868591309));
  CHECK(number_of("score(best, 3)") == doctest::Approx(-4.458891868591309));
  CHECK(number_of("depth(10)") == 4);
  CHECK(number_of("position(10)") == 16);
  CHECK(number_of("parent(10)") == 7);
  CHECK(number_of("children(10)") == 2);
  CHECK(number_of("child(10, 2)") == 15);
  CHECK(number_of("slot(7, 3)") == 15);
  CHECK(number_of("slot(8, 3)") == 17);
  CHECK(refused("slot(9, 3)") == "column 1: node 9 has no slot after step 3");
  CHECK(truth_of("ancestor(4, 34)"));
  CHECK(truth_of("ancestor(34, 34)"));
  CHECK(truth_of("ancestor(0, 34)"));
  CHECK_FALSE(truth_of("ancestor(5, 34)"));
  CHECK_FALSE(truth_of("ancestor(34, 4)"));
  CHECK(truth_of("sees(10, 7)"));
  CHECK(truth_of("sees(10, 10)"));
  CHECK(truth_of("sees(10, -2)"));
  CHECK_FALSE(truth_of("sees(10, 8)"));
  CHECK(refused("p(37)") == "column 1: there is no node 37; the run has nodes 0 to 36");
  CHECK(refused("child(10, 3)") == "column 1: node 10 has 2 child nodes; found number 3");
  CHECK(refused("slot(7, 2)") == "column 1: node 7 has no slot after step 2");
  CHECK(refused("token(0)") ==
        "column 1: node 0 is the prompt, not a token; prompt_token(I) has those");
  CHECK(refused("sees(34, 1)") == "column 1: node 34 went through no forward of this run");
}

TEST_CASE("trace: candidates and decisions") {
  CHECK(text_of("candidate(0, 1)") == " and ");
  CHECK(number_of("candidate_p(0, 1)") == doctest::Approx(std::exp(-1.0719194412231445)));
  CHECK(number_of("rank(beam 2, 3)") == 2);
  CHECK(text_of("verdict(beam 2, 3)") == "kept");
  CHECK(text_of("verdict(node(beam 2, 3))") == "pruned");
  CHECK(refused("rank(node(beam 2, 3))") ==
        "column 1: rank: the decision about this node has none");
  CHECK(refused("candidate(0, 99)").starts_with("column 1: node 0 has candidates 1 to "));
}

TEST_CASE("trace: what a token was drawn from") {
  static const TempDir folder;
  const auto run = capture::Capture::open(
      (std::filesystem::copy_file(source_dir() / "assets/lessons/sample.tscap",
                                  folder.path() / "sample.tscap"),
       (folder.path() / "sample.tscap").string()));
  const auto number = [&](const char* text) { return std::get<double>(value_of(text, *run)); };
  const auto token = [&](const char* text) { return std::get<std::string>(value_of(text, *run)); };
  CHECK(number("stage_p(0, 1, 'temperature')") == doctest::Approx(0.6022067666053772));
  CHECK(number("stage_p(0, 2, 'top_k')") == doctest::Approx(0.09731320291757584));
  CHECK(number("stage_p(0, 3, 'top_p')") == 0);
  CHECK(number("left(0, 'top_k')") == 8);
  CHECK(number("left(0, 'top_p')") == 2);
  CHECK(number("u(best, 0)") == doctest::Approx(0.2884112298488617));
  CHECK(token("drawn(0, 0.88)") == " a");
  CHECK(token("drawn(0, 0.89)") == " something");
  CHECK(token("drawn(5, 0.11)") == " mil");
  CHECK(token("drawn(5, 0.12)") == " glass");
  const auto refused = [&](const char* text) {
    return refusal(ErrorCode::kCorruption, [&] { value_of(text, *run); });
  };
  CHECK(refused("drawn(0, 1.5)") ==
        "column 1: no token that the run recorded lies at 1.5 of node 0's strip");
  CHECK(refused("left(0, 'min_p')") == "column 1: the run recorded no stage 'min_p' of this node");
  CHECK(refused("stage_p(0, 1, 'min_p')") ==
        "column 1: the run recorded no stage 'min_p' of this token");
}

TEST_CASE("trace: drafts") {
  const capture::Capture& run = drafted_run();
  const auto of = [&](const char* text) { return std::get<double>(value_of(text, run)); };
  CHECK(of("total(drafted)") == 64);
  CHECK(of("total(accepted)") == 5);
  CHECK(of("total(refused)") == 59);
  CHECK(of("drafted(1)") == 4);
  CHECK(of("refused(1)") == 3);
  CHECK(of("first(accepted)") == 1);
}

TEST_CASE("trace: what the window shows is known to a task alone") {
  const lessons::Moment moment{capture::make_tick(3, capture::Phase::kAccept), 7, {"trie", "kv"}};
  const auto at = [&](const char* text) {
    return evaluate_truth(lessons::Expression::parse(text), {lesson_run(), &moment});
  };
  CHECK(at("cursor = 3 and phase = 'accept' and focus = 7"));
  CHECK(at("shown('kv') and not shown('mask')"));
  CHECK(refused("cursor") == "column 1: what the window shows is known in a task's `when` alone");
  CHECK(refused("shown('kv')") ==
        "column 1: what the window shows is known in a task's `when` alone");
}

TEST_CASE("trace: Gumbel noise is what a score was drawn with, less its log p") {
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "gumbel.tscap";
  std::filesystem::copy_file(source_dir() / "assets" / "lessons" / "gumbel.tscap", path);
  const auto opened = capture::Capture::open(path.string());
  const auto at = [&](const std::string& text) { return value_of(text, *opened); };
  // As the file has them: select p, at from stage where node = 0 and stage = 10.
  CHECK(std::get<double>(at("noisy(0, 2)")) == doctest::Approx(-0.0692438));
  CHECK(std::get<double>(at("noise(0, 2)")) == doctest::Approx(-0.0692438 - std::log(0.2264427)));
  CHECK(std::get<bool>(at("noisy(0, 2) > noisy(0, 1)")));
  CHECK(std::get<bool>(at("token(best, 0) = candidate(0, 2)")));
  const auto refused_at = [&](const std::string& text) {
    return refusal(ErrorCode::kCorruption, [&] { at(text); });
  };
  CHECK(refused_at("noise(0, 9)") ==
        "column 1: this token was cut away before the draw: it has no noise");
  CHECK(refused("noise(0, 1)") ==
        "column 1: the run did not draw with sampler=gumbel: its tokens have no noise");
}

TEST_CASE("trace: what a row saw is what its recorder says, where it says so") {
  const TempDir folder;
  for (const std::string name : {"wrong-mask", "mended-mask"}) {
    CAPTURE(name);
    const std::filesystem::path path = folder.path() / (name + ".tscap");
    std::filesystem::copy_file(source_dir() / "assets" / "lessons" / (name + ".tscap"), path);
    const auto opened = capture::Capture::open(path.string());
    const auto at = [&](const std::string& text) {
      return std::get<bool>(value_of(text, *opened));
    };
    // Step 1: 3 and 4 are siblings, 2 their parent.
    CHECK(at("sees(4, 2) and sees(4, 4) and sees(4, -2) and not sees(3, 4)"));
    CHECK(at("sees(4, 3)") == (name == "wrong-mask"));
  }
}

TEST_CASE("trace: no name is there twice") {
  std::set<std::string_view> names;
  for (const lessons::Series& one : lessons::series_list()) CHECK(names.insert(one.name).second);
  for (const lessons::Function& one : lessons::function_list()) {
    CHECK(names.insert(one.name).second);
    CHECK(one.usage.starts_with(one.name));
  }
}

TEST_CASE("value: texts as people read them") {
  CHECK(lessons::value_text(12.0) == "12");
  CHECK(lessons::value_text(-0.0) == "0");
  CHECK(lessons::value_text(49152.0) == "49152");
  CHECK(lessons::value_text(0.41253) == "0.413");
  CHECK(lessons::value_text(std::string(" the")) == "' the'");
  CHECK(lessons::value_text(true) == "true");
  CHECK(lessons::same_value(1.0, 1.0 + 1e-12));
  CHECK_FALSE(lessons::same_value(1.0, true));
}

}  // namespace test_trace

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/base/nearest_name.h"

namespace triescope {
namespace {

TEST_CASE(
    "nearest name: the edit distance counts insertions, deletions, replacements and swaps of neighbours") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("beam", "beam") == 0);
  CHECK(edit_distance("", "beam") == 4);
  CHECK(edit_distance("beam", "") == 4);
  CHECK(edit_distance("bean", "beam") == 1);
  CHECK(edit_distance("beams", "beam") == 1);
  CHECK(edit_distance("bem", "beam") == 1);
  CHECK(edit_distance("baem", "beam") == 1);
  CHECK(edit_distance("eb", "be") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("ca", "abc") == 3);  // a swapped pair is not edited again
  CHECK(edit_distance("BEAM", "beam") == 0);
  CHECK(edit_distance("num-beams", "num_beams") == 0);
  CHECK(edit_distance("[", "{") == 1);  // letters alone match in either case
}

TEST_CASE("nearest name: it differs in at most a third, and ties go to the earlier one") {
  const std::vector<std::string> names = {"beam", "batch_beam", "greedy", "sample", "num_beams"};
  CHECK(nearest_name("bean", names) == "beam");
  CHECK(nearest_name("Greedi", names) == "greedy");
  CHECK(nearest_name("nubeams", names) == "num_beams");
  CHECK(nearest_name("batch-beam", names) == "batch_beam");
  CHECK(nearest_name("smaple", names) == "sample");
  CHECK(nearest_name("simply", names) == "sample");  // 2 of 6: just within a third
  CHECK(nearest_name("sxmxlx", names).empty());      // 3 of 6
  CHECK(nearest_name("ab", std::vector<std::string>{"abcd", "abce"}) == "abcd");
  CHECK(nearest_name("abcx", std::vector<std::string>{"abcd", "abce"}) == "abcd");
  CHECK(nearest_name("abce", std::vector<std::string>{"abcd", "abce"}) == "abce");
}

TEST_CASE(
    "nearest name: a beginning of two letters or more finds the shortest name that goes on so") {
  const std::vector<std::string> names = {"prompt_lookup", "prompt", "draft_model"};
  CHECK(nearest_name("pr", names) == "prompt");
  CHECK(nearest_name("dra", names) == "draft_model");
  CHECK(nearest_name("prompt_l", names) == "prompt");  // 2 of 8: nearer than the longer one's 5
  CHECK(nearest_name("d", names).empty());
  CHECK(nearest_name("", names).empty());
  CHECK(nearest_name("model", names).empty());  // an ending is not a beginning
  CHECK(nearest_name(std::string(200, 'p'), names).empty());
  // Names of up to 128 bytes are looked at, given or to be found.
  const std::string longest(128, 'p'), longer = "x" + longest;
  CHECK(nearest_name(longest, std::vector<std::string>{longest}) == longest);
  CHECK(nearest_name(longer, std::vector<std::string>{longest}).empty());
  CHECK(nearest_name(longest, std::vector<std::string>{longer}).empty());
}

TEST_CASE("nearest name: a refusal ends with the nearest name, or says nothing") {
  const std::vector<std::string> names = {"trie", "kv"};
  CHECK(did_you_mean("tree", names) == "; did you mean trie?");
  CHECK(did_you_mean("pie chart", names).empty());
  CHECK(did_you_mean("trie", {}).empty());
}

}  // namespace
}  // namespace triescope

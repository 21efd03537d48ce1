// Suffixes sorted by buckets against a sort that compares them, and the file that holds them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "core/base/count_up.h"
#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/lookup/datastore.h"
#include "core/lookup/sort_suffixes.h"
#include "tests/support/paths.h"

namespace triescope::test_datastore {
namespace {

using Tokens = std::vector<std::int32_t>;

Tokens sorted_by_comparing(const Tokens& text, int depth) {
  const auto at = [&](std::int32_t place, int offset) {
    const auto i = static_cast<std::size_t>(place + offset);
    return i >= text.size() || text[i] == kEndOfDocument ? -1 : text[i];
  };
  Tokens order = count_up(text.size());
  std::ranges::stable_sort(order, [&](std::int32_t a, std::int32_t b) {
    for (int offset = 0; offset < depth; ++offset) {
      if (at(a, offset) != at(b, offset)) return at(a, offset) < at(b, offset);
      if (at(a, offset) < 0) return false;
    }
    return false;
  });
  return order;
}

Tokens random_text(Rng& rng, int size, int alphabet, int document) {
  Tokens text;
  for (int i = 0; i < size; ++i)
    text.push_back(
        rng.next() % static_cast<std::uint64_t>(document) == 0
            ? kEndOfDocument
            : static_cast<std::int32_t>(rng.next() % static_cast<std::uint64_t>(alphabet)));
  text.push_back(kEndOfDocument);
  return text;
}

TEST_CASE(
    "datastore: suffixes are sorted as comparing them would, for any depth and number of threads") {
  Rng rng(3);
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (const int depth : {1, 2, 3, 4, 7, 32})
      for (const int alphabet : {1, 2, 5, 60}) {
        CAPTURE(depth);
        CAPTURE(alphabet);
        const Tokens text = random_text(rng, 400, alphabet, 40);
        Tokens order(text.size());
        double last = 0;
        sort_suffixes(text, kEndOfDocument, depth, order, pool, [&](double share) {
          CHECK(share >= last);
          CHECK(share <= 1);
          last = share;
        });
        CHECK(order == sorted_by_comparing(text, depth));
      }
    Tokens none;
    sort_suffixes(none, kEndOfDocument, 32, none, pool);
  }
}

TEST_CASE(
    "datastore: suffixes of one token again and again are sorted, and an exception of the progress ends it") {
  ThreadPool pool(2);
  const Tokens same(20000, 7);
  Tokens order(same.size());
  sort_suffixes(same, kEndOfDocument, 32, order, pool);
  CHECK(order == sorted_by_comparing(same, 32));
  ThreadPool one(1);
  const auto stop = [](double) { throw Error(ErrorCode::kCancelled, "stop"); };
  CHECK_THROWS_AS(sort_suffixes(same, kEndOfDocument, 32, order, one, stop), Error);
}

struct Built {
  explicit Built(std::uint64_t seed = 9) : path((dir.path() / "store.tsds").string()) {
    Rng rng(seed);
    tokens = random_text(rng, 300, 4, 30);
    order.resize(tokens.size());
    ThreadPool pool(1);
    sort_suffixes(tokens, kEndOfDocument, SuffixArray::kSortedTokens, order, pool);
    Datastore::write(path, tokens, order, 50, 0x1234);
  }
  // The file with some bytes changed, as an error's text; "" = it opens, and check() too.
  std::string after(std::size_t at, std::uint64_t value, std::size_t bytes, bool whole = false) {
    std::vector<char> data = read();
    std::memcpy(data.data() + at, &value, bytes);
    return error_of(data, whole);
  }
  std::vector<char> read() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string error_of(const std::vector<char>& data, bool whole) const {
    const std::string other = (dir.path() / "other.tsds").string();
    std::ofstream(other, std::ios::binary)
        .write(data.data(), static_cast<std::streamsize>(data.size()));
    try {
      const Datastore store(other);
      if (whole) store.check();
      return "";
    } catch (const Error& error) {
      const std::string text = error.what();
      CHECK(text.starts_with(other + ": "));
      return text.substr(other.size() + 2);
    }
  }
  test::TempDir dir;
  std::string path;
  Tokens tokens, order;
};

TEST_CASE("datastore: it answers as its tokens in memory do") {
  const Built built;
  CHECK(Datastore::is_one(built.path));
  CHECK_FALSE(Datastore::is_one(built.dir.path() / "none"));
  const Datastore store(built.path);
  store.check();
  CHECK(store.info().tokens == built.tokens.size());
  CHECK(store.info().documents ==
        static_cast<std::uint64_t>(std::ranges::count(built.tokens, kEndOfDocument)));
  CHECK(store.info().vocab_size == 50);
  CHECK(store.info().vocabulary_hash == 0x1234);
  const SuffixArray memory(built.tokens, kEndOfDocument);
  Rng rng(5);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    Tokens context;
    for (int k = 0; k < 5; ++k) context.push_back(static_cast<std::int32_t>(rng.next() % 4));
    const auto a = store.index().continuations(context, 1, 16, 20, 6);
    const auto b = memory.continuations(context, 1, 16, 20, 6);
    CHECK(a.matched_tokens == b.matched_tokens);
    REQUIRE(a.nodes.size() == b.nodes.size());
    for (std::size_t n = 0; n < a.nodes.size(); ++n) {
      CHECK(a.nodes[n].token == b.nodes[n].token);
      CHECK(a.nodes[n].parent == b.nodes[n].parent);
      CHECK(a.nodes[n].frequency == b.nodes[n].frequency);
    }
    found += !a.nodes.empty();
  }
  CHECK(found > 200);
}

TEST_CASE(
    "datastore: a damaged datastore is refused with what is wrong, at once or when it is read whole") {
  Built built;
  CHECK(built.after(0, 'X', 1).starts_with("expected a datastore (triescope datastore build)"));
  CHECK(built.after(8, 2, 4).starts_with("a datastore of version 2; this program reads version 1"));
  for (const std::size_t at : {12u, 16u, 24u, 32u, 36u, 40u, 48u}) {
    CAPTURE(at);
    CHECK(built.after(at, 77, 4).starts_with("hash of the header: expected "));
  }
  CHECK(built.after(56, 1, 1).starts_with("reserved bytes: expected 0, found 1"));
  std::vector<char> data = built.read();
  data.pop_back();
  CHECK(built.error_of(data, false).starts_with("size in bytes: expected "));
  data.resize(40);
  CHECK(built.error_of(data, false) == "expected a datastore, found a file of 40 bytes");
  data.clear();
  CHECK(built.error_of(data, false) == "expected a datastore, found a file of 0 bytes");
  // Tokens and order are not read at once.
  CHECK(built.after(64 + 40, 3000, 4) == "");
  CHECK(built.after(64 + 40, 3000, 4, true).starts_with("tokens and order are not those"));
  CHECK_THROWS_AS(Datastore("/no/such/file"), Error);
  CHECK_THROWS_AS(Datastore("/tmp"), Error);
}

TEST_CASE(
    "datastore: a datastore whose tokens and order are anything drafts tokens of its vocabulary alone") {
  Built built;
  Rng rng(8);
  for (int round = 0; round < 200; ++round) {
    Tokens tokens = built.tokens, order = built.order;
    for (int i = 0; i < 60; ++i) {
      Tokens& of = rng.next() % 2 == 0 ? tokens : order;
      of[rng.next() % of.size()] = static_cast<std::int32_t>(rng.next());
    }
    const SuffixArray array(tokens, order, kEndOfDocument, 50);
    for (const std::int32_t a : {0, 1, 2, 3})
      for (const auto& node : array.continuations(Tokens{a, 1, a}, 1, 31, 64, 10).nodes) {
        CHECK(node.token >= 0);
        CHECK(node.token < 50);
      }
    array.first_out_of_order();
  }
}

TEST_CASE(
    "datastore: a datastore that cannot be written leaves nothing, and one that is mapped stays what it was") {
  CHECK_THROWS_AS(Datastore::write("/no/such/folder/x.tsds", {}, {}, 5, 0), Error);
  const test::TempDir dir;
  const std::string path = dir.path() / "x.tsds";
  CHECK_THROWS_AS(Datastore::write(path, Tokens{1, 2}, Tokens{0, 1}, 5, 0), Error);
  CHECK(std::filesystem::is_empty(dir.path()));
  const Tokens first = {1, kEndOfDocument}, second = {2, kEndOfDocument}, order = {1, 0};
  Datastore::write(path, first, order, 5, 0);
  const Datastore old(path);
  Datastore::write(path, second, order, 5, 0);
  old.check();
  Datastore(path).check();
  CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 1);
}

}  // namespace
}  // namespace triescope::test_datastore

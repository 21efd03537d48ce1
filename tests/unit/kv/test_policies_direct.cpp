// Each KV policy by hand, without a model: which slots rows take and see, what a commit drops,
// moves and tells, and what a sliding window does to all that.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/tree/kv_policy.h"
#include "tests/support/slot_events.h"

namespace triescope::test {
namespace {

using Nodes = std::vector<NodeId>;

std::string list(std::span<const std::int32_t> numbers) {
  std::string text;
  for (const std::int32_t number : numbers)
    text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

struct Kv {
  Kv(KvPolicyOptions options, int prompt)
      : owner(std::make_unique<FakeKv>(64)),
        kv(owner.get()),
        store(std::move(owner), true),
        policy(make_kv_policy(options, store)),
        tree(prompt) {}

  NodeId hang(NodeId parent) {
    return tree.hang(parent, TokenId(tree.size()), capture::Source::kBeam, 0).node;
  }
  std::string prefill(const Nodes& path = {}) {
    const auto slots = policy->place_prefix(tree, path);
    write();
    return list(slots);
  }
  // "common | row ; row": what the rows see, their own slots last.
  std::string place(const Nodes& rows) {
    const Placement placed = policy->place(tree, rows);
    REQUIRE(placed.slots.size() == rows.size());
    REQUIRE(placed.own_offsets.size() == rows.size() + 1);
    CHECK(placed.own_offsets.front() == 0);
    CHECK(placed.own_offsets.back() == static_cast<std::int32_t>(placed.own_slots.size()));
    std::string text = list(placed.prefix_slots) + " |";
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const auto begin = static_cast<std::size_t>(placed.own_offsets[r]),
                 end = static_cast<std::size_t>(placed.own_offsets[r + 1]);
      text += (r > 0 ? " ; " : " ") + list(std::span(placed.own_slots).subspan(begin, end - begin));
      CHECK(placed.own_slots[end - 1] == placed.slots[r]);
      CHECK(store.occupant(placed.slots[r]) == rows[r].value);
    }
    write();
    return text;
  }
  void commit(std::int32_t step, const Nodes& dropped, const Nodes& frontier,
              std::int32_t horizon = 0) {
    policy->commit(tree,
                   {.dropped = dropped, .frontier = frontier, .step = step, .horizon = horizon});
    // The storage went the way of the bookkeeping.
    for (std::int32_t slot = 0; slot < store.size(); ++slot)
      if (store.use(slot) == SlotUse::kLive)
        CHECK(kv->cells[static_cast<std::size_t>(slot)].token == store.occupant(slot));
  }
  // "live+garbage"
  std::string counts() const {
    return std::to_string(store.live()) + "+" + std::to_string(store.garbage());
  }
  // The forward's part: every live slot holds its occupant's KV.
  void write() {
    for (std::int32_t slot = 0; slot < store.size(); ++slot)
      kv->cells[static_cast<std::size_t>(slot)].token = store.occupant(slot);
  }

  std::unique_ptr<FakeKv> owner;
  FakeKv* kv;
  SlotStore store;
  std::unique_ptr<KvPolicy> policy;
  TokenTree tree;
};

// Two beams, then three, one of them dies, at last one; a window that first eats into the prompt,
// then into ancestors that the branches do not share, then into one that they do.
struct Windowed : Kv {
  explicit Windowed(KvPolicyOptions options) : Kv(options, 3) {
    CHECK(prefill() == "0,1,2");
    a = hang(TokenTree::root()), b = hang(TokenTree::root());
    commit(0, {}, {a, b});
    CHECK(place({a, b}) == "0,1,2 | 3 ; 4");
    c = hang(a), d = hang(b);
    (void)told(store);
  }
  NodeId a, b, c, d, e, f, g, h, i, j, k;
};

TEST_CASE("recycle: dropped slots go to the next rows, the lowest first, a window's too") {
  Windowed kv({.kind = KvPolicyKind::kRecycle});
  kv.commit(1, {}, {kv.c, kv.d}, 1);
  CHECK(told(kv.store) == "free 0=-2");
  CHECK(kv.place({kv.c, kv.d}) == "1,2 | 3,0 ; 4,5");
  CHECK(told(kv.store) == "reuse 0=3, alloc 5=4");
  kv.e = kv.hang(kv.c), kv.f = kv.hang(kv.c), kv.g = kv.hang(kv.d);
  kv.commit(2, {}, {kv.e, kv.f, kv.g}, 4);
  CHECK(told(kv.store) == "free 1=-3, free 2=-4, free 3=1, free 4=2");
  CHECK(kv.place({kv.e, kv.f, kv.g}) == " | 0,1 ; 0,2 ; 5,3");
  CHECK(kv.counts() == "5+0");
  (void)told(kv.store);
  // g and the branch above it die; c is shared by both that are left and falls out of the window
  // once.
  kv.h = kv.hang(kv.e), kv.i = kv.hang(kv.f);
  kv.commit(3, {kv.g, kv.d}, {kv.h, kv.i}, 5);
  CHECK(told(kv.store) == "free 3=7, free 5=4, free 0=3");
  CHECK(kv.place({kv.h, kv.i}) == " | 1,0 ; 2,3");
  CHECK(kv.counts() == "4+0");
  kv.j = kv.hang(kv.h);
  kv.commit(4, {kv.i, kv.f}, {kv.j}, 5);
  CHECK(kv.place({kv.j}) == "1,0 | 2");
  kv.k = kv.hang(kv.j);
  (void)told(kv.store);
  kv.commit(5, {}, {kv.k}, 6);
  CHECK(told(kv.store) == "free 1=5");
  CHECK(kv.place({kv.k}) == "0,2 | 1");
  CHECK(kv.counts() == "3+0");
  // The window goes on a position at a time, and takes one slot each.
  const NodeId l = kv.hang(kv.k);
  (void)told(kv.store);
  kv.commit(6, {}, {l}, 7);
  CHECK(told(kv.store) == "free 0=8");
  CHECK(kv.place({l}) == "2,1 | 0");
  CHECK(kv.store.moved() == 0);
  CHECK(kv.store.size() == 6);
}

TEST_CASE("keep: what is dropped stays as garbage, and rows always take fresh slots") {
  Windowed kv({.kind = KvPolicyKind::kKeep});
  kv.commit(1, {}, {kv.c, kv.d}, 1);
  CHECK(told(kv.store) == "garbage 0=-2");
  CHECK(kv.counts() == "4+1");
  CHECK(kv.place({kv.c, kv.d}) == "1,2 | 3,5 ; 4,6");
  kv.e = kv.hang(kv.c), kv.f = kv.hang(kv.c), kv.g = kv.hang(kv.d);
  (void)told(kv.store);
  kv.commit(2, {}, {kv.e, kv.f, kv.g}, 4);
  CHECK(told(kv.store) == "garbage 1=-3, garbage 2=-4, garbage 3=1, garbage 4=2");
  CHECK(kv.place({kv.e, kv.f, kv.g}) == " | 5,7 ; 5,8 ; 6,9");
  kv.h = kv.hang(kv.e), kv.i = kv.hang(kv.f);
  (void)told(kv.store);
  kv.commit(3, {kv.g, kv.d}, {kv.h, kv.i}, 5);
  CHECK(told(kv.store) == "garbage 9=7, garbage 6=4, garbage 5=3");
  CHECK(kv.counts() == "2+8");
  CHECK(kv.place({kv.h, kv.i}) == " | 7,10 ; 8,11");
  CHECK_FALSE(kv.store.slot_of(kv.c).valid());
  CHECK(kv.store.slot_of(kv.e) == SlotId(7));
}

TEST_CASE("compact: survivors are gathered in order every gc_every steps, and lists follow them") {
  Windowed kv({.kind = KvPolicyKind::kCompact, .gc_every = 2});
  kv.commit(1, {}, {kv.c, kv.d}, 1);
  CHECK(told(kv.store) == "garbage 0=-2");
  CHECK(kv.place({kv.c, kv.d}) == "1,2 | 3,5 ; 4,6");
  kv.e = kv.hang(kv.c), kv.f = kv.hang(kv.c), kv.g = kv.hang(kv.d);
  (void)told(kv.store);
  kv.commit(2, {}, {kv.e, kv.f, kv.g}, 4);
  CHECK(told(kv.store) ==
        "garbage 1=-3, garbage 2=-4, garbage 3=1, garbage 4=2, free 0=-2, free 1=-3, free 2=-4, "
        "free 3=1, free 4=2, move 0=3 from 5, move 1=4 from 6, free 5=3, free 6=4");
  CHECK(kv.counts() == "2+0");
  CHECK(kv.store.slot_of(kv.c) == SlotId(0));
  CHECK(kv.store.slot_of(kv.d) == SlotId(1));
  CHECK(kv.place({kv.e, kv.f, kv.g}) == " | 0,2 ; 0,3 ; 1,4");
  kv.h = kv.hang(kv.e), kv.i = kv.hang(kv.f);
  kv.commit(3, {kv.g, kv.d}, {kv.h, kv.i}, 5);
  CHECK(kv.counts() == "2+3");  // not this time
  CHECK(kv.place({kv.h, kv.i}) == " | 2,5 ; 3,6");
  kv.j = kv.hang(kv.h);
  kv.commit(4, {kv.i, kv.f}, {kv.j}, 5);
  CHECK(kv.counts() == "2+0");
  CHECK(kv.place({kv.j}) == "0,1 | 2");
  CHECK(kv.store.moved() == 4);
}

TEST_CASE(
    "compact: collects at exactly gc_every steps, not at step 0, and moves only what must move") {
  Kv kv({.kind = KvPolicyKind::kCompact, .gc_every = 3}, 2);
  CHECK(kv.prefill() == "0,1");
  NodeId at = kv.hang(TokenTree::root());
  kv.commit(0, {}, {at});
  std::vector<std::string> counts;
  std::vector<std::int64_t> moved;
  for (std::int32_t step = 1; step <= 7; ++step) {
    const NodeId wrong = kv.hang(at);  // a draft that is refused in the same step
    kv.place({at, wrong});
    const NodeId next = kv.hang(at);
    kv.commit(step, {wrong}, {next});
    counts.push_back(kv.counts());
    moved.push_back(kv.store.moved());
    at = next;
  }
  CHECK(counts == std::vector<std::string>{"3+1", "4+2", "5+0", "6+1", "7+2", "8+0", "9+1"});
  // By step 3 slots 0,1,2 hold the prompt and the first node; 4 and 6 go to 3 and 4.
  CHECK(moved == std::vector<std::int64_t>{0, 0, 2, 2, 2, 4, 4});
  Kv without({.kind = KvPolicyKind::kCompact, .gc_every = 1}, 2);
  without.prefill();
  const NodeId a = without.hang(TokenTree::root());
  without.commit(0, {}, {a});
  without.place({a});
  const NodeId b = without.hang(a);
  (void)told(without.store);
  without.commit(1, {}, {b});  // no garbage: nothing to do
  CHECK(told(without.store).empty());
  CHECK(without.place({b}) == "0,1,2 | 3");
}

TEST_CASE(
    "policies direct: a branch's path is placed behind the prompt, and shared once the rows below it come") {
  for (const KvPolicyKind kind :
       {KvPolicyKind::kRecycle, KvPolicyKind::kCompact, KvPolicyKind::kKeep}) {
    Kv kv({.kind = kind}, 2);
    const NodeId a = kv.hang(TokenTree::root()), b = kv.hang(a);
    CHECK(kv.prefill({a, b}) == "0,1,2,3");
    CHECK(told(kv.store) == "alloc 0=-2, alloc 1=-3, alloc 2=1, alloc 3=2");
    const NodeId c = kv.hang(b), d = kv.hang(b);
    kv.commit(0, {}, {c, d});
    CHECK(kv.place({c, d}) == "0,1,2,3 | 4 ; 5");
    // A draft below a row of the same forward.
    const NodeId e = kv.hang(d);
    CHECK(kv.place({e}) == "0,1,2,3 | 5,6");
  }
}

TEST_CASE("batch: every beam has a cache; survivors' caches are copied over all of them") {
  Kv kv({.kind = KvPolicyKind::kBatch, .beams = 3}, 2);
  CHECK(kv.prefill() == "0,3");
  const NodeId a = kv.hang(TokenTree::root()), b = kv.hang(TokenTree::root()),
               c = kv.hang(TokenTree::root());
  (void)told(kv.store);
  kv.commit(0, {}, {a, b, c});
  CHECK(told(kv.store) == "move 1=-2 from 0, move 4=-3 from 3, move 2=-2 from 0, move 5=-3 from 3");
  CHECK(kv.store.moved() == 4);
  CHECK(kv.place({a, b, c}) == " | 0,3,6 ; 1,4,7 ; 2,5,8");
  (void)told(kv.store);

  // All three go on from b: it has three copies, its own slot is the first.
  const NodeId d = kv.hang(b), e = kv.hang(b), f = kv.hang(b);
  kv.commit(1, {c, a}, {d, e, f});
  CHECK(told(kv.store) == "free 8=3, free 6=1, move 6=2 from 7, move 8=2 from 7");
  CHECK(kv.store.moved() == 4 + 9);
  CHECK(kv.counts() == "9+0");
  for (const std::int32_t slot : {6, 7, 8}) CHECK(kv.store.occupant(slot) == b.value);
  CHECK(kv.store.slot_of(b) == SlotId(6));
  CHECK_FALSE(kv.store.slot_of(a).valid());
  CHECK(kv.place({d, e, f}) == " | 0,3,6,9 ; 1,4,7,10 ; 2,5,8,11");
  (void)told(kv.store);

  // Two go on from f, then none: caches that are not needed any more are given back whole.
  const NodeId g = kv.hang(f), h = kv.hang(f);
  kv.commit(2, {e, d}, {g, h});
  CHECK(told(kv.store) ==
        "free 10=5, free 9=4, move 9=6 from 11, move 10=6 from 11, free 2=-2, free 5=-3, free 8=2, "
        "free 11=6");
  CHECK(kv.counts() == "8+0");
  CHECK(kv.store.moved() == 13 + 8);
  CHECK(kv.place({g, h}) == " | 0,3,6,9,12 ; 1,4,7,10,13");
  (void)told(kv.store);
  kv.commit(3, {h, g, f, b}, {});
  CHECK(told(kv.store) ==
        "free 13=8, free 12=7, free 9=6, free 10=6, free 6=2, free 7=2, free 0=-2, free 3=-3, "
        "free 1=-2, free 4=-3");
  CHECK(kv.counts() == "0+0");
  CHECK_FALSE(kv.store.slot_of(b).valid());
}

TEST_CASE("batch: a dead node's copies are given back before survivors are copied over them") {
  Kv kv({.kind = KvPolicyKind::kBatch, .beams = 3}, 1);
  kv.prefill();
  const NodeId a = kv.hang(TokenTree::root()), b = kv.hang(TokenTree::root());
  kv.commit(0, {}, {a, b});
  CHECK(kv.place({a, b}) == " | 0,3 ; 1,4");
  const NodeId c = kv.hang(a), d = kv.hang(a), e = kv.hang(b);
  kv.commit(1, {}, {c, d, e});
  CHECK(kv.place({c, d, e}) == " | 0,3,6 ; 1,4,7 ; 2,5,8");
  CHECK(kv.store.slot_of(a) == SlotId(3));
  CHECK(kv.store.slot_of(b) == SlotId(5));
  const NodeId f = kv.hang(e), g = kv.hang(e);
  (void)told(kv.store);
  kv.commit(2, {d, c, a}, {f, g});
  CHECK(told(kv.store) ==
        "free 7=4, free 6=3, free 3=1, free 4=1, move 3=2 from 5, move 6=5 from 8, move 4=2 from "
        "5, move 7=5 from 8, free 2=-2, free 5=2, free 8=5");
  CHECK(kv.store.slot_of(b) == SlotId(3));
  CHECK(kv.store.slot_of(e) == SlotId(6));
}

TEST_CASE(
    "batch: what is out of every window falls out of every cache, and its line is taken again") {
  Kv kv({.kind = KvPolicyKind::kBatch, .beams = 2}, 2);
  kv.prefill();
  const NodeId a = kv.hang(TokenTree::root()), b = kv.hang(TokenTree::root());
  (void)told(kv.store);
  kv.commit(0, {}, {a, b}, 1);
  CHECK(told(kv.store) == "free 0=-2, move 3=-3 from 2");
  CHECK(kv.place({a, b}) == " | 2,0 ; 3,1");  // line 0 again
  const NodeId c = kv.hang(a), d = kv.hang(a);
  kv.commit(1, {b}, {c, d}, 2);
  CHECK(kv.counts() == "2+0");
  CHECK(kv.place({c, d}) == " | 0,2 ; 1,3");
  const NodeId e = kv.hang(d);
  (void)told(kv.store);
  // a died with the window, not in this step: what is dropped late has no slot to give back.
  kv.commit(2, {c, a}, {e}, 3);
  CHECK(told(kv.store) == "free 0=1, free 1=1, free 2=3, move 2=4 from 3, free 3=4");
  CHECK(kv.place({e}) == " | 2,0");
  CHECK(kv.store.size() == 4);
}

TEST_CASE("batch: more rows than caches, and a beam from nowhere, are refused") {
  Kv kv({.kind = KvPolicyKind::kBatch, .beams = 1}, 2);
  kv.prefill();
  const NodeId a = kv.hang(TokenTree::root()), b = kv.hang(TokenTree::root());
  kv.commit(0, {}, {a});
  CHECK_THROWS_AS(kv.place({a, b}), Error);
  CHECK(kv.place({a}) == " | 0,1,2");
  const NodeId below_b = kv.hang(b);
  CHECK_THROWS_AS(kv.commit(1, {}, {below_b}), Error);
}

}  // namespace
}  // namespace triescope::test

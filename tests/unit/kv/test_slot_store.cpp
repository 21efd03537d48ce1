// Slots: who occupies which, what is counted and what is told.
#include <doctest/doctest.h>

#include "core/tree/slot_store.h"
#include "tests/support/slot_events.h"

namespace triescope::test {
namespace {

struct Store {
  explicit Store(int capacity = 8, bool record = true)
      : owner(std::make_unique<FakeKv>(capacity)),
        kv(owner.get()),
        store(std::move(owner), record) {
    store.reserve(capacity);
  }
  std::string counts() const {
    return std::to_string(store.live()) + " live, " + std::to_string(store.garbage()) +
           " garbage, " + std::to_string(store.moved()) + " moved";
  }
  std::unique_ptr<FakeKv> owner;
  FakeKv* kv;
  SlotStore store;
};

TEST_CASE("slot store: a slot is taken, garbage, free, and taken again; each is told once") {
  Store s;
  s.store.take(0, prompt_occupant(0));
  s.store.take(3, 7);
  CHECK(prompt_occupant(0) == -2);
  CHECK(s.counts() == "2 live, 0 garbage, 0 moved");
  CHECK(s.store.occupant(3) == 7);
  CHECK(s.store.occupant(1) == -1);
  CHECK(s.store.slot_of(NodeId(7)) == SlotId(3));
  CHECK(told(s.store) == "alloc 0=-2, alloc 3=7");

  s.store.mark_garbage(3);
  CHECK(s.counts() == "1 live, 1 garbage, 0 moved");
  CHECK(s.store.use(3) == SlotUse::kGarbage);
  CHECK(s.store.occupant(3) == 7);  // still lies there
  CHECK_FALSE(s.store.slot_of(NodeId(7)).valid());
  CHECK(told(s.store) == "garbage 3=7");

  s.store.release(3);
  CHECK(s.counts() == "1 live, 0 garbage, 0 moved");
  CHECK(s.store.use(3) == SlotUse::kFree);
  CHECK(s.store.occupant(3) == -1);
  s.store.release(3);  // free already: nothing to tell
  s.store.release(5);  // never taken
  CHECK(told(s.store) == "free 3=7");

  s.store.take(3, 9);
  CHECK(told(s.store) == "reuse 3=9");
  s.store.release(3);
  CHECK_FALSE(s.store.slot_of(NodeId(9)).valid());
  CHECK(told(s.store) == "free 3=9");
  CHECK(told(s.store).empty());
  Store silent(8, false);
  silent.store.take(0, 1);
  CHECK(silent.store.take_events().empty());
}

TEST_CASE("slot store: moves happen as if all at once, and a node's own slot is its first target") {
  Store s;
  for (const std::int32_t slot : {0, 1, 2}) {
    s.store.take(slot, 10 + slot);
    s.kv->cells[static_cast<std::size_t>(slot)].token = 100 + slot;
  }
  (void)s.store.take_events();
  // 0 and 1 change places, 2 goes to 4 and 3 and stays where it is.
  const std::int32_t from[] = {0, 1, 2, 2, 2}, to[] = {1, 0, 4, 3, 2};
  s.store.move(from, to);
  CHECK(told(s.store) == "move 1=10 from 0, move 0=11 from 1, move 4=12 from 2, move 3=12 from 2");
  CHECK(s.counts() == "5 live, 0 garbage, 5 moved");  // copies onto themselves count
  const std::int32_t tokens[] = {101, 100, 102, 102, 102}, occupants[] = {11, 10, 12, 12, 12};
  for (std::int32_t slot = 0; slot < 5; ++slot) {
    CHECK(s.kv->cells[static_cast<std::size_t>(slot)].token == tokens[slot]);
    CHECK(s.store.occupant(slot) == occupants[slot]);
  }
  CHECK(s.store.slot_of(NodeId(10)) == SlotId(1));
  CHECK(s.store.slot_of(NodeId(11)) == SlotId(0));
  CHECK(s.store.slot_of(NodeId(12)) == SlotId(4));
  // A copy that is not the node's own slot goes unnoticed by it; its own does not.
  s.store.release(3);
  CHECK(s.store.slot_of(NodeId(12)) == SlotId(4));
  s.store.mark_garbage(2);
  CHECK(s.store.slot_of(NodeId(12)) == SlotId(4));
  s.store.release(4);
  CHECK_FALSE(s.store.slot_of(NodeId(12)).valid());
  s.store.move({}, {});
  CHECK(s.store.moved() == 5);
}

TEST_CASE("slot store: what a copy writes over loses its place") {
  Store s;
  s.store.take(0, 10);
  s.store.take(1, 11);
  const std::int32_t from[] = {0}, to[] = {1};
  s.store.move(from, to);
  CHECK(s.store.occupant(0) == 10);
  CHECK(s.store.occupant(1) == 10);
  CHECK_FALSE(s.store.slot_of(NodeId(11)).valid());
  CHECK(s.store.slot_of(NodeId(10)) == SlotId(1));
  CHECK(s.counts() == "2 live, 0 garbage, 1 moved");
}

TEST_CASE("slot store: storage grows by half at least, slots only as far as asked") {
  Store s(10);
  CHECK(s.store.reserved() == 10);
  s.store.reserve(11);
  CHECK(s.store.reserved() == 15);
  CHECK(s.store.size() == 11);
  s.store.reserve(15);
  CHECK(s.store.reserved() == 15);
  s.store.reserve(4);  // never shrinks
  CHECK(s.store.size() == 15);
  CHECK(s.store.bytes_per_slot() == 64);
}

}  // namespace
}  // namespace triescope::test

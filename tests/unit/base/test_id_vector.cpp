#include <doctest/doctest.h>

#include "core/base/id_vector.h"
#include "core/base/ids.h"

namespace triescope {

TEST_CASE(
    "id vector: a vector by id reaches its size and no further; what is past it has a default") {
  IdVector<NodeId, int> values;
  CHECK(values.size() == 0);
  CHECK(!values.contains(NodeId(0)));
  CHECK(values.push_back(7) == NodeId(0));
  CHECK(values.push_back(8) == NodeId(1));
  CHECK(values.size() == 2);
  CHECK(values[NodeId(1)] == 8);
  CHECK(values.contains(NodeId(1)));
  CHECK(!values.contains(NodeId(2)));
  CHECK(!values.contains(NodeId()));
  CHECK(values.get(NodeId(1), 5) == 8);
  CHECK(values.get(NodeId(2), 5) == 5);
  CHECK(values.get(NodeId()) == 0);
  values[NodeId(0)] = 3;
  CHECK(values.get(NodeId(0)) == 3);
}

TEST_CASE(
    "id vector: a vector by id grows with what it is told, keeps what it has and never shrinks") {
  IdVector<SlotId, int> values;
  values.push_back(1);
  values.grow(3, 9);
  CHECK(values.size() == 3);
  CHECK(values[SlotId(0)] == 1);
  CHECK(values[SlotId(1)] == 9);
  CHECK(values[SlotId(2)] == 9);
  values.grow(2, 4);
  CHECK(values.size() == 3);
  CHECK(values[SlotId(2)] == 9);
  IdVector<SlotId, bool> flags;
  flags.grow(2, true);
  CHECK(flags.get(SlotId(1)));
  CHECK(!flags.get(SlotId(2)));
}

}  // namespace triescope

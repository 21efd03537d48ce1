// The tensors of a pickled dictionary, as torch.save writes a state_dict. It is read by a stack
// machine of few opcodes that makes dictionaries, tuples, numbers, texts, references to storages
// and tensors, and nothing else. Nothing is imported or called: a global is compared with a list of
// names, and what those do is done here. Everything else is an Error that names it and the byte.
//
//   opcodes   PROTO FRAME STOP MARK, NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1,
//             BINUNICODE SHORT_BINUNICODE, EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3,
//             EMPTY_DICT SETITEM SETITEMS, BINPUT LONG_BINPUT MEMOIZE BINGET LONG_BINGET,
//             GLOBAL STACK_GLOBAL REDUCE BUILD BINPERSID
//   globals   collections.OrderedDict, torch._utils._rebuild_tensor_v2,
//             torch.{Float,Half,BFloat16,Long,Bool}Storage
//
// Source: CPython Lib/pickletools.py (opcodes), torch/_utils.py and torch/serialization.py (what
// the globals and the persistent ids mean).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace triescope::formats {

struct PickledTensor {
  std::string name;
  std::string dtype;                // "F32", "F16", "BF16", "I64", "BOOL"
  std::vector<std::int64_t> shape;  // contiguous
  std::int64_t elements = 0;
  std::string storage;                // its key: the name of the entry that holds the values
  std::int64_t storage_elements = 0;  // size of the storage, which several tensors may share
  std::int64_t first = 0;             // this tensor's first value in the storage
};

// Bytes of one value of this dtype.
int pickled_width(const std::string& dtype);

// The tensors are in the dictionary's order, with distinct names and inside their storages. `name`
// is for messages. Errors: kCorruption; kNotSupported: an opcode, a global or a value not listed
// above.
std::vector<PickledTensor> read_pickle(std::span<const std::byte> pickle, const std::string& name);

}  // namespace triescope::formats

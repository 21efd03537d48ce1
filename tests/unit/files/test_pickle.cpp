#include "core/files/pickle.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/support/pickle_bytes.h"
#include "tests/support/refusal.h"

namespace test_pickle {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

std::vector<PickledTensor> read(const std::string& pickle) {
  return read_pickle(std::as_bytes(std::span(pickle)), "x.bin");
}

std::string refusal_of(const std::string& pickle, ErrorCode code) {
  return refusal(code, [&] { read(pickle); });
}

std::string with(const std::string& tensor) { return pickle_of(pickled("w") + tensor); }

}  // namespace

TEST_CASE(
    "pickle: a dictionary of tensors is read with types, shapes and places in their storages") {
  const auto tensors =
      read(pickle_of(pickled("a") + pickled_tensor({}) + pickled("b") +
                     pickled_tensor({"HalfStorage", "1", 10, 2, {4}, {1}}) + pickled("c") +
                     pickled_tensor({"BFloat16Storage", "2", 1, 0, {}, {}}) + pickled("d") +
                     pickled_tensor({"LongStorage", "3", 5, 5, {0, 3}, {7, 7}}) + pickled("e") +
                     pickled_tensor({"BoolStorage", "3x", 5, 0, {1, 5}, {99, 1}})));
  REQUIRE(tensors.size() == 5);
  CHECK(tensors[0].name == "a");
  CHECK(tensors[0].dtype == "F32");
  CHECK(tensors[0].shape == std::vector<std::int64_t>{2, 3});
  CHECK(tensors[0].elements == 6);
  CHECK(tensors[0].storage == "0");
  CHECK(tensors[0].storage_elements == 6);
  CHECK(tensors[0].first == 0);
  CHECK(tensors[1].dtype == "F16");
  CHECK(tensors[1].elements == 4);
  CHECK(tensors[1].storage_elements == 10);
  CHECK(tensors[1].first == 2);
  CHECK(tensors[2].dtype == "BF16");
  CHECK(tensors[2].shape.empty());
  CHECK(tensors[2].elements == 1);
  CHECK(tensors[3].dtype == "I64");
  CHECK(tensors[3].elements == 0);
  CHECK(tensors[4].dtype == "BOOL");
  CHECK(tensors[4].storage == "3x");
  CHECK(pickled_width("F32") == 4);
  CHECK(pickled_width("F16") == 2);
  CHECK(pickled_width("BF16") == 2);
  CHECK(pickled_width("I64") == 8);
  CHECK(pickled_width("BOOL") == 1);
}

TEST_CASE(
    "pickle: memory, protocol 4 and a state_dict's attributes are read as Python reads them") {
  // The key comes out of the memo; the dictionary is an OrderedDict with attributes.
  const std::string tensor = pickled_tensor({});
  const std::string two = "\x80\x02" + pickled_global("collections", "OrderedDict") + ")R(" +
                          pickled("w") + "q\x05" + tensor + pickled("v") + tensor + "u}" +
                          pickled("_metadata") + "}h\x05K\x01ssb.";
  const auto tensors = read(two);
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].name == "w");
  CHECK(tensors[1].name == "v");
  // FRAME, SHORT_BINUNICODE, MEMOIZE, BINGET of the first memo, STACK_GLOBAL, LONG1, TUPLE1 to 3.
  const std::string four = std::string("\x80\x04\x95") + std::string(8, '\0') +
                           "}\x8c\x01w\x94\x8c\x0ctorch._utils\x8c\x12_rebuild_tensor_v2\x93((" +
                           pickled("storage") + pickled_global("torch", "FloatStorage") +
                           pickled("0") + pickled("cpu") + "\x8a\x02\x2c\x01tQ\x8a" +
                           std::string(1, '\0') + "K\x02M\x03" + std::string(1, '\0') +
                           "\x86K\x03K\x01\x86\x88NtRs.";
  const auto made = read(four);
  REQUIRE(made.size() == 1);
  CHECK(made[0].name == "w");
  CHECK(made[0].storage_elements == 300);
  CHECK(made[0].first == 0);
  CHECK(made[0].shape == std::vector<std::int64_t>{2, 3});
  CHECK(read("\x80\x02}.").empty());
}

TEST_CASE("nothing is imported: any other global is refused by name and byte") {
  const std::string call =
      "\x80\x02" + pickled_global("os", "system") + "(" + pickled("true") + "tR.";
  const std::string said = refusal_of(call, ErrorCode::kNotSupported);
  CHECK(has(said, "x.bin: byte 2 asks for 'os system'"));
  CHECK(has(said, "nothing of it is executed"));
  CHECK(has(said, "safetensors"));
  CHECK(has(refusal_of(std::string("\x80\x02") + pickled("builtins") + pickled("eval") + "\x93.",
                       ErrorCode::kNotSupported),
            "byte 24 asks for 'builtins eval'"));
  CHECK(has(
      refusal_of(with(pickled_tensor({.storage_type = "CharStorage"})), ErrorCode::kNotSupported),
      "'torch CharStorage'"));
  CHECK(has(refusal_of(with(pickled_tensor({.storage_type = "Float"})), ErrorCode::kNotSupported),
            "'torch Float'"));
}

TEST_CASE("pickle: every opcode that is not on the list is refused by number and byte") {
  const std::string known =
      std::string("\x80\x95.(NJKMXqrhj)t}sucRbQ") + "\x88\x89\x8a\x8c\x85\x86\x87\x94\x93";
  int refused = 0;
  for (int opcode = 0; opcode < 256; ++opcode) {
    if (known.find(static_cast<char>(opcode)) != std::string::npos) continue;
    const std::string said = refusal_of(
        "\x80\x02}" + std::string(1, static_cast<char>(opcode)) + std::string(16, '\0') + ".",
        ErrorCode::kNotSupported);
    CHECK(has(said, "byte 3 has opcode 0x"));
    ++refused;
  }
  CHECK(refused == 256 - 31);
  CHECK(has(refusal_of("\x80\x02i", ErrorCode::kNotSupported), "opcode 0x69 'i'"));
  CHECK(has(refusal_of("\x80\x02\x81", ErrorCode::kNotSupported), "byte 2 has opcode 0x81;"));
}

TEST_CASE("pickle: what is not a dictionary of tensors is refused by what it is") {
  CHECK(has(refusal_of("\x80\x02N.", ErrorCode::kNotSupported), "holds None, not a dictionary"));
  CHECK(has(refusal_of("\x80\x02" + pickled("x") + ".", ErrorCode::kNotSupported), "holds a text"));
  CHECK(has(refusal_of(with("}"), ErrorCode::kNotSupported), "'w' is a dictionary, not a tensor"));
  CHECK(
      has(refusal_of(with("K\x01"), ErrorCode::kNotSupported), "'w' is an integer, not a tensor"));
  CHECK(has(refusal_of("\x80\x02}K\x01" + pickled_tensor({}) + "s.", ErrorCode::kCorruption),
            "texts as the names"));
  CHECK(has(
      refusal_of(pickle_of(pickled("w") + pickled_tensor({}) + pickled("w") + pickled_tensor({})),
                 ErrorCode::kCorruption),
      "found 'w' again"));
  CHECK(has(refusal_of("\x80\x01}.", ErrorCode::kNotSupported), "protocol 1 of pickle"));
  CHECK(has(refusal_of("\x80\x06}.", ErrorCode::kNotSupported), "protocol 6 of pickle"));
}

TEST_CASE("pickle: a tensor must lie in its storage, value after value") {
  CHECK(read(with(pickled_tensor({.first = 0}))).size() == 1);
  CHECK(has(refusal_of(with(pickled_tensor({.first = 1})), ErrorCode::kCorruption),
            "6 values from 1 in a storage of 6"));
  CHECK(has(refusal_of(with(pickled_tensor({.first = -1})), ErrorCode::kCorruption),
            "6 values from -1"));
  CHECK(has(refusal_of(with(pickled_tensor({.first = 7})), ErrorCode::kCorruption),
            "6 values from 7"));
  CHECK(has(refusal_of(with(pickled_tensor({.storage_elements = 5})), ErrorCode::kCorruption),
            "in a storage of 5"));
  CHECK(has(refusal_of(with(pickled_tensor({.storage_elements = -6})), ErrorCode::kCorruption),
            "a storage:"));
  CHECK(has(refusal_of(with(pickled_tensor({.strides = {1, 2}})), ErrorCode::kNotSupported),
            "shape [2, 3] with strides [1, 2]"));
  CHECK(has(refusal_of(with(pickled_tensor({.strides = {3}})), ErrorCode::kCorruption),
            "with a stride each"));
  CHECK(has(refusal_of(with(pickled_tensor({.shape = {-2, 3}})), ErrorCode::kCorruption),
            "0 or more"));
  CHECK(has(refusal_of(with(pickled_tensor({.storage_elements = 1,
                                            .shape = {1, 1, 1, 1, 1, 1, 1, 1, 1},
                                            .strides = {1, 1, 1, 1, 1, 1, 1, 1, 1}})),
                       ErrorCode::kCorruption),
            "at most 8 dimensions"));
  const int big = 1 << 20;
  CHECK(
      has(refusal_of(with(pickled_tensor({.shape = {big, big, big, big}, .strides = {1, 1, 1, 1}})),
                     ErrorCode::kCorruption),
          "fewer than 2^56"));
}

TEST_CASE(
    "pickle: a pickle that ends early or whose stack does not fit is damaged, and says at which byte") {
  const std::string good = with(pickled_tensor({}));
  CHECK(read(good).size() == 1);
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK(has(refusal_of(good.substr(0, size), ErrorCode::kCorruption), "expected"));
  CHECK(has(refusal_of("\x80\x02s.", ErrorCode::kCorruption),
            "byte 2: expected a value on the stack"));
  CHECK(has(refusal_of("\x80\x02}u.", ErrorCode::kCorruption), "byte 3: expected a mark"));
  CHECK(has(refusal_of("\x80\x02}(K\x01u.", ErrorCode::kCorruption), "in pairs"));
  CHECK(has(refusal_of("\x80\x02}(s.", ErrorCode::kCorruption),
            "expected a value on the stack"));  // not past the mark
  CHECK(has(refusal_of("\x80\x02}h\x01.", ErrorCode::kCorruption), "memorised as 1"));
  CHECK(has(refusal_of("\x80\x02}}.", ErrorCode::kCorruption), "one value at the end"));
  CHECK(has(refusal_of("\x80\x02}NR.", ErrorCode::kCorruption), "expected a tuple, found None"));
  CHECK(has(refusal_of("\x80\x02N)R.", ErrorCode::kCorruption), "expected a global, found None"));
  CHECK(has(refusal_of("\x80\x02" + pickled_global("torch", "FloatStorage") + ")R.",
                       ErrorCode::kCorruption),
            "expected a function"));
  CHECK(has(refusal_of("\x80\x02" + pickled_global("collections", "OrderedDict") + "(K\x01tR.",
                       ErrorCode::kCorruption),
            "without arguments"));
  CHECK(has(refusal_of("\x80\x02" + pickled_global("torch._utils", "_rebuild_tensor_v2") + ")R.",
                       ErrorCode::kCorruption),
            "storage, offset"));
  CHECK(has(refusal_of("\x80\x02)Q.", ErrorCode::kCorruption), "a storage:"));
  CHECK(
      has(refusal_of("\x80\x02" + ("c" + std::string(300, 'a')) + "\nb\n.", ErrorCode::kCorruption),
          "at most 255"));
  CHECK(has(refusal_of("\x80\x02\x8a\x09"
                       "zzzzzzzzz.",
                       ErrorCode::kNotSupported),
            "more than 8 bytes"));
}

TEST_CASE("pickle: negative integers of LONG1 keep their sign") {
  const std::string said = refusal_of(
      with(pickled_global("torch._utils", "_rebuild_tensor_v2") + "((" + pickled("storage") +
           pickled_global("torch", "FloatStorage") + pickled("0") + pickled("cpu") +
           "K\x06tQ\x8a\x02\xfe\xff" + pickled_tuple({6}) + pickled_tuple({1}) + "NNtR"),
      ErrorCode::kCorruption);
  CHECK(has(said, "values from -2"));
}

}  // namespace test_pickle

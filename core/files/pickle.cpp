#include "core/files/pickle.h"

#include <array>
#include <cstdio>
#include <set>
#include <unordered_map>

#include "core/base/error.h"
#include "core/files/shape_text.h"

namespace triescope::formats {
namespace {

constexpr std::size_t kMaxPickleValues = std::size_t{1} << 20;
constexpr std::size_t kMaxDimensions = 8;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;

struct Storage {
  const char* global;
  const char* dtype;
  int width;
};
constexpr Storage kStorages[] = {
    {"torch DoubleStorage", "F64", 8}, {"torch FloatStorage", "F32", 4},
    {"torch HalfStorage", "F16", 2},   {"torch BFloat16Storage", "BF16", 2},
    {"torch LongStorage", "I64", 8},   {"torch BoolStorage", "BOOL", 1}};
constexpr const char* kOrderedDict = "collections OrderedDict";
constexpr const char* kRebuildTensor = "torch._utils _rebuild_tensor_v2";

enum class Kind : std::uint8_t {
  kNone,
  kBool,
  kInt,
  kText,
  kGlobal,
  kTuple,
  kDict,
  kStorage,
  kTensor
};

const char* noun(Kind kind) {
  static constexpr const char* kNouns[] = {"None",         "a boolean", "an integer",
                                           "a text",       "a global",  "a tuple",
                                           "a dictionary", "a storage", "a tensor"};
  return kNouns[static_cast<int>(kind)];
}

using Ref = std::uint32_t;  // index of a value; values never move or disappear

struct Value {
  Kind kind = Kind::kNone;
  std::int64_t number = 0;  // kInt, kBool: the value; kStorage: number of values in it
  std::string text;         // kText, kGlobal; kStorage: its key
  std::string dtype;        // kStorage
  // kTuple: items; kDict: key, value, key, ...; kTensor: storage, first, shape, strides.
  std::vector<Ref> items;
};

class Machine {
 public:
  Machine(std::span<const std::byte> pickle, const std::string& name)
      : pickle_(pickle), name_(name) {}

  std::vector<PickledTensor> run() {
    while (step()) {
    }
    if (stack_.size() != 1) corrupt("one value at the end");
    const Value& top = values_[stack_[0]];
    if (top.kind != Kind::kDict)
      refuse(std::string("the file holds ") + noun(top.kind) + ", not a dictionary of tensors");
    std::vector<PickledTensor> tensors;
    std::set<std::string> names;
    for (std::size_t i = 0; i + 1 < top.items.size(); i += 2) {
      const Value& key = values_[top.items[i]];
      if (key.kind != Kind::kText) corrupt("texts as the names of tensors");
      if (!names.insert(key.text).second)
        corrupt("each name once, found '" + key.text.substr(0, 200) + "' again");
      tensors.push_back(tensor(key.text, values_[top.items[i + 1]]));
    }
    return tensors;
  }

 private:
  [[noreturn]] void corrupt(const std::string& expected) const {
    throw Error(ErrorCode::kCorruption, name_ + ": byte " + std::to_string(at_) + ": expected " +
                                            expected + "; the pickle is damaged, fetch it again");
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(
        ErrorCode::kNotSupported,
        name_ + ": " + what +
            "; only tensors in a dictionary are read from a pickle and nothing of it is executed. "
            "Save its state_dict as safetensors and open that");
  }

  std::uint64_t number(int bytes) {
    if (pickle_.size() - next_ < static_cast<std::size_t>(bytes)) corrupt("more bytes");
    std::uint64_t value = 0;
    for (int i = bytes; i-- > 0;)
      value =
          value << 8 | std::to_integer<std::uint64_t>(pickle_[next_ + static_cast<std::size_t>(i)]);
    next_ += static_cast<std::size_t>(bytes);
    return value;
  }
  std::string bytes(std::uint64_t size) {
    if (pickle_.size() - next_ < size) corrupt("a text of " + std::to_string(size) + " bytes");
    std::string text(reinterpret_cast<const char*>(pickle_.data()) + next_, size);
    next_ += size;
    return text;
  }
  std::string line() {
    std::string text;
    for (char c = static_cast<char>(number(1)); c != '\n'; c = static_cast<char>(number(1))) {
      text += c;
      if (text.size() > 255) corrupt("a line of at most 255 bytes");
    }
    return text;
  }

  void push(Ref ref) { stack_.push_back(ref); }
  Value& make(Kind kind) {
    if (values_.size() == kMaxPickleValues)
      corrupt("at most " + std::to_string(kMaxPickleValues) + " values");
    push(static_cast<Ref>(values_.size()));
    values_.emplace_back();
    values_.back().kind = kind;
    return values_.back();
  }
  Ref pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) corrupt("a value on the stack");
    const Ref ref = stack_.back();
    stack_.pop_back();
    return ref;
  }
  Ref pop(Kind kind) {
    const Ref ref = pop();
    if (values_[ref].kind != kind)
      corrupt(std::string(noun(kind)) + ", found " + noun(values_[ref].kind));
    return ref;
  }
  // Everything pushed since the last mark.
  std::vector<Ref> pop_to_mark() {
    if (marks_.empty()) corrupt("a mark on the stack");
    const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Ref> items(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return items;
  }
  Ref top() {
    const Ref ref = pop();
    push(ref);
    return ref;
  }

  void tuple(std::size_t size) {
    std::vector<Ref> items(size);
    for (std::size_t i = size; i-- > 0;) items[i] = pop();
    make(Kind::kTuple).items = std::move(items);
  }
  void global(const std::string& asked) {
    bool known = asked == kOrderedDict || asked == kRebuildTensor;
    for (const Storage& storage : kStorages) known = known || asked == storage.global;
    if (!known) refuse("byte " + std::to_string(at_) + " asks for '" + asked + "'");
    make(Kind::kGlobal).text = asked;
  }
  void memoize(std::uint64_t key) { memo_[key] = top(); }
  void recall(std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) corrupt("a value memorised as " + std::to_string(key));
    push(found->second);
  }
  void set_items(const std::vector<Ref>& items) {
    if (items.size() % 2 != 0) corrupt("keys and values in pairs");
    const Ref dict = pop(Kind::kDict);
    Value& value = values_[dict];
    value.items.insert(value.items.end(), items.begin(), items.end());
    push(dict);
  }

  // ('storage', type, key, device, values) -> a storage.
  void persistent_id() {
    const Ref id = pop(Kind::kTuple);
    const std::vector<Ref> items = values_[id].items;
    if (items.size() != 5 || values_[items[0]].kind != Kind::kText ||
        values_[items[0]].text != "storage" || values_[items[1]].kind != Kind::kGlobal ||
        values_[items[2]].kind != Kind::kText || values_[items[4]].kind != Kind::kInt ||
        values_[items[4]].number < 0) {
      corrupt("a storage: ('storage', type, key, device, values)");
    }
    const std::string type = values_[items[1]].text;
    const char* dtype = nullptr;
    for (const Storage& storage : kStorages)
      if (type == storage.global) dtype = storage.dtype;
    if (dtype == nullptr) corrupt("a type of storage, found " + type);
    const std::string key = values_[items[2]].text;
    const std::int64_t count = values_[items[4]].number;
    Value& made = make(Kind::kStorage);
    made.text = key;
    made.dtype = dtype;
    made.number = count;
  }

  // Calls one of the two functions that exist.
  void reduce() {
    const Ref arguments = pop(Kind::kTuple);
    const Ref function = pop(Kind::kGlobal);
    const std::vector<Ref> items = values_[arguments].items;
    if (values_[function].text == kOrderedDict) {
      if (!items.empty()) corrupt("OrderedDict() without arguments");
      make(Kind::kDict);
      return;
    }
    if (values_[function].text != kRebuildTensor)
      corrupt("a function, found " + values_[function].text);
    // storage, first value, size, stride, requires_grad, backward hooks[, metadata]
    if (items.size() < 6 || items.size() > 7 || values_[items[0]].kind != Kind::kStorage ||
        values_[items[1]].kind != Kind::kInt || values_[items[2]].kind != Kind::kTuple ||
        values_[items[3]].kind != Kind::kTuple) {
      corrupt("a tensor: storage, offset, size and stride");
    }
    make(Kind::kTensor).items = {items[0], items[1], items[2], items[3]};
  }

  // A dictionary's attributes (a state_dict's versions) are dropped.
  void build() {
    pop(Kind::kDict);
    push(pop(Kind::kDict));
  }

  std::vector<std::int64_t> integers(const Value& tuple, const std::string& who) const {
    std::vector<std::int64_t> result;
    for (const Ref item : tuple.items) {
      if (values_[item].kind != Kind::kInt || values_[item].number < 0)
        corrupt(who + ": sizes and strides of 0 or more");
      result.push_back(values_[item].number);
    }
    return result;
  }

  PickledTensor tensor(const std::string& name, const Value& value) const {
    const std::string who = "tensor '" + name.substr(0, 200) + "'";
    if (value.kind != Kind::kTensor)
      refuse("'" + name.substr(0, 200) + "' is " + noun(value.kind) + ", not a tensor");
    const Value& storage = values_[value.items[0]];
    PickledTensor tensor;
    tensor.name = name;
    tensor.dtype = storage.dtype;
    tensor.storage = storage.text;
    tensor.storage_elements = storage.number;
    tensor.first = values_[value.items[1]].number;
    tensor.shape = integers(values_[value.items[2]], who);
    const std::vector<std::int64_t> strides = integers(values_[value.items[3]], who);
    if (tensor.shape.size() > kMaxDimensions || strides.size() != tensor.shape.size())
      corrupt(who + ": at most 8 dimensions, with a stride each");
    std::int64_t elements = 1;
    bool contiguous = true;
    for (std::size_t i = tensor.shape.size(); i-- > 0;) {
      contiguous = contiguous && (tensor.shape[i] == 1 || strides[i] == elements);
      if (tensor.shape[i] != 0 && elements > kMaxElements / tensor.shape[i])
        corrupt(who + ": fewer than 2^56 values");
      elements *= tensor.shape[i];
    }
    if (!contiguous && elements != 0) {
      refuse(who + ": expected its values one after the other, found shape " +
             shape_text(tensor.shape) + " with strides " + shape_text(strides));
    }
    if (tensor.first < 0 || tensor.first > storage.number ||
        elements > storage.number - tensor.first) {
      corrupt(who + ": its " + std::to_string(elements) + " values from " +
              std::to_string(tensor.first) + " in a storage of " + std::to_string(storage.number));
    }
    tensor.elements = elements;
    return tensor;
  }

  bool step();

  std::span<const std::byte> pickle_;
  const std::string& name_;
  std::size_t at_ = 0, next_ = 0;  // position of the opcode, and behind what was read
  std::vector<Value> values_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::unordered_map<std::uint64_t, Ref> memo_;
};

// Runs one opcode; false: it was STOP.
bool Machine::step() {
  at_ = next_;
  const auto opcode = static_cast<unsigned char>(number(1));
  switch (opcode) {
    case 0x80:  // PROTO
      if (const std::uint64_t version = number(1); version < 2 || version > 5)
        refuse("protocol " + std::to_string(version) + " of pickle (2 to 5 are read)");
      return true;
    case 0x95:  // FRAME: a hint for reading in pieces
      number(8);
      return true;
    case '.':
      return false;
    case '(':
      marks_.push_back(stack_.size());
      return true;
    case 'N':
      make(Kind::kNone);
      return true;
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      make(Kind::kBool).number = opcode == 0x88 ? 1 : 0;
      return true;
    case 'J': {
      const auto value = static_cast<std::int32_t>(static_cast<std::uint32_t>(number(4)));
      make(Kind::kInt).number = value;
      return true;
    }
    case 'K':
    case 'M': {
      const auto value = static_cast<std::int64_t>(number(opcode == 'K' ? 1 : 2));
      make(Kind::kInt).number = value;
      return true;
    }
    case 0x8a: {  // LONG1: two's complement, low byte first
      const auto size = static_cast<int>(number(1));
      if (size > 8)
        refuse("byte " + std::to_string(at_) + " holds an integer of more than 8 bytes");
      std::uint64_t value = number(size);
      if (size > 0 && size < 8 && (value >> (8 * size - 1) & 1) != 0)
        value |= ~std::uint64_t{0} << (8 * size);
      make(Kind::kInt).number = static_cast<std::int64_t>(value);
      return true;
    }
    case 'X':
    case 0x8c: {  // SHORT_BINUNICODE
      std::string text = bytes(number(opcode == 'X' ? 4 : 1));
      make(Kind::kText).text = std::move(text);
      return true;
    }
    case ')':
      tuple(0);
      return true;
    case 't': {
      std::vector<Ref> items = pop_to_mark();
      make(Kind::kTuple).items = std::move(items);
      return true;
    }
    case 0x85:  // TUPLE1
    case 0x86:
    case 0x87:
      tuple(opcode - 0x84u);
      return true;
    case '}':
      make(Kind::kDict);
      return true;
    case 's': {
      const Ref value = pop(), key = pop();
      set_items({key, value});
      return true;
    }
    case 'u':
      set_items(pop_to_mark());
      return true;
    case 'q':
    case 'r':
      memoize(number(opcode == 'q' ? 1 : 4));
      return true;
    case 0x94:  // MEMOIZE
      memoize(memo_.size());
      return true;
    case 'h':
    case 'j':
      recall(number(opcode == 'h' ? 1 : 4));
      return true;
    case 'c': {
      const std::string module = line();
      global(module + " " + line());
      return true;
    }
    case 0x93: {  // STACK_GLOBAL
      const Ref name = pop(Kind::kText), module = pop(Kind::kText);
      global(values_[module].text + " " + values_[name].text);
      return true;
    }
    case 'R':
      reduce();
      return true;
    case 'b':
      build();
      return true;
    case 'Q':
      persistent_id();
      return true;
    default: {
      std::array<char, 8> hex{};
      std::snprintf(hex.data(), hex.size(), "0x%02x", static_cast<unsigned>(opcode));
      refuse("byte " + std::to_string(at_) + " has opcode " + hex.data() +
             (opcode > ' ' && opcode < 0x7f ? std::string(" '") + static_cast<char>(opcode) + "'"
                                            : ""));
    }
  }
}

}  // namespace

int pickled_width(const std::string& dtype) {
  for (const Storage& storage : kStorages)
    if (dtype == storage.dtype) return storage.width;
  throw Error(ErrorCode::kInvalidArgument, "expected a dtype of a pickled tensor, found " + dtype);
}

std::vector<PickledTensor> read_pickle(std::span<const std::byte> pickle, const std::string& name) {
  return Machine(pickle, name).run();
}

}  // namespace triescope::formats

// A datastore file: opening it, reading it whole, and looking things up in one whose tokens and order are
// whatever they are. The first bytes are the context that is looked up.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/hash.h"
#include "core/lookup/datastore.h"
#include "tests/fuzz/fuzz.h"

using namespace triescope;

namespace {

// Opening compares hashes, which a fuzzer does not hit: the header's is put right here.
void open_and_ask(std::vector<std::int32_t> words, std::span<const std::int32_t> context) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(words));
  fuzz::tolerate_refusal([&] {
    const Datastore store(bytes, "fuzz.tsds");
    for (const int key : {1, 2, 16}) {
      const auto answer = store.index().continuations(context, key, 31, 64, 10);
      for (const auto& node : answer.nodes)
        if (node.token < 0 || node.token >= store.info().vocab_size) __builtin_trap();
    }
    store.check();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kContext = 8, kHeader = 16;
  std::vector<std::int32_t> words(size / 4);
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * 4);
  std::vector<std::int32_t> context;
  for (std::size_t i = 0; i < std::min(kContext, size); ++i) context.push_back(data[size - 1 - i]);
  open_and_ask(words, context);
  if (words.size() < kHeader) return 0;
  const std::uint64_t right = hash_bytes(std::as_bytes(std::span(words).first(12)));
  std::memcpy(words.data() + 12, &right, sizeof right);
  const std::uint64_t n = (words.size() - kHeader) / 2;
  open_and_ask(words, context);
  // And its size, so that most inputs are opened.
  std::memcpy(words.data() + 4, &n, sizeof n);
  words.resize(kHeader + 2 * n);
  const std::uint64_t again = hash_bytes(std::as_bytes(std::span(words).first(12)));
  std::memcpy(words.data() + 12, &again, sizeof again);
  open_and_ask(words, context);
  return 0;
}

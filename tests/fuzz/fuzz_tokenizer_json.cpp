// tokenizer.json, then a text for it: what follows the first zero byte (or a fixed one) is encoded
// and decoded.
#include <algorithm>

#include "core/text/tokenizer/spec.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/fuzz/fuzz.h"

using namespace triescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all = fuzz::text_of(data, size);
  const std::size_t end = std::min(all.find('\0'), all.size());
  const std::string_view text =
      end < all.size() ? all.substr(end + 1) : std::string_view("ab \xC3\xA9 12<s>a");
  fuzz::tolerate_refusal([&] {
    const auto tokenizer =
        tokenizer::make_tokenizer(tokenizer::spec_from_json(all.substr(0, end), "tokenizer.json"));
    const auto ids = tokenizer->encode(text);
    tokenizer->decode(ids, true);
    StreamDecoder stream(*tokenizer);
    for (const std::int32_t id : ids) stream.push(id);
    stream.finish();
  });
  return 0;
}

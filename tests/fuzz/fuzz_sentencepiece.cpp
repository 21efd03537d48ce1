// tokenizer.model (SentencePiece's protobuf), then a text for it: what follows the last two zero
// bytes in a row (or a fixed one) is encoded and decoded.
#include "core/text/tokenizer/spec.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/fuzz/fuzz.h"

using namespace triescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all = fuzz::text_of(data, size);
  const std::size_t end = all.rfind(std::string_view("\0\0", 2));
  const bool has_text = end != std::string_view::npos;
  const std::string_view text =
      has_text ? all.substr(end + 2) : std::string_view("ab \xC3\xA9 12<s>a  <x>");
  fuzz::tolerate_refusal([&] {
    const auto tokenizer = tokenizer::make_tokenizer(
        tokenizer::spec_from_sentencepiece(has_text ? all.substr(0, end) : all, "tokenizer.model"));
    const auto ids = tokenizer->encode(text);
    tokenizer->decode(ids, true);
    StreamDecoder stream(*tokenizer);
    for (const std::int32_t id : ids) stream.push(id);
    stream.finish();
  });
  return 0;
}

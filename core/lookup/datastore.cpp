#include "core/lookup/datastore.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace triescope {
namespace {

static_assert(std::endian::native == std::endian::little, "datastores are written as they lie");

constexpr std::string_view kMagic = "TRIESTOR";
constexpr std::uint32_t kVersion = 1;
constexpr int kMostIds = 1 << 24;

struct Header {
  std::array<char, 8> magic{};
  std::uint32_t version = kVersion;
  std::uint32_t sorted_tokens = SuffixArray::kSortedTokens;
  std::uint64_t tokens = 0;
  std::uint64_t vocabulary_hash = 0;
  std::uint32_t vocab_size = 0;
  std::uint32_t documents = 0;
  std::uint64_t payload_hash = 0;
  std::uint64_t header_hash = 0;
  std::uint64_t zero = 0;
};
static_assert(sizeof(Header) == 64);
constexpr std::size_t kHashed = offsetof(Header, header_hash);

std::uint64_t header_hash(const Header& header) {
  return hash_bytes({reinterpret_cast<const std::byte*>(&header), kHashed});
}

}  // namespace

bool Datastore::is_one(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> magic{};
  return file.read(magic.data(), magic.size()) &&
         std::string_view(magic.data(), magic.size()) == kMagic;
}

Datastore::Datastore(const std::string& path)
    : name_(path), file_(std::make_unique<MappedFile>(path)), index_({}) {
  open(file_->bytes());
}

Datastore::Datastore(std::span<const std::byte> bytes, const std::string& name)
    : name_(name), index_({}) {
  open(bytes);
}

void Datastore::open(std::span<const std::byte> bytes) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kCorruption, name_ + ": " + what);
  };
  const auto expect = [&](const char* field, std::uint64_t expected, std::uint64_t found) {
    if (expected != found)
      refuse(std::string(field) + ": expected " + std::to_string(expected) + ", found " +
             std::to_string(found));
  };
  Header header;
  if (bytes.size() < sizeof header)
    refuse("expected a datastore, found a file of " + std::to_string(bytes.size()) + " bytes");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::string_view(header.magic.data(), header.magic.size()) != kMagic)
    refuse("expected a datastore (triescope datastore build), found another file");
  if (header.version != kVersion)
    throw Error(ErrorCode::kNotSupported, name_ + ": a datastore of version " +
                                              std::to_string(header.version) +
                                              "; this program reads version " +
                                              std::to_string(kVersion) + ". Build it again");
  expect("hash of the header", header_hash(header), header.header_hash);
  expect("sorted tokens", SuffixArray::kSortedTokens, header.sorted_tokens);
  expect("reserved bytes", 0, header.zero);
  if (header.tokens > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
    refuse("tokens: expected fewer than 2^31, found " + std::to_string(header.tokens));
  if (header.vocab_size > static_cast<std::uint32_t>(kMostIds))
    refuse("vocabulary: expected at most 2^24 ids, found " + std::to_string(header.vocab_size));
  if (header.documents > header.tokens)
    refuse("documents: expected at most one a token, found " + std::to_string(header.documents));
  expect("size in bytes", sizeof header + 8 * header.tokens, bytes.size());
  const auto n = static_cast<std::size_t>(header.tokens);
  payload_ = bytes.subspan(sizeof header);
  payload_hash_ = header.payload_hash;
  // A mapping begins at a page, a fuzzer's bytes anywhere.
  if (reinterpret_cast<std::uintptr_t>(payload_.data()) % alignof(std::int32_t) != 0)
    refuse("expected bytes that lie at a multiple of 4");
  tokens_ = {reinterpret_cast<const std::int32_t*>(payload_.data()), n};
  order_ = {tokens_.data() + n, n};
  info_ = {.tokens = header.tokens,
           .documents = header.documents,
           .file_bytes = bytes.size(),
           .vocab_size = static_cast<int>(header.vocab_size),
           .vocabulary_hash = header.vocabulary_hash};
  index_ = SuffixArray(tokens_, order_, kEndOfDocument, info_.vocab_size);
}

void Datastore::check() const {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kCorruption, name_ + ": " + what);
  };
  if (hash_bytes(payload_) != payload_hash_)
    refuse(
        "tokens and order are not those that were written: their hash is another. Build it again");
  std::uint64_t documents = 0;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    documents += tokens_[i] == kEndOfDocument;
    if (tokens_[i] != kEndOfDocument && (tokens_[i] < 0 || tokens_[i] >= info_.vocab_size))
      refuse("token " + std::to_string(i) + ": expected an id below " +
             std::to_string(info_.vocab_size) + ", found " + std::to_string(tokens_[i]));
  }
  if (documents != info_.documents)
    refuse("documents: expected " + std::to_string(info_.documents) + " ends, found " +
           std::to_string(documents));
  std::vector<bool> seen(order_.size());
  for (const std::int32_t place : order_) {
    if (place < 0 || static_cast<std::size_t>(place) >= order_.size() ||
        seen[static_cast<std::size_t>(place)])
      refuse("order: expected every place once, found " + std::to_string(place) + " again or none");
    seen[static_cast<std::size_t>(place)] = true;
  }
  if (const std::size_t at = index_.first_out_of_order(); at < order_.size())
    refuse("order: entry " + std::to_string(at) + " is out of order");
}

void Datastore::write(const std::string& path, std::span<const std::int32_t> tokens,
                      std::span<const std::int32_t> order, int vocab_size,
                      std::uint64_t vocabulary_hash) {
  if (tokens.size() != order.size() || (!tokens.empty() && tokens.back() != kEndOfDocument))
    throw Error(ErrorCode::kInvalidArgument,
                "datastore: expected documents with their ends and an order of the same size");
  Header header;
  std::ranges::copy(kMagic, header.magic.begin());
  header.tokens = tokens.size();
  header.vocabulary_hash = vocabulary_hash;
  header.vocab_size = static_cast<std::uint32_t>(vocab_size);
  header.documents = static_cast<std::uint32_t>(std::ranges::count(tokens, kEndOfDocument));
  const auto as_bytes_of = [](std::span<const std::int32_t> values) {
    return std::as_bytes(values);
  };
  header.payload_hash = hash_bytes(as_bytes_of(order), hash_bytes(as_bytes_of(tokens)));
  header.header_hash = header_hash(header);

  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  const auto put = [&](std::span<const std::byte> bytes) {
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  put(std::as_bytes(std::span(&header, 1)));
  put(as_bytes_of(tokens));
  put(as_bytes_of(order));
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(part, path, error);
  if (!file || error) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw Error(ErrorCode::kIoError,
                path + ": cannot be written" + (error ? ": " + error.message() : std::string()));
  }
}

}  // namespace triescope

// A datastore file: tokens of many documents and their suffix array, built once (`triescope datastore build`)
// and then opened by mapping it, so that a start costs nothing however large it is.
//
//   0  "TRIESTOR"                     32  u32  ids are below this
//   8  u32  version, 1                36  u32  documents
//  12  u32  tokens that are sorted    40  u64  hash of everything from byte 64 on
//  16  u64  n                         48  u64  hash of bytes 0 to 47
//  24  u64  hash of the vocabulary    56  u64  0
//  64  i32  tokens [n], -2 ends a document; then i32 order [n] (core/lookup/sort_suffixes.h)
//
// Little-endian. A file is not trusted: opening it checks header and size alone, and every place and token is
// checked where it is read (SuffixArray), so a damaged file drafts nonsense at worst. check() reads it whole.
// Immutable, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/base/mapped_file.h"
#include "core/lookup/suffix_array.h"

namespace triescope {

inline constexpr std::int32_t kEndOfDocument = -2;  // no token has this id

struct DatastoreInfo {
  std::uint64_t tokens = 0, documents = 0, file_bytes = 0;
  int vocab_size = 0;                 // ids are below this
  std::uint64_t vocabulary_hash = 0;  // core/text/tokenizer/vocabulary_hash.h
};

class Datastore {
 public:
  // Whether the file begins as one does; false where it cannot be read.
  static bool is_one(const std::string& path);
  // Errors: kNotFound, kIoError, kCorruption (says field, expected and found), kNotSupported (version).
  explicit Datastore(const std::string& path);
  // The same over bytes in memory, which must outlive it; `name` is for messages.
  Datastore(std::span<const std::byte> bytes, const std::string& name);

  const DatastoreInfo& info() const { return info_; }
  const SuffixArray& index() const { return index_; }
  // Reads all of it: its hash, every token and place, and the order. Error{kCorruption}.
  void check() const;

  // Writes a file. `tokens` end with kEndOfDocument, and order is sort_suffixes(). It is written beside `path`
  // and then renamed, so that whoever has the old one mapped keeps it. Errors: kIoError, kInvalidArgument.
  static void write(const std::string& path, std::span<const std::int32_t> tokens,
                    std::span<const std::int32_t> order, int vocab_size,
                    std::uint64_t vocabulary_hash);

 private:
  void open(std::span<const std::byte> bytes);

  std::string name_;
  std::unique_ptr<MappedFile> file_;
  std::span<const std::byte> payload_;
  std::uint64_t payload_hash_ = 0;
  std::span<const std::int32_t> tokens_, order_;
  DatastoreInfo info_;
  SuffixArray index_;
};

}  // namespace triescope

#include "core/files/zip_entries.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"

namespace triescope::formats {
namespace {

constexpr std::uint64_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56;
constexpr std::uint64_t kEntryBytes = 46, kLocalBytes = 30;
constexpr std::uint64_t kMaxComment = 0xffff;
constexpr std::uint64_t kMaxEntries = 65'536;
constexpr std::uint64_t kMaxDirectoryBytes = 16u << 20;
constexpr std::uint32_t kEndMark = 0x06054b50, kLocatorMark = 0x07064b50, kEnd64Mark = 0x06064b50;
constexpr std::uint32_t kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr std::uint32_t kSeeZip64_32 = 0xffffffff;
constexpr std::uint16_t kZip64Extra = 1;
constexpr std::uint16_t kEncrypted = 1;  // a bit of the flags

[[noreturn]] void corrupt_zip(const InputFile& file, const std::string& what) {
  throw Error(ErrorCode::kCorruption,
              file.path() + ": " + what + "; the zip archive is damaged, fetch it again");
}

// Little-endian numbers in a part of the file. REQUIRES: at + sizeof(T) <= size.
class Bytes {
 public:
  Bytes(const InputFile& file, std::uint64_t offset, std::uint64_t size) : data_(size, '\0') {
    file.read(offset, std::as_writable_bytes(std::span(data_)));
  }
  std::uint64_t size() const { return data_.size(); }
  std::uint16_t u16(std::uint64_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint32_t u32(std::uint64_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t u64(std::uint64_t at) const { return number(at, 8); }
  std::string text(std::uint64_t at, std::uint64_t size) const { return data_.substr(at, size); }

 private:
  std::uint64_t number(std::uint64_t at, int bytes) const {
    std::uint64_t value = 0;
    for (int i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(data_[at + i]);
    return value;
  }
  std::string data_;
};

struct Directory {
  std::uint64_t offset = 0, size = 0, entries = 0;
};

Directory find_directory(const InputFile& file) {
  const std::uint64_t tail_bytes = std::min(file.size(), kEndBytes + kMaxComment);
  const std::uint64_t tail_at = file.size() - tail_bytes;
  const Bytes tail(file, tail_at, tail_bytes);
  std::uint64_t end = tail_bytes;
  for (std::uint64_t at = tail_bytes >= kEndBytes ? tail_bytes - kEndBytes + 1 : 0; at-- > 0;) {
    if (tail.u32(at) == kEndMark && at + kEndBytes + tail.u16(at + 20) == tail_bytes) {
      end = at;
      break;
    }
  }
  if (end == tail_bytes) corrupt_zip(file, "expected the end of a zip directory, found none");
  Directory directory{tail.u32(end + 16), tail.u32(end + 12), tail.u16(end + 10)};
  std::uint32_t disks = tail.u16(end + 4) | tail.u16(end + 6);
  const std::uint64_t end_at = tail_at + end;
  const bool has_locator = end_at >= kLocatorBytes;
  const Bytes locator(file, has_locator ? end_at - kLocatorBytes : 0,
                      has_locator ? kLocatorBytes : 0);
  if (has_locator && locator.u32(0) == kLocatorMark) {
    const std::uint64_t at = locator.u64(8);
    if (at > end_at || end_at - at < kEnd64Bytes)
      corrupt_zip(file, "expected the zip64 directory's end before byte " + std::to_string(end_at));
    const Bytes end64(file, at, kEnd64Bytes);
    if (end64.u32(0) != kEnd64Mark) corrupt_zip(file, "expected the zip64 directory's end");
    directory = {end64.u64(48), end64.u64(40), end64.u64(32)};
    disks = end64.u32(16) | end64.u32(20);
  }
  if (disks != 0) {
    throw Error(ErrorCode::kNotSupported,
                file.path() +
                    ": the zip archive is spread over several files, which triescope "
                    "does not support");
  }
  if (directory.offset > end_at || directory.size > end_at - directory.offset)
    corrupt_zip(file, "expected the directory within the " + std::to_string(end_at) + " bytes");
  if (directory.entries > kMaxEntries || directory.size > kMaxDirectoryBytes) {
    corrupt_zip(file, "expected at most " + std::to_string(kMaxEntries) + " entries in " +
                          std::to_string(kMaxDirectoryBytes) + " bytes of directory, found " +
                          std::to_string(directory.entries) + " in " +
                          std::to_string(directory.size));
  }
  return directory;
}

// The place of an entry's contents: behind the entry's own header, whose extra field differs in
// length from the directory's.
std::uint64_t contents_of(const InputFile& file, const ZipEntry& entry, std::uint64_t header_at,
                          std::uint64_t limit) {
  const std::string who = "entry '" + entry.name.substr(0, 200) + "'";
  if (header_at > limit || limit - header_at < kLocalBytes + entry.name.size())
    corrupt_zip(file, who + ": expected its header before byte " + std::to_string(limit));
  const Bytes header(file, header_at, kLocalBytes + entry.name.size());
  if (header.u32(0) != kLocalMark || header.u16(26) != entry.name.size() ||
      header.text(kLocalBytes, entry.name.size()) != entry.name)
    corrupt_zip(file, who + ": expected a header of the same name at " + std::to_string(header_at));
  const std::uint64_t at = header_at + kLocalBytes + entry.name.size() + header.u16(28);
  if (at > limit || entry.size > limit - at) {
    corrupt_zip(file, who + ": expected its " + std::to_string(entry.size) + " bytes before byte " +
                          std::to_string(limit) + ", found them at " + std::to_string(at));
  }
  return at;
}

}  // namespace

bool is_zip(const InputFile& file) {
  return file.size() >= kEndBytes && Bytes(file, 0, 4).u32(0) == kLocalMark;
}

std::vector<ZipEntry> read_zip_entries(const InputFile& file) {
  const Directory directory = find_directory(file);
  const Bytes bytes(file, directory.offset, directory.size);
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    if (bytes.size() - at < kEntryBytes || bytes.u32(at) != kEntryMark)
      corrupt_zip(file, "expected " + std::to_string(directory.entries) + " entries, found " +
                            std::to_string(i));
    const std::uint64_t name_bytes = bytes.u16(at + 28), extra_bytes = bytes.u16(at + 30);
    const std::uint64_t entry_bytes = kEntryBytes + name_bytes + extra_bytes + bytes.u16(at + 32);
    if (bytes.size() - at < entry_bytes)
      corrupt_zip(file, "expected entry " + std::to_string(i) + " within the directory");
    ZipEntry entry;
    entry.name = bytes.text(at + kEntryBytes, name_bytes);
    entry.size = bytes.u32(at + 24);
    std::uint64_t stored = bytes.u32(at + 20), header_at = bytes.u32(at + 42);
    const std::uint64_t extra_at = at + kEntryBytes + name_bytes;
    for (std::uint64_t extra = 0; extra_bytes - extra >= 4;) {
      const std::uint64_t field_bytes = bytes.u16(extra_at + extra + 2);
      if (field_bytes > extra_bytes - extra - 4) break;  // some writers pad with zeros
      if (bytes.u16(extra_at + extra) == kZip64Extra) {
        std::uint64_t value_at = extra_at + extra + 4;
        const std::uint64_t values_end = value_at + field_bytes;
        for (std::uint64_t* value : {&entry.size, &stored, &header_at}) {
          if (*value != kSeeZip64_32) continue;
          if (values_end - value_at < 8) corrupt_zip(file, "expected more zip64 sizes of an entry");
          *value = bytes.u64(value_at);
          value_at += 8;
        }
      }
      extra += 4 + field_bytes;
    }
    const std::uint16_t method = bytes.u16(at + 10);
    if (method != 0 || (bytes.u16(at + 8) & kEncrypted) != 0 || stored != entry.size) {
      throw Error(ErrorCode::kNotSupported,
                  file.path() + ": entry '" + entry.name.substr(0, 200) +
                      "' is compressed or encrypted (method " + std::to_string(method) +
                      "); PyTorch stores entries as they are: save the file with it again");
    }
    if (!names.insert(entry.name).second)
      corrupt_zip(file, "entry '" + entry.name.substr(0, 200) + "' is there twice");
    entry.offset = contents_of(file, entry, header_at, directory.offset);
    entries.push_back(std::move(entry));
    at += entry_bytes;
  }
  return entries;
}

}  // namespace triescope::formats

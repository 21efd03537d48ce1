// Rows on their way from a capture that grows on one machine into a capture on another. RowFeed
// reads what a file holds beyond the rows that the other end has; RowCopy writes it into a file of
// its own, value by value as it was stored. The file is the buffer: a feed keeps no rows, and a copy
// that was cut off goes on from its marks.
//
// A snapshot is what the file held at one moment; it travels in one or more pieces of bytes. The
// copy commits a snapshot whole or not at all, so its readers see a phase whole or not at all, as
// the readers of the original do. Bookmarks are not copied: they belong to whoever set them.
//
// The bytes may come from anybody: RowCopy checks all of them, and Capture::open() checks the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace triescope::capture {

// By table: the number (id) of the last row that is there; a table without rows may be missing.
using StreamMarks = std::map<std::string, std::int64_t>;

struct RowPiece {
  std::string bytes;
  bool last = false;  // the snapshot is complete with this piece
};

class RowFeed {
 public:
  // Begins after `marks`. Errors: those of opening a capture.
  explicit RowFeed(const std::string& path, StreamMarks marks = {});
  ~RowFeed();
  RowFeed(RowFeed&&) noexcept;
  RowFeed& operator=(RowFeed&&) noexcept;

  // The next piece of the present snapshot, or the first of a new one; nullopt: the file holds
  // nothing new. A piece ends after the row with which it exceeds `most_bytes`. Errors: kIoError,
  // kCorruption.
  std::optional<RowPiece> next(std::size_t most_bytes = std::size_t{1} << 20);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class RowCopy {
 public:
  // A new capture at `path`; an old one is replaced. Errors: those of create_capture().
  explicit RowCopy(const std::string& path);
  ~RowCopy();  // close()
  RowCopy(const RowCopy&) = delete;
  RowCopy& operator=(const RowCopy&) = delete;

  // Takes the next piece. Tables and columns that this program does not know are left out.
  // Error{kCorruption}: it is not a piece, or a row comes twice; {kIoError}: the disk is full or
  // fails. Nothing of the snapshot stays in either case, and the copy can go on from marks().
  void write(const RowPiece& piece);
  // Drops what came of a snapshot that is not complete.
  void rewind();
  // How far the file is committed.
  const StreamMarks& marks() const;
  bool has_run() const;  // the run's description is there: a reader can open the file
  bool ended() const;    // the run there has ended, and all of it is here
  // Leaves one file; `why` becomes the end of a run that has none.
  void close(const char* why = "the rest of the run did not arrive");

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace triescope::capture

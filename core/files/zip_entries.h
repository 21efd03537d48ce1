// The entries of a zip archive whose contents are stored (neither compressed nor encrypted), as
// PyTorch writes them; zip64 included. Only the directory is read, and every place is bounded by
// the file. Checksums are not compared. Source: PKWARE APPNOTE 6.3.10, 4.3 and 4.5.3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/files/input_file.h"

namespace triescope::formats {

struct ZipEntry {
  std::string name;
  std::uint64_t offset = 0;  // place of the contents in the file
  std::uint64_t size = 0;
};

// Whether the file begins like a zip archive.
bool is_zip(const InputFile& file);
// The entries in the order of the directory. Errors: kCorruption; kNotSupported: compressed,
// encrypted or spread over several files.
std::vector<ZipEntry> read_zip_entries(const InputFile& file);

}  // namespace triescope::formats

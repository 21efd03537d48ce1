// Rows that another machine sends, on their way into a capture here. Nothing is committed, so every
// input meets the same file.
#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/capture/row_stream.h"
#include "tests/fuzz/fuzz.h"

namespace {

// One file for all inputs, removed at the end.
struct Copy {
  std::string path = (std::filesystem::temp_directory_path() /
                      ("triescope-fuzz-rows-" + std::to_string(::getpid()) + ".tscap"))
                         .string();
  triescope::capture::RowCopy rows{path};
  ~Copy() {
    rows.close();
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Copy copy;
  triescope::fuzz::tolerate_refusal([&] {
    copy.rows.write({std::string(triescope::fuzz::text_of(data, size)), false});
  });
  copy.rows.rewind();
  if (!copy.rows.marks().empty()) __builtin_trap();
  return 0;
}

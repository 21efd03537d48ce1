// The two synthetic runs as opened captures, made once a process.
#pragma once

#include <memory>

#include "tests/support/paths.h"
#include "tests/unit/viz/synthetic.h"

namespace triescope::test {

struct OpenedCapture {
  TempDir folder;
  std::unique_ptr<Capture> capture;
};

template <class Record>
std::unique_ptr<OpenedCapture> make_capture(const Record& record) {
  auto out = std::make_unique<OpenedCapture>();
  const std::string path = (out->folder.path() / "run.tscap").string();
  {
    const auto recorder = open_recorder(path);
    record(*recorder);
  }
  out->capture = Capture::open(path);
  return out;
}

inline const Capture& beam_capture() {
  static const auto opened = make_capture([](Recorder& r) { record_beam(r, 24, 3); });
  return *opened->capture;
}
inline const Capture& draft_capture() {
  static const auto opened = make_capture([](Recorder& r) { record_drafts(r, 30); });
  return *opened->capture;
}

}  // namespace triescope::test

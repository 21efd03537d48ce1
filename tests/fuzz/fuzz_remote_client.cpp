// What a decoder sends to a window: frames, the greeting, statuses, answers and rows.
#include "app/remote/messages.h"
#include "app/remote/wire.h"
#include "tests/fuzz/fuzz.h"

using namespace triescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::tolerate_refusal([&] {
    app::FrameReader reader;
    reader.push(fuzz::text_of(data, size));
    bool greeted = false;
    while (const auto frame = reader.next()) {
      fuzz::tolerate_refusal([&] {
        if (!greeted) {
          app::read_server_greeting(frame->payload);
          greeted = true;
        } else if (frame->kind == app::FrameKind::kRows) {
          app::read_rows(frame->payload);
        } else {
          app::read_told(frame->payload);
        }
      });
    }
  });
  return 0;
}

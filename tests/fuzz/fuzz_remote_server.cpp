// What a client sends to a decoder: frames, the greeting, questions and commands.
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
          app::read_client_greeting(frame->payload);
          greeted = true;
          return;
        }
        const app::Ask ask = app::read_ask(frame->payload);
        // What was understood is what is said again.
        app::FrameReader again;
        again.push(std::string(app::kOpening) + app::bytes_of(ask));
        if (app::bytes_of(app::read_ask(again.next()->payload)) != app::bytes_of(ask))
          __builtin_trap();
      });
    }
  });
  return 0;
}

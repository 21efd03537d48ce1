// A chat template: parsed, and rendered on one conversation. The product's limits hold, but for the
// number of steps, which is lowered so that an input is over in time: what a template may do in a
// step does not depend on their number.
#include <string>
#include <vector>

#include "core/text/jinja/jinja.h"
#include "tests/fuzz/fuzz.h"

using namespace triescope;
namespace jinja = triescope::jinja;

namespace {

jinja::Dict conversation() {
  jinja::List messages;
  for (const auto& [role, content] :
       {std::pair("system", "Be brief."), {"user", " Hi <b>\n"}, {"assistant", "Yes.\xC3\xA9"}})
    messages.push_back(
        jinja::Dict{{"role", jinja::Value(role)}, {"content", jinja::Value(content)}});
  return {{"messages", jinja::Value(std::move(messages))},
          {"add_generation_prompt", jinja::Value(true)},
          {"tools", jinja::Value(jinja::None{})},
          {"bos_token", jinja::Value("<s>")},
          {"eos_token", jinja::Value("</s>")}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const jinja::Dict kGlobals = conversation();
  jinja::Limits limits;
  limits.steps = 20'000;
  limits.output_bytes = 1 << 16;
  limits.range = 1000;
  fuzz::tolerate_refusal([&] {
    jinja::render(jinja::parse(std::string(fuzz::text_of(data, size))), kGlobals, limits);
  });
  return 0;
}

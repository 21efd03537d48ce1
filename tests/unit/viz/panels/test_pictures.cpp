// Every panel's pictures and answers over the synthetic runs equal pictures.golden beside this
// file. It holds a digest of all drawing calls, of the answers to mouse and keys, and of the CSV
// table. After a change that is meant, TRIESCOPE_UPDATE_PICTURES=1 build/tests/bin/test_viz
// -tc="pictures:*" writes it again; look at the panels before you commit the new file.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/faulty_runs.h"
#include "tests/unit/viz/recording_canvas.h"
#include "tests/unit/viz/wandering_input.h"
#include "viz/panels/panel.h"
#include "viz/query/comparison.h"

namespace triescope::viz::test_pictures {
namespace {

// FNV-1a, 64 bits.
class Digest {
 public:
  void add(const std::string& text) {
    for (const char c : text + '\n')
      value_ = (value_ ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  std::string text() const {
    char hex[20];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(value_));
    return hex;
  }

 private:
  std::uint64_t value_ = 14695981039346656037u;
};

void add(Digest& digest, const Reaction& reaction) {
  const auto number = [](const auto& value) {
    return value ? std::to_string(*value) : std::string("-");
  };
  digest.add(number(reaction.hover) + " " + number(reaction.lock) + " " + number(reaction.cursor));
  if (reaction.range)
    digest.add(std::to_string(reaction.range->first) + " " +
               std::to_string(reaction.range->second));
  for (const std::string& line : reaction.tooltip) digest.add(line);
}

struct Case {
  std::string run;
  const capture::Capture& capture;
  const capture::Capture& other;  // beside it
  Rect area;
  float em;
};

// The digest of everything that one panel draws and answers while it is used for some time.
std::string digest_of(const std::string& name, const Case& one) {
  const auto panel = make_panel(name);
  const Twins twins =
      find_twins(one.capture, one.capture.end_tick(), one.other, one.other.end_tick());
  Scene scene;
  scene.capture = &one.capture;
  scene.cursor = one.capture.end_tick();
  scene.em = one.em;
  scene.theme = one.em < 20 ? dark_theme() : light_theme();
  scene.animate = false;
  if (one.em < 20) scene.twins = &twins;
  Digest digest;
  for (int i = 0; i < 90; ++i) {
    if (i % 10 == 5)
      scene.cursor = static_cast<capture::Tick>((i * 7919) % (one.capture.end_tick() + 1));
    // Rounded to a tenth of a px, so that a library's last bit does not count as a change.
    test::RecordingCanvas canvas(true, 1);
    panel->draw(canvas, one.area, scene);
    for (const std::string& call : canvas.calls) digest.add(call);
    const Reaction reaction = panel->input(test::wandering_input(i, one.area), one.area, scene);
    add(digest, reaction);
    if (reaction.hover) scene.focus.hovered = *reaction.hover;
    if (reaction.lock) scene.focus.locked = *reaction.lock;
    if (reaction.cursor) scene.cursor = *reaction.cursor;
    if (reaction.range) scene.range = reaction.range;
    if (reaction.clear_range) scene.range.reset();
  }
  digest.add(panel->view_state());
  digest.add(panel->csv(scene));
  scene.export_mode = true;
  test::RecordingCanvas canvas(true, 1);
  const Point extent = panel->extent(canvas, scene);
  panel->draw(canvas, {0, 0, extent.x, extent.y}, scene);
  for (const std::string& call : canvas.calls) digest.add(call);
  return digest.text();
}

TEST_CASE("pictures: every panel draws and answers as it did") {
  const std::string path =
      std::string(TRIESCOPE_TEST_SOURCE_DIR) + "/tests/unit/viz/panels/pictures.golden";
  const capture::Capture &beam = test::beam_capture(), &draft = test::draft_capture();
  const capture::Capture &masked = test::faulty_capture<test::masked_wrongly>(),
                         &shifted = test::faulty_capture<test::stale_and_shifted>(),
                         &slots = test::faulty_capture<test::slots_taken_wrongly>();
  const Case cases[] = {{"beam", beam, draft, {7, 5, 1000, 600}, 14},
                        {"beam-small", beam, draft, {3, 3, 560, 320}, 26},
                        {"draft", draft, beam, {7, 5, 1000, 600}, 14},
                        {"draft-small", draft, beam, {3, 3, 560, 320}, 26},
                        {"masked-wrongly", masked, draft, {7, 5, 1000, 600}, 14},
                        {"stale-and-shifted", shifted, draft, {3, 3, 560, 320}, 26},
                        {"slots-taken-wrongly", slots, draft, {7, 5, 1000, 600}, 14}};
  std::vector<std::string> lines;
  for (const Case& one : cases)
    for (const auto& panel : make_panels())
      lines.push_back(one.run + " " + panel->info().name + " " +
                      digest_of(panel->info().name, one));
  if (std::getenv("TRIESCOPE_UPDATE_PICTURES")) {
    std::ofstream out(path);
    for (const std::string& line : lines) out << line << '\n';
  }
  // By run and panel, so that a new panel's missing lines do not affect the others.
  std::map<std::string, std::string> golden;
  std::ifstream file(path);
  for (std::string run, panel, digest; file >> run >> panel >> digest;)
    golden[run + " " + panel] = digest;
  CHECK(golden.size() == lines.size());
  for (const std::string& line : lines) {
    const std::size_t digest = line.rfind(' ') + 1;
    CHECK_MESSAGE(golden[line.substr(0, digest - 1)] == line.substr(digest), line);
  }
}

}  // namespace
}  // namespace triescope::viz::test_pictures

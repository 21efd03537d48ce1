#include <doctest/doctest.h>

#include <cairo.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "tests/support/files.h"
#include "tests/unit/viz/captures.h"
#include "viz/export/export.h"
#include "viz/panels/panel.h"

namespace test_export {

using namespace triescope;
using namespace triescope::viz;
using triescope::test::beam_capture;
using triescope::test::draft_capture;
using triescope::test::TempDir;

namespace {

// True if the XML is well-formed as far as a drawing needs it: tags nest and close, attributes are
// quoted, text holds no bare '<' or '&'.
bool well_formed(const std::string& xml, std::string& why) {
  std::vector<std::string> open;
  std::size_t i = 0;
  const auto fail = [&](const std::string& reason) {
    why = reason + " at " + std::to_string(i);
    return false;
  };
  while (i < xml.size()) {
    if (xml[i] == '&') {
      const auto end = xml.find(';', i);
      if (end == std::string::npos || end - i > 8) return fail("bare &");
    }
    if (xml[i] != '<') {
      ++i;
      continue;
    }
    if (xml.compare(i, 4, "<!--") == 0) {
      i = xml.find("-->", i);
      if (i == std::string::npos) return fail("open comment");
      i += 3;
      continue;
    }
    std::size_t end = i + 1;
    for (char quote = 0; end < xml.size() && (quote || xml[end] != '>'); ++end) {
      if (quote) {
        if (xml[end] == quote) quote = 0;
        if (xml[end] == '<') return fail("< in attribute");
      } else if (xml[end] == '"' || xml[end] == '\'') {
        quote = xml[end];
      }
    }
    if (end >= xml.size()) return fail("open tag");
    const std::string tag = xml.substr(i + 1, end - i - 1);
    i = end + 1;
    if (tag.empty()) return fail("empty tag");
    if (tag[0] == '?' || tag[0] == '!') continue;
    const std::string name =
        tag.substr(tag[0] == '/', tag.find_first_of(" \n\t/", tag[0] == '/') - (tag[0] == '/'));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != name) return fail("closes " + name);
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
  }
  if (!open.empty()) return fail("never closed: " + open.back());
  return true;
}

}  // namespace

TEST_CASE(
    "export: every panel exports as SVG, PDF, PNG and CSV, dark and light, with the run written in") {
  TempDir folder;
  for (const capture::Capture* capture : {&beam_capture(), &draft_capture()}) {
    for (const auto& panel : make_panels()) {
      const std::string& name = panel->info().name;
      CAPTURE(name);
      ExportOptions options;
      options.theme = capture == &beam_capture() ? ThemeName::kDark : ThemeName::kLight;
      const auto path = [&](const char* extension) {
        return (folder.path() / (name + "." + extension)).string();
      };
      options.format = ExportFormat::kSvg;
      export_panel(*capture, name, path("svg"), options);
      const std::string svg = test::read_file(path("svg"));
      std::string why;
      CHECK_MESSAGE(well_formed(svg, why), why);
      CHECK(svg.find("<svg") != std::string::npos);
      CHECK(svg.find("SmolLM2-135M-Instruct") != std::string::npos);
      CHECK(svg.find("Seed: 7") != std::string::npos);

      options.format = ExportFormat::kPdf;
      export_panel(*capture, name, path("pdf"), options);
      CHECK(test::read_file(path("pdf")).rfind("%PDF", 0) == 0);

      options.format = ExportFormat::kPng;
      export_panel(*capture, name, path("png"), options);
      const std::string png = test::read_file(path("png"));
      CHECK(png.find("iTXtModel") != std::string::npos);
      cairo_surface_t* surface = cairo_image_surface_create_from_png(path("png").c_str());
      CHECK(cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS);
      CHECK(cairo_image_surface_get_width(surface) > 100);
      cairo_surface_destroy(surface);

      options.format = ExportFormat::kCsv;
      export_panel(*capture, name, path("csv"), options);
      CHECK(test::read_file(path("csv")).find("# Model: SmolLM2") != std::string::npos);
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    CHECK(entry.path().string().find(".part") == std::string::npos);
}

TEST_CASE("export: the same export twice is the same file") {
  TempDir folder;
  for (const ExportFormat format :
       {ExportFormat::kSvg, ExportFormat::kPdf, ExportFormat::kPng, ExportFormat::kCsv}) {
    ExportOptions options;
    options.format = format;
    const std::string a = (folder.path() / "a").string(), b = (folder.path() / "b").string();
    export_panel(beam_capture(), "memory", a, options);
    export_panel(beam_capture(), "memory", b, options);
    CAPTURE(static_cast<int>(format));
    CHECK(test::read_file(a) == test::read_file(b));
  }
  // A PDF's date is the run's, not the export's. Newer versions of cairo compress it.
  if (cairo_version() >= CAIRO_VERSION_ENCODE(1, 18, 0)) return;
  ExportOptions pdf;
  pdf.format = ExportFormat::kPdf;
  const std::string path = (folder.path() / "dated").string();
  export_panel(beam_capture(), "memory", path, pdf);
  std::string date = beam_capture().run().created_utc;
  std::erase_if(date, [](char c) { return c < '0' || c > '9'; });
  REQUIRE_FALSE(date.empty());
  CHECK(test::read_file(path).find("CreationDate (D:" + date) != std::string::npos);
}

TEST_CASE("export: size and scale of a PNG are the ones asked for") {
  TempDir folder;
  const std::string path = (folder.path() / "p.png").string();
  ExportOptions options;
  options.format = ExportFormat::kPng;
  options.width_px = 640;
  options.height_px = 360;
  options.scale = 2;
  export_panel(beam_capture(), "trie", path, options);
  cairo_surface_t* surface = cairo_image_surface_create_from_png(path.c_str());
  CHECK(cairo_image_surface_get_width(surface) == 1280);
  CHECK(cairo_image_surface_get_height(surface) == 720);
  cairo_surface_destroy(surface);
}

TEST_CASE("export: a bad export says what was expected and leaves nothing behind") {
  TempDir folder;
  const std::string path = (folder.path() / "x.svg").string();
  ExportOptions options;
  options.step = 9999;
  CHECK_THROWS_WITH_AS(export_panel(beam_capture(), "trie", path, options),
                       doctest::Contains("0 to 23"), Error);
  options.step.reset();
  CHECK_THROWS_AS(export_panel(beam_capture(), "pie", path, options), Error);
  CHECK_THROWS_AS(
      export_panel(beam_capture(), "trie", (folder.path() / "none" / "x.svg").string(), options),
      Error);
  CHECK_THROWS_AS(export_format_from_string("bmp"), Error);
  // An export can be cancelled half way: the progress sink may throw.
  CHECK_THROWS_AS(export_panel(beam_capture(), "trie", path, options,
                               [](const std::string&, double done, double) {
                                 if (done > 0) throw Error(ErrorCode::kCancelled, "enough");
                               }),
                  Error);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("export: two runs stand in one picture and one table, each by its name") {
  TempDir folder;
  const capture::Capture &left = beam_capture(), &right = draft_capture();
  const auto run_of = [](const capture::Capture& capture, const char* title) {
    ExportRun run;
    run.capture = &capture;
    run.cursor = capture.end_tick();
    run.title = title;
    return run;
  };
  for (const auto& panel : make_panels()) {
    const std::string& name = panel->info().name;
    CAPTURE(name);
    const auto path = [&](const char* extension) {
      return (folder.path() / (name + "." + extension)).string();
    };
    ExportOptions options;
    const ExportRun a = run_of(left, "one, \"first\""), b = run_of(right, "other");
    export_pair(a, b, name, path("svg"), options);
    const std::string svg = test::read_file(path("svg"));
    std::string why;
    CHECK_MESSAGE(well_formed(svg, why), why);
    for (const char* fact : {"Left, Seed: 7", "Right, Seed: ", "Left, Model: ", "Right, Step: "})
      CHECK(svg.find(fact) != std::string::npos);

    // The table has both runs' rows, in order, and nothing else.
    options.format = ExportFormat::kCsv;
    export_pair(a, b, name, path("csv"), options);
    const std::string pair = test::read_file(path("csv"));
    const auto rows_of = [](const std::string& csv) {
      std::size_t at = 0;
      while (csv.compare(at, 2, "# ") == 0) at = csv.find('\n', at) + 1;
      return csv.substr(at);
    };
    const auto alone = [&](const capture::Capture& capture, const char* file) {
      export_panel(capture, name, path(file), options);
      return rows_of(test::read_file(path(file)));
    };
    const std::string one = alone(left, "one"), other = alone(right, "other");
    std::string both = rows_of(pair);
    // The run's name stands once a row, however many lines its texts have.
    std::size_t named = 0, quotes = 0, rows = 0;
    for (const char c : one) {
      quotes += c == '"';
      rows += c == '\n' && quotes % 2 == 0;
    }
    const std::string first = "\"one, \"\"first\"\"\",";
    for (std::size_t at = both.find(first); at != std::string::npos; at = both.find(first, at + 1))
      ++named;
    CHECK(named == rows - 1);
    CHECK(both.rfind("run," + one.substr(0, one.find('\n') + 1), 0) == 0);
    for (const std::string field : {"run,", "\"one, \"\"first\"\"\",", "other,"})
      for (std::size_t at = both.rfind(field); at != std::string::npos; at = both.rfind(field))
        both.erase(at, field.size());
    const std::string wanted = one + other.substr(other.find('\n') + 1);
    if (wanted.find("other,") == std::string::npos) CHECK(both == wanted);

    options.format = ExportFormat::kPng;
    options.width_px = 900;
    options.height_px = 420;
    export_pair(a, b, name, path("png"), options);
    cairo_surface_t* surface = cairo_image_surface_create_from_png(path("png").c_str());
    CHECK(cairo_image_surface_get_width(surface) == 900);
    CHECK(cairo_image_surface_get_height(surface) == 420);
    cairo_surface_destroy(surface);
  }
  // Two runs of the same name can be told apart.
  ExportOptions options;
  options.format = ExportFormat::kCsv;
  const std::string path = (folder.path() / "same.csv").string();
  export_pair(run_of(left, "beam"), run_of(left, "beam"), "trie", path, options);
  const std::string same = test::read_file(path);
  CHECK(same.find("\n\"beam, left\",") != std::string::npos);
  CHECK(same.find("\n\"beam, right\",") != std::string::npos);
}

TEST_CASE("export: an export for a projector has that theme's letters, and no dimmer ones") {
  TempDir folder;
  const auto svg_of = [&](const std::string& panel, ThemeName theme) {
    ExportOptions options;
    options.theme = theme;
    const std::string path = (folder.path() / "theme.svg").string();
    export_panel(draft_capture(), panel, path, options);
    return test::read_file(path);
  };
  // 0x3F454C and 0x5F656D: text_dim of the projector's and of the light theme.
  CHECK(projector_theme().text_dim.r == 0x3F);
  CHECK(light_theme().text_dim.r == 0x5F);
  for (const char* panel : {"trie", "verdict", "memory"}) {
    CAPTURE(panel);
    const std::string projector = svg_of(panel, ThemeName::kProjector),
                      light = svg_of(panel, ThemeName::kLight);
    CHECK(projector.find("rgb(24.70") != std::string::npos);
    CHECK(projector.find("rgb(37.25") == std::string::npos);
    CHECK(light.find("rgb(37.25") != std::string::npos);
  }
}

TEST_CASE("export: each of two runs is marked where it differs from the other, on either side") {
  TempDir folder;
  const auto marks = [&](const capture::Capture& a, const capture::Capture& b) {
    ExportOptions options;
    options.theme = ThemeName::kDark;
    const std::string path = (folder.path() / "pair.svg").string();
    export_pair({&a, a.end_tick(), "a", "", {}}, {&b, b.end_tick(), "b", "", {}}, "trie", path,
                options);
    const std::string svg = test::read_file(path), color = "rgb(80%,47.45";  // 0xCC79A7
    std::size_t count = 0;
    for (std::size_t at = svg.find(color); at != std::string::npos; at = svg.find(color, at + 1))
      ++count;
    return count;
  };
  const std::size_t marked = marks(beam_capture(), draft_capture());
  CHECK(marked > 0);
  CHECK(marks(draft_capture(), beam_capture()) == marked);
  // Two equal runs have only the legend's mark.
  CHECK(marks(beam_capture(), beam_capture()) < marked);
}

TEST_CASE("export: it shows the run as it stood after a step, or at its end") {
  const capture::Capture& run = draft_capture();
  CHECK(cursor_after(run, {}) == 150);
  CHECK(cursor_after(run, 0) == 5);
  CHECK(cursor_after(run, 28) == 145);
  CHECK(cursor_after(run, 29) == 150);
  for (const std::int32_t step : {-1, 30})
    CHECK_THROWS_WITH_AS(cursor_after(run, step),
                         ("step " + std::to_string(step) + ": expected 0 to 29").c_str(), Error);
}

TEST_CASE("export: it is limited to the range of steps on the screen, and says so") {
  TempDir folder;
  ExportOptions options;
  options.format = ExportFormat::kCsv;
  options.range = {{3, 9}};
  const std::string path = (folder.path() / "m.csv").string();
  export_panel(beam_capture(), "memory", path, options);
  const std::string csv = test::read_file(path);
  CHECK(csv.find("# Range: steps 3 to 9\n") != std::string::npos);
  CHECK(csv.find("\n3,") != std::string::npos);
  CHECK(csv.find("\n2,") == std::string::npos);
  CHECK(csv.find("\n10,") == std::string::npos);
}

TEST_CASE("export: a device, a pipe or a link is written to, never replaced") {
  TempDir folder;
  const std::string pipe = (folder.path() / "pipe").string(),
                    file = (folder.path() / "file").string(),
                    null = (folder.path() / "null").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink("/dev/null", null);
  const std::string link = (folder.path() / "link").string(),
                    behind = (folder.path() / "behind").string();
  std::ofstream(behind) << "older text, longer than nothing";
  std::filesystem::create_symlink(behind, link);
  for (const ExportFormat format : {ExportFormat::kCsv, ExportFormat::kPng, ExportFormat::kSvg}) {
    ExportOptions options;
    options.format = format;
    options.step = 3;
    export_panel(draft_capture(), "memory", file, options);
    std::string read;
    std::thread reader([&] {
      std::ifstream in(pipe, std::ios::binary);
      read.assign(std::istreambuf_iterator<char>(in), {});
    });
    export_panel(draft_capture(), "memory", pipe, options);
    reader.join();
    CHECK((read == test::read_file(file)));
    CHECK(std::filesystem::is_fifo(pipe));
    export_panel(draft_capture(), "memory", null, options);
    CHECK(std::filesystem::is_symlink(null));
    // An export can go to /dev/stdout where that is a file.
    export_panel(draft_capture(), "memory", link, options);
    CHECK(std::filesystem::is_symlink(link));
    CHECK((test::read_file(behind) == test::read_file(file)));
  }
  std::size_t left = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
    ++left;
  CHECK(left == 5);
  ExportOptions options;
  options.format = ExportFormat::kCsv;
  CHECK_THROWS_AS(export_panel(draft_capture(), "memory", folder.path().string(), options), Error);
}

TEST_CASE("what the screen shows: a panel's own zoom and size, one run or two") {
  TempDir folder;
  const auto panel = make_panel("trie"), other = make_panel("trie");
  Scene scene;
  scene.capture = &beam_capture();
  scene.cursor = beam_capture().end_tick();
  scene.em = 15;
  const Point size{500, 300};
  ExportOptions options;
  options.format = ExportFormat::kPng;
  const auto written = [&](const std::vector<SeenPanel>& panels, const char* name) {
    const std::string path = (folder.path() / name).string();
    export_seen(panels, path, options);
    return path;
  };
  const auto width = [](const std::string& path) {
    cairo_surface_t* surface = cairo_image_surface_create_from_png(path.c_str());
    const int pixels = cairo_image_surface_get_width(surface);
    cairo_surface_destroy(surface);
    return pixels;
  };
  const std::string before = written({{panel.get(), scene, size, "one"}}, "before.png");
  CHECK(width(before) == 530);  // a margin of an em on either side
  panel->set_view_state("mode=none;zoom=2.5");
  const std::string after = written({{panel.get(), scene, size, "one"}}, "after.png");
  CHECK(width(after) == 530);
  CHECK((test::read_file(before) != test::read_file(after)));
  CHECK(width(written({{panel.get(), scene, size, "one"}, {other.get(), scene, size, "two"}},
                      "two.png")) == 1060);
}

TEST_CASE("a part of a trie: one step is narrower than all, and a chart is exported like a panel") {
  TempDir folder;
  const auto width_of = [&](const std::string& name, const ExportOptions& options) {
    const std::string path = (folder.path() / "p.png").string();
    export_panel(draft_capture(), name, path, options);
    cairo_surface_t* surface = cairo_image_surface_create_from_png(path.c_str());
    const int pixels = cairo_image_surface_get_width(surface);
    cairo_surface_destroy(surface);
    return pixels;
  };
  ExportOptions options;
  options.format = ExportFormat::kPng;
  options.step = 20;
  const int whole = width_of("trie", options);
  options.part = ExportPart::kStep;
  CHECK(width_of("trie", options) * 2 < whole);
  options.part = ExportPart::kSeen;
  CHECK(width_of("trie", options) == 960 + 28);
  options.part = ExportPart::kWhole;
  for (const char* chart : {"acceptance", "acceptance-by-step", "levels"})
    CHECK(width_of(chart, options) > 300);
  CHECK_THROWS_AS(export_part_from_string("half"), Error);
}

}  // namespace test_export

#include "viz/handout/handout_page.h"

#include <glib.h>

#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "viz/canvas/markup_text.h"
#include "viz/draw/theme.h"
#include "viz/export/run_facts.h"
#include "viz/handout/page_data.h"
#include "viz/text/assets.h"

namespace triescope::viz {
namespace {

std::string_view asset(std::string_view name) {
  for (const Asset& one : assets())
    if (one.name == name) return one.text;
  throw Error(ErrorCode::kNotFound, std::string(name) + ": expected in the program, found none");
}

std::string hex(Color c) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", c.r, c.g, c.b);
  return text;
}

// The page uses the panels' colours.
std::string variables(const Theme& theme) {
  std::string out = ":root{";
  for (const auto& [name, color] : {std::pair{"background", theme.background},
                                    {"surface", theme.surface},
                                    {"raised", theme.raised},
                                    {"border", theme.border},
                                    {"text", theme.text},
                                    {"dim", theme.text_dim},
                                    {"accent", theme.legible(theme.accent)},
                                    {"focus", theme.focus},
                                    {"right", theme.mark(capture::NodeState::kAccepted).color},
                                    {"wrong", theme.mark(capture::NodeState::kRejected).color}})
    out += std::string("--") + name + ":" + hex(color) + ";";
  return out + "color-scheme:" + (theme.dark ? "dark" : "light") + "}";
}

// A text's name in a policy: the base64 of its SHA-256.
std::string hash_source(std::string_view text) {
  const std::unique_ptr<GChecksum, decltype(&g_checksum_free)> sum(
      g_checksum_new(G_CHECKSUM_SHA256), &g_checksum_free);
  g_checksum_update(sum.get(), reinterpret_cast<const guchar*>(text.data()),
                    static_cast<gssize>(text.size()));
  guint8 digest[32];
  gsize size = sizeof digest;
  g_checksum_get_digest(sum.get(), digest, &size);
  const std::unique_ptr<gchar, decltype(&g_free)> base64(g_base64_encode(digest, size), &g_free);
  return "'sha256-" + std::string(base64.get()) + "'";
}

}  // namespace

std::string handout_page(const Page& page) {
  const std::string style =
      variables(light_theme()) + "@media screen and (prefers-color-scheme:dark){" +
      variables(dark_theme()) + "}\n" + std::string(asset("assets/handout/page.css"));
  const bool lesson = page.kind == PageKind::kLesson;
  std::string script = "\"use strict\";(async () => {\n";
  for (const char* name : {"unpack.js", "pictures.js", "panes.js", "words.js",
                           lesson ? "lesson.js" : "narration.js", "page.js"})
    script += asset(std::string("assets/handout/") + name);
  script += "})();\n";

  const std::pair<std::string_view, std::string> marks[] = {
      {"{{policy}}", "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " +
                         hash_source(style) + "; script-src " + hash_source(script) +
                         (page.has_pictures ? "; img-src data:" : "")},
      {"{{title}}", markup_text(page.title)},
      {"{{style}}", style},
      {"{{kind}}", lesson ? "lesson" : "run"},
      {"{{data}}", packed_data(page.data)},
      {"{{script}}", script}};
  // Each mark occurs once, in this order; what replaces it is not read again.
  std::string_view rest = asset("assets/handout/page.html");
  std::string out;
  for (const auto& [mark, text] : marks) {
    const auto at = rest.find(mark);
    if (at == std::string_view::npos)
      throw Error(ErrorCode::kNotFound,
                  "assets/handout/page.html: expected " + std::string(mark) + ", found none");
    out.append(rest.substr(0, at)).append(text);
    rest.remove_prefix(at + mark.size());
  }
  return out.append(rest);
}

std::string facts_json(const capture::Capture& capture) {
  std::string facts;
  for (const auto& [key, value] : run_facts(capture))
    facts += (facts.empty() ? "[" : ",[") + script_string(key) + "," + script_string(value) + "]";
  return "[" + facts + "]";
}

}  // namespace triescope::viz

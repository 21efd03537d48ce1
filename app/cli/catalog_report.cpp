// What `triescope info --list` prints: the models and drafts that are known by a short name, and what
// each model needs.
#include <utility>

#include "app/cli/reports.h"
#include "app/session/catalog.h"
#include "app/session/device_choice.h"
#include "app/session/what_fits.h"
#include "core/base/json_io.h"

namespace triescope::app {

using nlohmann::json;

namespace {

// The models that fit on each device, by its id.
std::vector<std::pair<std::string, WhatFits>> fits_by_device(
    const std::vector<CatalogEntry>& models) {
  const ModelHeaders headers;
  std::vector<std::pair<std::string, WhatFits>> fits;
  for (const DeviceInfo& device : list_devices()) {
    RunRequest request;
    choose_device(request, device.id);
    fits.emplace_back(device.id, what_fits_of(headers, models, request));
  }
  return fits;
}

}  // namespace

Report catalog_report(
    const std::function<std::vector<CatalogEntry>(std::vector<CatalogEntry>)>& of) {
  const struct {
    const char *name, *heading;
    std::vector<CatalogEntry> entries;
  } kinds[] = {{"model", "", of(list_models())},
               {"draft head", "Draft heads, for --draft:\n", of(list_draft_heads())},
               {"draft model", "Draft models, for --draft:\n", of(list_draft_models())}};
  Report report;
  json rows = json::array();
  const auto fits = fits_by_device(kinds[0].entries);
  for (const auto& [kind, heading, entries] : kinds) {
    if (!entries.empty()) report.text += heading;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const CatalogEntry& entry = entries[i];
      json row = {{"name", entry.name}, {"path", entry.path}, {"note", entry.note}, {"kind", kind}};
      report.text += entry.name + "\n  " + entry.path + "\n";
      if (&entries == &kinds[0].entries) {
        row["memory"] = json::array();
        for (const auto& [device, what] : fits) {
          const ModelFit& fit = what.models[i];
          row["memory"].push_back({{"device", device},
                                   {"needs", fit.need},
                                   {"free", what.free},
                                   {"problem", fit.problem}});
          report.text += "  " +
                         (fit.problem.empty() ? device + ": " + need_text(fit.need, what.free)
                                              : "✕ " + fit.problem) +
                         "\n";
        }
      }
      rows.push_back(std::move(row));
    }
  }
  if (kinds[0].entries.empty())
    report.text =
        "no models installed: run `make build` once, or set TRIESCOPE_MODELS to a folder with "
        "models\n" +
        report.text;
  report.json = dump_json(rows, 2) + "\n";
  return report;
}

}  // namespace triescope::app

// AcceptanceSheet: where the drafts of several methods are accepted: the bars of each under its name.
// As a panel it is a picture for exports, whatever run the scene has.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "viz/panels/acceptance_rows.h"
#include "viz/panels/panel.h"

namespace triescope::viz {

struct NamedAcceptance {
  std::string name;
  int runs = 0;  // whose drafts they are
  Acceptance acceptance;
};

class AcceptanceSheet {
 public:
  struct Bar {
    Rect box;
    std::size_t method = 0, group = 0;  // by index
  };
  // In which all of it stands.
  static float height_em(const std::vector<NamedAcceptance>& methods);
  // Draws from the top of `area` down; leaves out what does not fit.
  void draw(Canvas& canvas, Rect area, AcceptanceBy by, const std::vector<NamedAcceptance>& methods,
            const Scene& scene);
  const std::vector<Bar>& bars() const { return bars_; }  // as drawn last

 private:
  std::vector<Bar> bars_;
};

// Without the causes that explain nothing.
NamedAcceptance shown_acceptance(AcceptanceBy by, NamedAcceptance method);
// A row a method and group: name and the columns of acceptance_csv().
std::string acceptance_sheet_csv(AcceptanceBy by, const std::vector<NamedAcceptance>& methods);
std::unique_ptr<Panel> make_acceptance_sheet(AcceptanceBy by, std::vector<NamedAcceptance> methods);

}  // namespace triescope::viz

#include "viz/text/plot_number.h"

#include <cmath>

#include "viz/text/number_text.h"

namespace triescope::viz {

std::string plot_number(double value) {
  const double size = std::abs(value);
  return number_text(value, size >= 99.95                 ? 0
                            : size >= 9.995               ? 1
                            : size >= 0.0995 || size == 0 ? 2
                                                          : 3);
}

}  // namespace triescope::viz

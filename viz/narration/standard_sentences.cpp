// The program's own sentences. They have a file of their own so that reading templates needs no
// assets.
#include "viz/narration/sentences.h"
#include "viz/text/assets.h"

namespace triescope::viz {

const Sentences& Sentences::standard() {
  static const Sentences all = read(asset_files("assets/narration/", asset_folder()));
  return all;
}

}  // namespace triescope::viz

// The program's own sentences. They have a file of their own so that reading templates needs no
// assets.
#include "core/base/error.h"
#include "viz/narration/sentences.h"
#include "viz/text/assets.h"

namespace triescope::viz {

const Sentences& Sentences::standard() {
  static const Sentences all = read(asset_files("assets/narration/", asset_folder()));
  return all;
}

const Sentences& Sentences::standard_or_built_in() {
  static const Sentences& all = []() -> const Sentences& {
    try {
      return standard();
    } catch (const Error&) {
      static const Sentences built_in = read(asset_files("assets/narration/", ""));
      return built_in;
    }
  }();
  return all;
}

}  // namespace triescope::viz

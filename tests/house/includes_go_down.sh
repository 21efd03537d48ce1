# Includes go down only (scripts/floors.txt), and the check that says so can fail: it names an include that runs upwards, one past a
# folder's list, and a folder that no floor lists.
set -euo pipefail
"$TRIESCOPE_SOURCE/scripts/check_floors"

house=$(mktemp -d)
trap 'rm -rf "$house"' EXIT
fails_with() {
  local output
  output=$("$TRIESCOPE_SOURCE/scripts/check_floors" "$house") && { echo "FAILED: expected exit 1, found 0: $output"; exit 1; }
  grep -qF -- "$1" <<<"$output" || { echo "FAILED: expected '$1' in: $output"; exit 1; }
}
mkdir -p "$house"/core/{tree,verify,cellar} "$house"/viz/draw
echo '#include "core/verify/verify.h"' >"$house/core/tree/token_tree.h"
fails_with 'core/tree/token_tree.h:1: core/tree includes core/verify/verify.h, which goes upwards'
printf '#pragma once\n#include "core/session/session.h"\n' >"$house/core/tree/token_tree.h"
fails_with 'core/tree/token_tree.h:2: core/tree includes core/session/session.h, which goes upwards'
echo '#include "core/model/model.h"' >"$house/viz/draw/scene.h"
fails_with 'viz/draw/scene.h:1: viz/draw includes core/model/model.h, which goes past its list'
echo >"$house/core/cellar/wine.h"
fails_with 'core/cellar/wine.h: lies in no folder of scripts/floors.txt'

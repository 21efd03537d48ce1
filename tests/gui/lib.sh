# Helpers of the window tests: they run under a display of their own ($DISPLAY is set by the test runner). Settings and runs go to
# a folder of the test's own.
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
[[ -n ${DISPLAY:-} ]] || { echo "[SKIPPED] no display: run the tests with make test, or under xvfb-run"; exit 77; }
export XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache LIBGL_ALWAYS_SOFTWARE=1
window() { timeout 300 "$TRIESCOPE" --no-animation --size 1280x720 "$@"; }

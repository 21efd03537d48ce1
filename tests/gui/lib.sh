# Helpers of the window tests: they run under a display of their own ($DISPLAY is set by the test runner). Settings and runs go to
# a folder of the test's own.
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
[[ -n ${DISPLAY:-} ]] || { echo "[SKIPPED] no display: run the tests with make test, or under xvfb-run"; exit 77; }
export XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache LIBGL_ALWAYS_SOFTWARE=1
window() { timeout 300 "$TRIESCOPE" --no-animation --size 1280x720 "$@"; }

# Real keys and clicks, by xdotool, on the window of the process $pid, which is $id once find_window has looked for it. Places are px
# of the window. xdotool may be missing: a script that needs it skips.
appears() { for _ in $(seq "${2:-600}"); do [[ -s $1 ]] && return; sleep 0.05; done; }  # FILE [TRIES]
find_window() { sleep 0.3; id=$(xdotool search --pid $pid --name triescope | tail -1); xdotool windowfocus "$id" 2>/dev/null; }
key() { for k in "$@"; do xdotool key --window "$id" "$k"; sleep 0.15; done; }
click() { xdotool mousemove --window "$id" "$1" "$2"; sleep 0.15; xdotool click "${3:-1}"; sleep 0.15; }  # X Y [BUTTON]
# at N COMMAND...: once $work/N.json is written, while state N+1 is waited for.
at() {
  appears "$work/$1.json"
  [[ $1 == 0 ]] && find_window
  sleep 0.2
  shift
  "$@"
}

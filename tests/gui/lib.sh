# Helpers of the window tests. Each test has a virtual display of its own, so that several run side by side and none sees another's windows;
# without Xvfb it takes the one in $DISPLAY. Settings and runs go to a folder of the test's own.
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
export XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache LIBGL_ALWAYS_SOFTWARE=1
own_display() {
  Xvfb -displayfd 3 -screen 0 1920x1200x24 -nolisten tcp -noreset 3>"$work/display" >/dev/null 2>"$work/xvfb.log" &
  local server=$!
  trap "kill $server 2>/dev/null; rm -rf \"\$work\"" EXIT
  for _ in $(seq 600); do
    if [[ -s $work/display ]]; then
      export DISPLAY=:$(<"$work/display")
      return
    fi
    kill -0 $server 2>/dev/null || break
    sleep 0.05
  done
  echo "no virtual display: $(<"$work/xvfb.log")"
}
command -v Xvfb >/dev/null && own_display
[[ -n ${DISPLAY:-} ]] || { echo "[SKIPPED] no display: run the tests with make test, or under xvfb-run"; exit 77; }
# A tooltip would come up where the last test left the pointer.
command -v xdotool >/dev/null && xdotool mousemove 10000 10000
window() { timeout 300 "$TRIESCOPE" --no-animation --size 1280x720 "$@"; }

# Real keys and clicks, by xdotool, on the window of the process $pid, which is $id once find_window has found it. Places are in px of the
# window. A script that needs xdotool skips without it.
appears() { for _ in $(seq "${2:-600}"); do [[ -s $1 ]] && return; sleep 0.05; done; [[ -s $1 ]]; }  # FILE [TRIES]
family() { local child; echo "$1"; for child in $(pgrep -P "$1"); do family "$child"; done; }  # a process and those it started
# Finds a window of $pid or of its children with this title: another program's may still be on the display.
window_named() {
  local process
  for process in $(family $pid); do xdotool search --all --pid "$process" --name "$1" 2>/dev/null | tail -n 1; done | tail -n 1
}
find_window() { sleep 0.3; id=$(window_named triescope); xdotool windowfocus "$id" 2>/dev/null; }
# Finds a window that runs no script: once its title names the open capture, it has drawn a frame and takes keys.
find_drawn_window() {
  for _ in $(seq 1200); do [[ -n $(window_named "^.+ - triescope\$") ]] && break; sleep 0.05; done
  find_window
}
key() { for k in "$@"; do xdotool key --window "$id" "$k"; sleep 0.15; done; }
click() { xdotool mousemove --window "$id" "$1" "$2"; sleep 0.15; xdotool click "${3:-1}"; sleep 0.15; }  # X Y [BUTTON]
# press STATE NAME: clicks the item NAME of the state of that number.
press() {
  local place
  place=$(python3 -c 'import json, sys
x, y, w, h = json.load(open(sys.argv[1]))["targets"][sys.argv[2]]
print(round(x + w / 2), round(y + h / 2))' "$work/$1.json" "$2") || { echo "FAILED: there is no '$2' in state $1"; failures=$((failures + 1)); }
  click $place
}
# Prints script lines for each N: the script writes $work/N.json, and goes on when `at N` has done its part, however long that takes.
by_hand() { local n; for n in "$@"; do printf 'write-state %s\nwait file %s\nwait ms 150\n' "$work/$n.json" "$work/$n.done"; done; }
# at N COMMAND...: runs COMMAND once $work/N.json is written. The first call looks for the window of $pid.
at() {
  local n=$1
  shift
  appears "$work/$n.json" 2400
  [[ -n ${id:-} ]] || find_window
  sleep 0.2
  "$@"
  touch "$work/$n.done"
}
# walking N [ARGUMENT…]: opens a window without the run bar's many fields, for up to N keys. The state after each key is $work/$n.json,
# whose `walk` names the focused item. walked: ends it.
walking() {
  local keys=$1
  n=0
  shift
  { echo run-bar; by_hand $(seq 0 "$keys"); } >"$work/walking.script"
  window "$@" --script "$work/walking.script" &
  pid=$!
  appears "$work/0.json" 2400
  find_window
}
say() { echo "FAILED: $*"; failures=$((failures + 1)); }
give_up() { say "$*"; pkill -P $pid; finish; }
next() {
  touch "$work/$n.done"
  n=$((n + 1))
  appears "$work/$n.json" 600 || give_up "no state $n"
  sleep 0.05
}
state() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$work/$n.json" "$1"; }
holds() { [[ $(state "bool($1)") == True ]] || say "$2: $1; the focus is on '$(state 'd["walk"]')'"; }
press_key() { xdotool key --window "$id" "$1"; sleep 0.1; next; }
# walk NAME: presses Tab until NAME has the focus.
walk() {
  for _ in $(seq 45); do
    [[ $(state 'd["walk"]') == "$1" ]] && return
    press_key Tab
  done
  give_up "Tab does not reach $1"
}
walked() {
  xdotool key --window "$id" ctrl+q
  wait $pid || say "the window ended with $?"
}

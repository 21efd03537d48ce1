# Bad input in the window: a readable problem, and the window and what was recorded stay.
source "$(dirname "$0")/lib.sh"
echo "no capture" >"$work/bad.tscap"
cat >"$work/bad.script" <<SCRIPT
open-file $work/bad.tscap
write-state $work/1.json
open-file $work/missing.tscap
write-state $work/2.json
screenshot $work/problem.png
SCRIPT
window --script "$work/bad.script" || { echo "FAILED: the window ended with $?"; failures=$((failures + 1)); }
check_json "$work/1.json" 'len(d["problems"]) == 1 and "bad.tscap" in d["problems"][0]'
check_json "$work/2.json" 'len(d["problems"]) == 2 and "missing.tscap" in d["problems"][1] and d["documents"] == 0'
# Without a font the window says so, in its built-in one, and an export is refused.
mkdir "$work/none"
echo "<?xml version=\"1.0\"?><fontconfig><dir>$work/none</dir><cachedir>$work/fonts-cache</cachedir></fontconfig>" >"$work/fonts.conf"
cat >"$work/fonts.script" <<SCRIPT
write-state $work/3.json
open-file $TRIESCOPE_SOURCE/assets/lessons/beam.tscap
screenshot $work/no-font.png
export-panel trie png $work/x.png
wait idle
write-state $work/4.json
SCRIPT
FONTCONFIG_FILE=$work/fonts.conf window --script "$work/fonts.script" || { echo "FAILED: without a font the window ended with $?"; failures=$((failures + 1)); }
check_json "$work/3.json" '"no font with Latin letters is installed" in d["message"]'
check_json "$work/4.json" 'len(d["problems"]) == 1 and "a picture cannot be drawn" in d["problems"][0]'
echo "no-such-command" >"$work/wrong.script"
expect 2 'wrong.script:1' "$TRIESCOPE" --script "$work/wrong.script"
mkdir -p "$XDG_CONFIG_HOME"
expect 3 'config: cannot be read \(Is a directory\); expected a script' "$TRIESCOPE" --script "$XDG_CONFIG_HOME"
DISPLAY= expect 4 'no display' "$TRIESCOPE"
finish

# Bad input in the window gives a readable problem; the window and everything recorded stay.
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
# Without a font the window says so, in its built-in font, and an export is refused.
mkdir "$work/none"
echo "<?xml version=\"1.0\"?><fontconfig><dir>$work/none</dir><cachedir>$work/fonts-cache</cachedir></fontconfig>" >"$work/fonts.conf"
cat >"$work/fonts.script" <<SCRIPT
write-state $work/3.json
open-file $TRIESCOPE_SOURCE/assets/lessons/beam.tscap
screenshot $work/no-font.png
SCRIPT
FONTCONFIG_FILE=$work/fonts.conf window --script "$work/fonts.script" || { echo "FAILED: without a font the window ended with $?"; failures=$((failures + 1)); }
check_json "$work/3.json" '"no font with Latin letters: install one" in d["message"] and not d["problems"]'
[[ -s $work/no-font.png ]] || { echo "FAILED: no screenshot without a font"; failures=$((failures + 1)); }
printf 'export-panel trie png %s\nwait idle\n' "$work/x.png" >>"$work/fonts.script"
FONTCONFIG_FILE=$work/fonts.conf expect 2 'a picture cannot be drawn: no font with Latin letters: install one' window --script "$work/fonts.script"
[[ ! -e $work/x.png ]] || { echo "FAILED: a picture without letters was written"; failures=$((failures + 1)); }
echo "no-such-command" >"$work/wrong.script"
expect 2 'wrong.script:1' "$TRIESCOPE" --script "$work/wrong.script"
mkdir -p "$XDG_CONFIG_HOME"
expect 3 'config: cannot be read \(Is a directory\); expected a script' "$TRIESCOPE" --script "$XDG_CONFIG_HOME"
DISPLAY= expect 4 'no display' "$TRIESCOPE"
finish

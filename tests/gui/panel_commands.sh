# Zoom, fit and fold can be reached by buttons at the right of a panel's tabs, keys over it, the palette, the tab's menu and scripts. Other
# keys: full screen and back, a picture of a panel (Enter confirms the path), help about a panel, and the meaning of a term.
source "$(dirname "$0")/lib.sh"
need_model
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
"$TRIESCOPE" decode --quiet --model "$model" --method beam --set num_beams=3 --prompt "Once upon a time" --max-new-tokens 12 --capture "$work/run.tscap" >/dev/null || failures=$((failures + 1))
{
  echo "layout-debug"
  by_hand 0 1 2 3 4 5 6 7 8
  echo "write-state $work/9.json"
  echo "fold"
  echo "write-state $work/10.json"
  by_hand 20 21 22 23
  echo "full-screen"
  echo "wait ms 400"
  echo "write-state $work/11.json"
  echo "full-screen"
  echo "wait ms 400"
  echo "write-state $work/12.json"
} >"$work/panel.script"
cd "$work" || exit 1
window "$work/run.tscap" --script "$work/panel.script" &
pid=$!
over() { xdotool mousemove --window "$id" "$1" "$2"; sleep 0.2; shift 2; key "$@"; }
palette() { key ctrl+shift+p; xdotool type --window "$id" --delay 30 "$1"; sleep 0.2; key Return; }
menu() { click 352 101 3; sleep 0.2; click 372 "$1"; }
at 0 click 846 102         # fit
at 1 click 846 102         # and back
at 2 click 824 102         # zoom in
at 3 click 801 102         # zoom out
at 4 over 600 300 z        # the trie's folds
at 5 palette "panel: fold"
at 6 palette "panel: fit"
at 7 eval 'over 600 300 ctrl+shift+e; sleep 0.3; key Return; appears "$work/trie.png" 200'  # asks where, and proposes a name
at 8 over 1080 180 z       # what the texts share, in the text panel
at 20 press 20 "about trie"
at 21 key Escape
at 22 over 395 129 shift+F1 # the legend's first entry
at 23 key Escape
wait $pid || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
check_json "$work/0.json" 'd["views"]["trie"] == "mode=auto;zoom=1.000" and d["views"]["text"] == ""'
check_json "$work/1.json" 'd["views"]["trie"].endswith(";fit=1")'
check_json "$work/2.json" 'd["views"]["trie"] == "mode=auto;zoom=1.000"'
check_json "$work/3.json" 'd["views"]["trie"] == "mode=auto;zoom=1.250"'
check_json "$work/4.json" 'd["views"]["trie"] == "mode=auto;zoom=1.000"'
check_json "$work/5.json" 'd["views"]["trie"] == "mode=all;zoom=1.000"'
check_json "$work/6.json" 'd["views"]["trie"] == "mode=none;zoom=1.000" and not d["dialog"]'
check_json "$work/7.json" 'd["views"]["trie"].endswith(";fit=1")'
check_json "$work/9.json" 'd["views"]["text"] == "shared=each" and d["problems"] == []'
check_json "$work/9.json" 'd["views"]["trie"].startswith("mode=none;")'
check_json "$work/10.json" 'd["views"]["text"] == ""'
check_json "$work/21.json" 'd["popups"] == 1 and not d["dialog"]'
check_json "$work/22.json" 'd["popups"] == 0'
check_json "$work/23.json" 'd["dialog"] and d["glossary"].startswith("beam")'
check_json "$work/12.json" 'not d["fullscreen"] and d["size"] == [1280, 720]'
check_json "$work/11.json" 'd["fullscreen"] and d["size"][0] >= 1280 and d["size"][1] > 720'
[[ $(head -c 8 "$work/trie.png" | od -An -tx1 | tr -d ' \n') == 89504e470d0a1a0a ]] || { echo "FAILED: no picture of the trie"; failures=$((failures + 1)); }
check_json "$work/9.json" 'd["message"].startswith("exported ") and d["message"].endswith("/trie.png")'
finish

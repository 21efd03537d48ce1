# The dialog that exports a panel. A picture has the theme chosen there, as `export --theme` draws it. The dialog also exports one step, the
# screen's part, and animations.
source "$(dirname "$0")/lib.sh"
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/self_beam.tscap" "$work/run.tscap"
for theme in light dark projector; do
  "$TRIESCOPE" export --quiet "$work/run.tscap" --panel trie --format svg --theme $theme -o "$work/$theme.svg" || say "export with the theme $theme"
done
"$TRIESCOPE" export --quiet "$work/run.tscap" --panel trie --format svg --theme dark --part step -o "$work/step.svg"
for n in 0 1 2 3 4 5; do
  echo export
  by_hand $n
done >"$work/by_hand.script"
cd "$work" || exit 1
window run.tscap --script by_hand.script &
pid=$!
shown=trie.svg
export_now() {  # N THEME: chosen by a click; light is there already
  [[ $2 == light || $2 == step ]] || press "$1" "theme $2"
  press "$1" export
  appears "$work/$shown" 200
  cmp "$work/$shown" "$work/$2.svg" || say "the dialog's picture with the theme $2"
  rm -f "$work/$shown"
  xdotool mousemove 10000 10000  # the dialog begins with the panel under the mouse
  sleep 0.3
}
at 0 export_now 0 light
at 1 export_now 1 projector
at 2 export_now 2 dark
at 3 eval 'press 3 "this step"; export_now 3 step'
sized() {
  press 4 png
  press 4 "as on the screen"
  press 4 export
  appears "$work/trie.png" 200
  xdotool mousemove 10000 10000  # the dialog begins with the panel under the mouse
  sleep 0.3
}
at 4 sized
python3 -c 'import struct, sys
w, h = struct.unpack(">II", open(sys.argv[1], "rb").read()[16:24])
assert 300 < w < 1280 and 150 < h < 720, (w, h)' "$work/trie.png" || say "what the screen shows has its size"
at 5 eval 'press 5 gif; press 5 export; appears "$work/trie.gif" 400'
[[ $(head -c 6 "$work/trie.gif") == GIF89a ]] || say "a GIF from the dialog"
wait $pid || say "the window ended with $?"
finish

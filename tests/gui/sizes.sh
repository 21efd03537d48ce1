# Every panel is drawn in both themes, three text sizes and a small window, without an error and with a picture that is not empty.
source "$(dirname "$0")/lib.sh"
need_model
"$TRIESCOPE" decode --quiet --model "$model" --method ngram_trie --prompt "one two three four one two three four one two" --max-new-tokens 16 --capture "$work/run.tscap" >/dev/null || failures=$((failures + 1))
panels=$(panel_names)
[[ $(wc -w <<<"$panels") -ge 11 ]] || { echo "FAILED: the panels are not listed, only '$panels'"; failures=$((failures + 1)); }
{
  for panel in $panels; do
    echo "maximise-panel $panel"; echo "screenshot $work/$panel.png"
  done
  echo "maximise"
  for scale in 1 1.5 2; do
    for theme in dark light; do
      echo "set-scale $scale"; echo "set-theme $theme"; echo "screenshot $work/all-$scale-$theme.png"
    done
  done
  echo "write-state $work/state.json"
} >"$work/sizes.script"
window "$work/run.tscap" --script "$work/sizes.script" || { echo "FAILED: the window ended with $?"; failures=$((failures + 1)); }
check_json "$work/state.json" 'd["problems"] == [] and d["scale"] == 2.0'
for picture in "$work"/*.png; do
  # A PNG of one colour compresses to next to nothing.
  [[ $(stat -c %s "$picture") -gt 8000 ]] || { echo "FAILED: $(basename "$picture") is empty"; failures=$((failures + 1)); }
done
finish

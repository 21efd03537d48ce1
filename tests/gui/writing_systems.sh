# Chinese, Arabic, Hebrew, Hindi and emoji have glyphs in the prompt field and in the panels: two words of a script look different. Without
# any font on the system they are shown as code points, without an error.
source "$(dirname "$0")/lib.sh"
need_model
pairs=("中文 字体" "سلام كتاب" "שלום ספר" "नमस्ते किताब" "😀😁 🌍🚀" "ภาษา หนังสือ")
for i in "${!pairs[@]}"; do
  read -r one two <<<"${pairs[$i]}"
  for word in "$one" "$two"; do
    {
      echo "prompt $word"
      echo "wait ms 50"
      echo "screenshot $work/$i-$word.png"
    } >>"$work/prompts.script"
  done
  "$TRIESCOPE" decode --quiet --model "$model" --method greedy --prompt "$one $two" --max-new-tokens 2 --capture "$work/$i.tscap" >/dev/null || failures=$((failures + 1))
done
window --script "$work/prompts.script" || { echo "FAILED: the window ended with $?"; failures=$((failures + 1)); }
for i in "${!pairs[@]}"; do
  read -r one two <<<"${pairs[$i]}"
  cmp -s "$work/$i-$one.png" "$work/$i-$two.png" && { echo "FAILED: '$one' and '$two' look the same"; failures=$((failures + 1)); }
done
panels() {
  for i in "${!pairs[@]}"; do
    echo "open-file $work/$i.tscap"
    for panel in text trie inspector; do echo "maximise-panel $panel"; echo "screenshot $work/$1-$i-$panel.png"; done
  done
  echo "write-state $work/$1.json"
}
panels fonts >"$work/fonts.script"
window --script "$work/fonts.script" || { echo "FAILED: the window ended with $?"; failures=$((failures + 1)); }
check_json "$work/fonts.json" 'd["problems"] == [] and d["documents"] == 6'
panels none >"$work/none.script"
mkdir "$work/no-fonts"
printf '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>%s</dir><cachedir>%s</cachedir></fontconfig>' "$work/no-fonts" "$work/no-fonts" >"$work/fonts.conf"
FONTCONFIG_FILE=$work/fonts.conf window --script "$work/none.script" || { echo "FAILED: without fonts the window ended with $?"; failures=$((failures + 1)); }
check_json "$work/none.json" 'd["problems"] == [] and d["documents"] == 6'
finish

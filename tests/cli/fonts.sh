# A machine without a font that has Latin letters: no picture of boxes, but an error that says what to install.
source "$(dirname "$0")/lib.sh"
capture="$TRIESCOPE_SOURCE/tests/fixtures/captures/beam.tscap"
fonts() {  # fonts FOLDER: fontconfig finds the fonts there alone
  echo "<?xml version=\"1.0\"?><fontconfig><dir>$1</dir><cachedir>$work/fonts-cache</cachedir></fontconfig>" >"$work/fonts.conf"
}
without() { FONTCONFIG_FILE=$work/fonts.conf "$TRIESCOPE" "$@"; }
refused() { expect 4 'no font with Latin letters: install one \(fonts-dejavu-core' without "$@"; }
all_refused() {
  for format in svg pdf png; do refused export "$capture" --panel trie --format $format -o "$work/x.$format"; done
  refused export "$capture" "$capture" --panel trie --format png -o "$work/x.png"
  refused export "$capture" --panel trie --format png -o -
  refused export "$capture" --panel trie --format gif -o "$work/x.gif"
  refused export "$capture" --panel trie --format png-frames -o "$work/x.png"
  refused export "$capture" --format html -o "$work/x.html"
  refused lesson export 03-beam-search-is-a-trie -o "$work/x.html"
  [[ -z $(ls "$work" | grep '^x') ]] || { echo "FAILED: a picture without letters was left: $(ls "$work")"; failures=$((failures + 1)); }
}
mkdir "$work/none" && fonts "$work/none"
all_refused
# What has no letters is written.
expect 0 'written' without export "$capture" --panel trie --format csv -o "$work/y.csv"
expect 0 'written' without export "$capture" --format jsonl -o "$work/y.jsonl"
# One letter's shapes are no font: fonts of other signs alone count as none.
emoji=$(fc-list 2>/dev/null | grep -m1 -o '^[^:]*NotoColorEmoji[^:]*\.ttf')
if [[ -n $emoji ]]; then
  mkdir "$work/emoji" && ln -s "$emoji" "$work/emoji/" && fonts "$work/emoji"
  all_refused
fi
finish

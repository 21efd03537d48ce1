# Exports of several steps: a handout, a GIF, PNG frames; and what is refused.
source "$(dirname "$0")/lib.sh"
for name in beam chain; do cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/self_$name.tscap" "$work/$name.tscap"; done
beam=$work/beam.tscap
export_beam() { "$TRIESCOPE" export "$beam" "$@"; }

expect 0 'run.html written$' export_beam --format html -o "$work/run.html"
expect 0 '^$' export_beam --quiet --format html --panel mask,kv --panel text --steps 2:4 -o "$work/part.html"
python3 - "$work" <<'PY' || failures=$((failures + 1))
import base64, json, sys, zlib
def data(name):
    packed = open(f"{sys.argv[1]}/{name}", encoding="utf-8").read().split('id="run">')[1].split("</script>")[0]
    return json.loads(zlib.decompress(base64.b64decode(packed, validate=True)))
run, part = data("run.html"), data("part.html")
assert [p["name"] for p in run["panes"]] == ["trie", "text", "verdict", "kv", "memory"], "the panels of beam search"
assert [s["step"] for s in run["steps"]] == list(range(len(run["steps"]))) and len(run["steps"]) > 9, "every step"
assert [p["name"] for p in part["panes"]] == ["mask", "kv", "text"], "panels by comma and by option"
assert [s["step"] for s in part["steps"]] == [2, 3, 4], "a range of steps"
PY

expect 0 'trie.gif written$' export_beam --format gif --panel trie --steps 1:3 --size 320x200 --delay 250 --loop 2 -o "$work/trie.gif"
python3 - "$work/trie.gif" <<'PY' || failures=$((failures + 1))
import sys
data = open(sys.argv[1], "rb").read()
assert data[:6] == b"GIF89a" and int.from_bytes(data[6:8], "little") == 320 and int.from_bytes(data[8:10], "little") == 200
assert data.count(b"\x21\xf9\x04") == 3 and data.count(b"\x21\xf9\x04\x04\x19\x00") == 3, "three frames of 250 ms"
assert b"NETSCAPE2.0\x03\x01\x01\x00" in data, "shown twice: repeated once"
PY
expect 0 'two-002.png to .*two-004.png written$' export_beam --format png-frames --panel kv --panel text --steps 2:4 --theme dark -o "$work/two.png"
[[ $(cd "$work" && echo two-*.png) == "two-002.png two-003.png two-004.png" ]] || { echo "FAILED: $(ls "$work")"; failures=$((failures + 1)); }
expect 0 'one-003.png written$' "$TRIESCOPE" export "$work/chain.tscap" --format png-frames --panel kv --whose draft --steps 3:3 -o "$work/one.png"

expect 2 "panel 'tire' is not one of: .*; did you mean trie\?$" export_beam --format html --panel text,tire -o "$work/x.html"
expect 2 'every panel once; found text twice$' export_beam --format html --panel text,text -o "$work/x.html"
expect 0 'last.svg written$' export_beam --format svg --panel trie --theme projector -o "$work/last.svg"
expect 0 'last.gif written$' export_beam --format gif --panel trie --steps 2:3 --theme projector -o "$work/last.gif"
expect 2 '--theme: .*projector' export_beam --format svg --panel trie --theme pink -o "$work/x.svg"
expect 2 '^.*--theme: expected with the picture of a panel; found --format html, a page' export_beam --format html --theme dark -o "$work/x.html"
expect 2 '--step: expected with the picture' export_beam --format html --step 3 -o "$work/x.html"
expect 2 '--steps: expected FIRST:LAST' export_beam --format html --steps 5:900 -o "$work/x.html"
expect 2 '--panel: expected with the picture of a panel; found --format jsonl' export_beam --format jsonl --panel text -o "$work/x.jsonl"
expect 2 '--panel: expected one of .*; found trie, text$' export_beam --format svg --panel trie,text -o "$work/x.svg"
expect 2 'one panel or two for frames; found 0$' export_beam --format gif -o "$work/x.gif"
expect 2 'one panel or two for frames; found 3$' export_beam --format gif --panel trie,text,kv -o "$work/x.gif"
expect 2 '--step: expected with the picture of one step; found --format gif' export_beam --format gif --panel trie --step 3 -o "$work/x.gif"
expect 2 'OTHER: expected with the picture of one step' "$TRIESCOPE" export "$beam" "$work/chain.tscap" --format gif --panel trie -o "$work/x.gif"
expect 2 '--delay: expected with --format gif; found --format png-frames$' export_beam --format png-frames --panel trie --delay 100 -o "$work/x.png"
expect 2 '--delay' export_beam --format gif --panel trie --delay 5 -o "$work/x.gif"
expect 2 'a name that ends in .png' export_beam --format png-frames --panel trie -o "$work/frames"
expect 2 "format 'htm' is not one of: .*html" export_beam --panel trie --format htm -o "$work/x.html"
expect 3 'no.tscap' "$TRIESCOPE" export "$work/no.tscap" --format html -o "$work/x.html"
expect 4 'nowhere/x.html' export_beam --format html -o "$work/nowhere/x.html"
expect 4 'nowhere/x.gif' export_beam --format gif --panel trie --steps 1:2 -o "$work/nowhere/x.gif"
[[ -z $(cd "$work" && ls | grep -E '^x\.|\.part') ]] || { echo "FAILED: something was left: $(ls "$work")"; failures=$((failures + 1)); }

# Standard output: every format that is one file, whole, with nothing else in it; behind what is there already.
here=$work/here
mkdir "$here"
for format in svg pdf png csv gif html jsonl; do
  options=(--format $format)
  case $format in
    svg | pdf | png | csv) options+=(--panel kv --step 3) ;;
    gif) options+=(--panel kv --steps 2:3) ;;
    *) options+=(--steps 2:3) ;;
  esac
  export_beam --quiet "${options[@]}" -o "$work/file.$format" || { echo "FAILED: export of $format"; failures=$((failures + 1)); }
  (echo before; cd "$here" && export_beam "${options[@]}" -o - 2>"$work/said"; echo "$?" >"$work/code") >"$work/stream.$format"
  [[ $(<"$work/code") == 0 && ! -s $work/said ]] || { echo "FAILED: $format to standard output: $(<"$work/code") $(<"$work/said")"; failures=$((failures + 1)); }
  cmp <(echo before; cat "$work/file.$format") "$work/stream.$format" || { echo "FAILED: $format differs on standard output"; failures=$((failures + 1)); }
done
expect 2 '^triescope: -o: expected NAME.png, .*; found -, standard output, which takes one file' export_beam --format png-frames --panel kv -o -
(cd "$here" && export_beam --quiet --format csv --panel kv -o ./-) && [[ -s $here/- ]] || { echo "FAILED: no file called -"; failures=$((failures + 1)); }
[[ $(ls "$here") == - ]] || { echo "FAILED: left behind: $(ls "$here")"; failures=$((failures + 1)); }
if [[ -e /dev/full ]]; then
  export_beam --format svg --panel kv -o - >/dev/full 2>"$work/said"
  [[ $? == 4 ]] && grep -q '^triescope: standard output: cannot be written' "$work/said" || { echo "FAILED: a full disk: $(<"$work/said")"; failures=$((failures + 1)); }
fi
finish

# A whole run is exported from the window, as a handout and as data: by a script's verb, for a range of steps, and by the command. The
# command's dialog proposes a free name and writes nothing before it is confirmed.
source "$(dirname "$0")/lib.sh"
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/self_beam.tscap" "$work/beam.tscap"
cd "$work" || exit 1
echo mine >beam-handout.html
{
  cat <<E2
range 2 4
export-handout $work/part.html
wait idle
range all
save-handout
E2
  by_hand 0
  cat <<E2
wait idle
range 2 4
export-data $work/part.jsonl
wait idle
range all
save-data
E2
  by_hand 1
  printf 'wait idle\nquit\n'
} >handout.script
window beam.tscap --script handout.script 2>"$work/log" &
pid=$!
at 0 eval '[[ -e beam-handout-2.html ]] && say "written before anybody said so"; press 0 save; appears beam-handout-2.html 200'
at 1 eval 'press 1 save; appears beam.jsonl 200'
wait $pid || { echo "FAILED: the window"; cat "$work/log"; failures=$((failures + 1)); }
python3 - <<'PY' || failures=$((failures + 1))
import base64, json, zlib
def steps(name):
    page = open(name, encoding="utf-8").read()
    return [s["step"] for s in json.loads(zlib.decompress(base64.b64decode(page.split('id="run">')[1].split("</script>")[0])))["steps"]]
assert steps("part.html") == [2, 3, 4], "the range"
whole = steps("beam-handout-2.html")
assert whole == list(range(len(whole))) and len(whole) > 9, "the whole run"
lines = lambda name: [json.loads(line)["step"] for line in open(name, encoding="utf-8")]
assert lines("part.jsonl") == [2, 3, 4], "the range, as data"
assert lines("beam.jsonl") == whole, "the whole run, as data"
assert open("beam-handout.html").read() == "mine\n", "what was there stays"
PY
finish

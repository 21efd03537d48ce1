# "Draw another 10,000" with real clicks: each makes new draws with the next seed, every draw is one of the tokens, and χ² follows from the
# counts. The lossless rule agrees with the model; the broken one, a step further, does not.
source "$(dirname "$0")/lib.sh"
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
fail() { echo "FAILED: $1"; failures=$((failures + 1)); }
{
  echo "lesson 10-why-nothing-is-lost"
  echo "lesson-step 4"
  for n in 0 1 2; do
    by_hand $n
    echo "wait drawn"
  done
  by_hand 3
  echo "lesson-step 5"
  by_hand 4
  echo "wait drawn"
  by_hand 5
  echo "wait drawn"
  echo "write-state $work/6.json"
} >"$work/draws.script"
timeout 300 "$TRIESCOPE" --no-animation --size 1280x1060 --script "$work/draws.script" &
pid=$!
at 0 press 0 "choice 1"
at 1 press 1 "draw again"
at 2 press 2 "draw again"
at 3 true
at 4 press 4 "choice 1"
at 5 press 5 "draw again"
wait $pid || fail "the window ended with $?"
check_json "$work/0.json" 'd["lesson"]["question_open"] and d["lesson"]["drawn"] == [] and "draw again" not in d["targets"]'
python3 - "$work" <<'PY' || fail "the draws are not what they should be"
import json, sys
state = lambda n: json.load(open(f"{sys.argv[1]}/{n}.json"))
def drawn(n):
    d = state(n)
    assert not d["problems"], d["problems"]
    (one,) = d["lesson"]["drawn"]
    assert one["draws"] == 10000 and sum(one["counts"]) == 10000, one
    # Cells with fewer than five expected draws are merged.
    cells = [(c, 10000 * e) for c, e in zip(one["counts"], one["expected"])]
    large = [cell for cell in cells if cell[1] >= 5]
    small = [sum(x) for x in zip(*(cell for cell in cells if cell[1] < 5))]
    if small and small[1] > 0: large.append(tuple(small))
    chi = sum((c - e) ** 2 / e for c, e in large)
    assert abs(chi - one["chi_square"]) <= 1e-6 * chi, (chi, one)
    assert one["degrees"] == len(large) - 1, one
    return one
fair = [drawn(n) for n in (1, 2, 3)]
assert [one["seed"] for one in fair] == [1, 2, 3], fair
assert fair[0]["counts"] != fair[1]["counts"] != fair[2]["counts"] != fair[0]["counts"], fair
assert all(one["agrees"] for one in fair), fair
assert fair[0]["expected"] == fair[1]["expected"] == fair[2]["expected"], fair
broken = [drawn(n) for n in (5, 6)]
assert [one["seed"] for one in broken] == [1, 2], broken
assert broken[0]["counts"] != broken[1]["counts"] and not any(one["agrees"] for one in broken), broken
PY
finish

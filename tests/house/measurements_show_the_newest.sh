# The tables of docs/measurements.md and README.md are the newest figures of docs/measurements.csv, and the check that says so can fail.
set -euo pipefail
"$TRIESCOPE_SOURCE/scripts/measure" page --check

house=$(mktemp -d)
trap 'rm -rf "$house"' EXIT
mkdir "$house/docs"
cat >"$house/docs/measurements.md" <<'P'
| machine | what it has |
|---|---|
| **A** | one core |
| **B** | two cores |

<!-- measure: speed -->
<!-- end -->
P
printf '<!-- measure: speed | fast -->\n<!-- end -->\n' >"$house/README.md"
echo 'question,case,machine,figure,unit,commit,date,command,note' >"$house/docs/measurements.csv"
measure() { "$TRIESCOPE_SOURCE/scripts/measure" --root "$house" "$@"; }
add() { measure add "$@" --commit 1234abcd --command 'bench --all'; }
expect() { grep -qF -- "$1" "$2" || { echo "FAILED: expected '$1' in $2:"; cat "$2"; exit 1; }; }
absent() { ! grep -qF -- "$1" "$2" || { echo "FAILED: expected no '$1' in $2:"; cat "$2"; exit 1; }; }
refuses() {
  local said=$1 before after; shift
  before=$(cksum <"$house/docs/measurements.csv")
  "$@" 2>"$house/error" && { echo "FAILED: expected exit 1 of $*"; exit 1; }
  expect "$said" "$house/error"
  after=$(cksum <"$house/docs/measurements.csv")
  [ "$before" = "$after" ] || { echo "FAILED: $* was refused and written"; exit 1; }
}

# The newest figure of each case and machine is in the table, the older ones stay in the CSV.
add speed 'fast, one row' 11 ms --machine A
add speed 'fast, one row' 7-9 ms --machine A --note 'a quiet day'
add speed 'fast, one row' 5 ms --machine B
add speed 'slow, one row' '3 of 4' runs --machine B
page="$house/docs/measurements.md"
expect '| fast, one row | 7–9 ms (1) | 5 ms | `1234abcd` |' "$page"
expect '(1) a quiet day' "$page"
expect '`bench --all`' "$page"
expect '| slow, one row |  | 3 of 4 runs | `1234abcd` |' "$page"
absent '11 ms' "$page"
expect 'fast, one row' "$house/README.md"
absent 'slow' "$house/README.md"
measure history speed 'fast, one row' >"$house/history"
[ "$(grep -c 'fast, one row' "$house/history")" = 3 ] || { echo "FAILED: expected three figures:"; cat "$house/history"; exit 1; }
head -1 "$house/history" | grep -qF '11 ms' || { echo "FAILED: expected the oldest first:"; cat "$house/history"; exit 1; }
# A comparison of two versions has no table.
add 'change: shorter loops' 'one row' 0.9 'of the time before' --machine A
absent '0.9' "$page"
measure page --check

# A page that says something else is named.
sed -i 's/| 5 ms |/| 4 ms |/' "$page"
refuses 'measurements.md: expected the newest figures' measure page --check
measure page
expect '| 5 ms |' "$page"

# What a reader could not place is refused and not written.
refuses "found 'fast'" add speed 'fast, one row' fast ms --machine A
refuses 'expected a machine of measurements.md (A, B, any)' add speed 'fast, one row' 5 ms --machine C
refuses 'expected a question of measurements.md (speed)' add weight 'one row' 5 ms --machine A
refuses 'without | and `' add speed 'a | b' 5 ms --machine A
export GIT_CEILING_DIRECTORIES=${house%/*}  # wherever the folder is made, it is in no checkout
refuses 'name it with --commit' measure add speed 'fast, one row' 5 ms --machine A --command bench

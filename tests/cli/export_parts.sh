# How much of a picture an export shows: one step or some of a trie, a size too small for the whole, charts alone.
source "$(dirname "$0")/lib.sh"
cp "$TRIESCOPE_SOURCE"/assets/lessons/{beam,tree}.tscap "$work"
picture() { "$TRIESCOPE" export --quiet "$@"; }
# Of an SVG.
width() { python3 -c 'import re, sys; print(round(float(re.search(r"<svg[^>]* width=\"([0-9.]+)", open(sys.argv[1]).read()).group(1))))' "$work/$1.svg"; }
holds() { (($1)) || { echo "FAILED: $1: $2"; failures=$((failures + 1)); }; }
for run in beam tree; do
  expect 0 '^$' picture "$work/$run.tscap" --panel trie --format svg -o "$work/whole.svg"
  expect 0 '^$' picture "$work/$run.tscap" --panel trie --format svg --steps 4:5 -o "$work/steps.svg"
  expect 0 '^$' picture "$work/$run.tscap" --panel trie --format svg --part step --step 5 -o "$work/step.svg"
  expect 0 '^$' picture "$work/$run.tscap" --panel trie --format svg --part seen -o "$work/seen.svg"
  expect 0 '^$' picture "$work/$run.tscap" --panel trie --format svg --size 600x300 -o "$work/small.svg"
  holds "$(width steps) < $(width whole)" "$run: two steps are narrower than all"
  holds "$(width step) <= $(width steps)" "$run: a step is no wider than two"
  holds "$(width seen) == 960 + 28" "$run: a pane's size and the margins"
  holds "$(width small) == 600" "$run: the size asked for"
  grep -q 'steps 4 to 5' "$work/steps.svg" || { echo "FAILED: $run: the picture says which steps"; failures=$((failures + 1)); }
done
# The state that the last of the steps left, as with --step.
expect 0 '^$' picture "$work/beam.tscap" --panel trie --format csv --steps 4:5 -o "$work/steps.csv"
expect 0 '^$' picture "$work/beam.tscap" --panel trie --format csv --step 5 -o "$work/step.csv"
cmp <(grep -v '^#' "$work/steps.csv") <(grep -v '^#' "$work/step.csv") || { echo "FAILED: --steps A:B of the trie is not as step B left it"; failures=$((failures + 1)); }
expect 0 '^$' picture "$work/beam.tscap" "$work/tree.tscap" --panel trie --format svg --steps 4:5 -o "$work/pair.svg"

list=$("$TRIESCOPE" export --list) || { echo "FAILED: --list"; failures=$((failures + 1)); }
for name in trie memory acceptance acceptance-by-step margins margins-by-step levels; do
  grep -q "^$name " <<<"$list" || { echo "FAILED: --list lacks $name"; failures=$((failures + 1)); }
done
for format in svg pdf png csv; do
  expect 0 '^$' picture "$work/tree.tscap" --panel all --format $format -o "$work/each.$format"
  while read -r name _; do
    [[ -s $work/each-$name.$format ]] || { echo "FAILED: --panel all writes no $name as $format"; failures=$((failures + 1)); }
  done <<<"$list"
  (($(ls "$work"/each-*.$format | wc -l) == $(wc -l <<<"$list"))) || { echo "FAILED: --panel all writes other files than --list names"; failures=$((failures + 1)); }
done
while read -r name _; do
  expect 0 '^$' picture "$work/tree.tscap" --panel "$name" --format csv -o "$work/one.csv"
  cmp "$work/one.csv" "$work/each-$name.csv" || { echo "FAILED: --panel all writes another CSV than --panel $name"; failures=$((failures + 1)); }
done <<<"$list"
expect 0 '^$' picture "$work/tree.tscap" --panel acceptance --format svg -o "$work/one.svg"
cmp "$work/one.svg" "$work/each-acceptance.svg" || { echo "FAILED: --panel all draws another picture than --panel acceptance"; failures=$((failures + 1)); }
expect 0 'each-trie.csv to .*: [0-9]+ files written' "$TRIESCOPE" export "$work/beam.tscap" "$work/tree.tscap" --panel all --format csv --steps 1:3 -o "$work/each.csv"
expect 2 '-o: expected NAME.svg, for files NAME-trie.svg' picture "$work/tree.tscap" --panel all --format svg -o -
expect 2 '--whose: expected with one panel' picture "$work/tree.tscap" --panel all --format svg --whose target -o "$work/x.svg"
expect 2 '--panel all: expected with --format svg, pdf, png or csv; found --format gif' picture "$work/tree.tscap" --panel all --format gif -o "$work/x.gif"
expect 2 '--panel: expected one of .*, or all; found all, trie' picture "$work/tree.tscap" --panel all,trie --format svg -o "$work/x.svg"
for name in "$work/" "$work" .svg ..; do expect 2 '-o: expected NAME.svg, for files NAME-trie.svg' picture "$work/tree.tscap" --panel all --format svg -o "$name"; done
expect 0 '^$' picture "$work/tree.tscap" --panel all --format csv -o "$work/UPPER.CSV"
[[ -s $work/UPPER-trie.csv ]] || { echo "FAILED: an ending in capitals is an ending"; failures=$((failures + 1)); }
expect 0 '^$' picture "$work/tree.tscap" --panel acceptance --format csv -o "$work/acceptance.csv"
grep -q '^4,1$' "$work/acceptance.csv" || { echo "FAILED: one step accepted four drafts"; failures=$((failures + 1)); }
expect 0 '^$' picture "$work/tree.tscap" --panel acceptance --format gif --steps 1:3 -o "$work/chart.gif"
expect 2 "panel 'acceptence' is not one of: .*did you mean acceptance\?" picture "$work/tree.tscap" --panel acceptence --format svg -o "$work/x.svg"
expect 2 '--part: .*not in \{whole,step,seen\}|--part: .*whole' picture "$work/tree.tscap" --panel trie --format svg --part half -o "$work/x.svg"
expect 2 '--part: expected with the picture' picture "$work/tree.tscap" --panel trie --format gif --part step -o "$work/x.gif"
[[ -e $work/x.svg || -e $work/x.gif ]] && { echo "FAILED: a refused export left a file"; failures=$((failures + 1)); }
finish

# Standard output that cannot be written is an error of every command: never 0, never without a word.
source "$(dirname "$0")/lib.sh"
fixture="$TRIESCOPE_SOURCE/tests/fixtures/captures/beam.tscap"
cp "$fixture" "$work/run.tscap"
# fails COMMAND...: on a full disk, a closed descriptor, and a pipe that nobody reads.
fails() {
  local status
  for kind in full closed pipe; do
    case $kind in
      full) "$@" >/dev/full 2>"$work/stderr"; status=$? ;;
      closed) "$@" >&- 2>"$work/stderr"; status=$? ;;
      pipe) { sleep 0.2; "$@" 2>"$work/stderr"; echo $? >"$work/status"; } | true; status=$(<"$work/status") ;;
    esac
    if [[ $status == 0 ]] || ! grep -q 'standard output: cannot be written' "$work/stderr"; then
      echo "FAILED: exit $status, '$(head -3 "$work/stderr")' with standard output $kind: $*"; failures=$((failures + 1))
    fi
  done
}
[[ -w /dev/full ]] || { echo "[SKIPPED] there is no /dev/full"; exit 77; }
for arguments in --help --version "decode --help" "lesson export --help" methods "methods beam" "methods --json" "info --list" "info --list --json" \
  "info $work/run.tscap" "info $work/run.tscap --json" "explain $work/run.tscap" "explain $work/run.tscap --format json" "lesson list" "lesson list --json" \
  "lesson check 03-beam-search-is-a-trie" "export $work/run.tscap --format jsonl -o -" "export $work/run.tscap --panel trie --format csv -o -" "export $work/run.tscap --panel trie --format png -o -" \
  "lesson export 03-beam-search-is-a-trie -o -"; do
  fails "$TRIESCOPE" $arguments
done
expect 4 'cannot be written \(No space left on device\)' bash -c '"$1" methods >/dev/full' _ "$TRIESCOPE"
# What a command does not print is no trouble.
expect 0 'written' bash -c '"$1" export "$2" --format jsonl -o "$3" >&-' _ "$TRIESCOPE" "$work/run.tscap" "$work/run.jsonl"
# A usage error keeps its code, and a file that is opened never becomes standard output.
expect 2 'no-such-option' bash -c '"$1" methods --no-such-option >&-' _ "$TRIESCOPE"
cmp -s "$work/run.tscap" "$fixture" || { echo "FAILED: something was printed into the capture"; failures=$((failures + 1)); }
if [[ -e $model ]]; then
  fails "$TRIESCOPE" tokenize --model "$model" "Hello"
  fails "$TRIESCOPE" tokenize --model "$model" "Hello" --json
  fails "$TRIESCOPE" info "$model"
  for arguments in "" --json; do fails "$TRIESCOPE" decode --model "$model" --prompt Hello --method greedy --max-new-tokens 3 $arguments; done
  fails "$TRIESCOPE" decode --model "$model" --prompt Hello --method beam --max-new-tokens 3 --capture "$work/new.tscap"
  fails "$TRIESCOPE" bench --only rows --repeats 1 --model "$model"
  fails "$TRIESCOPE" check --threads 2
  # Decoding ends when nobody reads on: long before a thousand tokens.
  { "$TRIESCOPE" decode --model "$model" --prompt Hello --method greedy --max-new-tokens 1000 --set min_new_tokens=1000 2>"$work/stderr"; echo $? >"$work/status"; } | head -c1 >/dev/null
  [[ $(<"$work/status") == 4 ]] || { echo "FAILED: decode | head: exit $(<"$work/status")"; failures=$((failures + 1)); }
  ! grep -q '^1000 tokens' "$work/stderr" || { echo "FAILED: decode | head went on to its end"; failures=$((failures + 1)); }
fi
finish

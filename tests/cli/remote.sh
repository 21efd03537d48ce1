# A run on another machine, over the program itself in the place of ssh, and over a real sshd where there is one.
source "$(dirname "$0")/lib.sh"
need_model
export XDG_CACHE_HOME=$work/cache TRIESCOPE_MODELS=$TRIESCOPE_SOURCE/.deps/models
away=(--remote-command "env TRIESCOPE_FAR=1" --remote-program "$TRIESCOPE")
prompt="The three primary colours are red, green and blue. The three primary colours are"
run() { "$TRIESCOPE" decode --quiet --json --model smollm2-135m-instruct --prompt "$prompt" --max-new-tokens 12 "$@"; }
same() { # same A B: both decoded the same tokens
  python3 - "$work/$1" "$work/$2" <<'PY' || failures=$((failures + 1))
import json, sys
a, b = ([s["tokens"] for s in json.load(open(name))["sequences"]] for name in sys.argv[1:])
if a != b or not a[0]: print("FAILED: the remote run is another:", a, b); sys.exit(1)
PY
}
# same_tables A B: every table but times and the recorder is the same.
same_tables() {
  python3 - "$work/$1" "$work/$2" <<'PY' || failures=$((failures + 1))
import sqlite3, sys
left = {"recorder", "created_utc", "start_us", "duration_us", "command", "model_json"}
a, b = (sqlite3.connect(name) for name in sys.argv[1:])
tables = [row[0] for row in a.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
for table in tables:
    columns = [row[1] for row in a.execute("PRAGMA table_info(%s)" % table) if row[1] not in left]
    query = "SELECT %s FROM %s ORDER BY id" % (",".join(columns), table)
    if a.execute(query).fetchall() != b.execute(query).fetchall():
        print("FAILED: table", table, "differs"); sys.exit(1)
print(len(tables), "tables")
PY
}

run --method beam --set num_beams=3 --capture "$work/here.tscap" >"$work/here.json" || failures=$((failures + 1))
run --method beam --set num_beams=3 --capture "$work/far.tscap" "${away[@]}" >"$work/far.json" || failures=$((failures + 1))
same here.json far.json
same_tables here.tscap far.tscap
expect 0 "smollm2-135m-instruct" "$TRIESCOPE" info --list "${away[@]}"
expect 0 "cpu: needs [0-9.]+ [KMG]B, [0-9.]+ [KMG]B free" "$TRIESCOPE" info --list "${away[@]}"
"$TRIESCOPE" info --list --json "${away[@]}" >"$work/list.json"
check_json "$work/list.json" '[m["needs"] > 1e8 and m["free"] > 0 for e in d if e["name"].startswith("smollm2-135m-instruct") for m in e["memory"]][0]'
expect 0 "^family +llama" "$TRIESCOPE" info smollm2-135m-instruct "${away[@]}"
expect 0 "^greedy " "$TRIESCOPE" methods greedy "${away[@]}"
expect 0 "" "$TRIESCOPE" serve --list
expect 0 "no session runs here" "$TRIESCOPE" serve --list  # a client that ended well leaves nothing

# What is wrong is said.
expect 4 "there is no program '/nowhere/triescope'" "$TRIESCOPE" info --list --remote-command env --remote-program /nowhere/triescope
expect 4 "expected triescope's greeting, found: hello" "$TRIESCOPE" info --list --remote-command "echo hello;"
expect 2 "expected user@host" "$TRIESCOPE" info --list --remote=-oProxyCommand=true
expect 2 "is not a file in the folders" "$TRIESCOPE" info /etc/passwd "${away[@]}"
expect 4 "no session 'nothere'" "$TRIESCOPE" info --list --remote-command "$TRIESCOPE serve --stdio --attach nothere #"
expect 2 "not with --remote" run --print-prompt "${away[@]}"

# A text is printed as it comes, and is the local one; levels and threads are those of the run there.
for method in greedy prompt_lookup beam; do
  for place in here far; do
    options=(decode --quiet --model smollm2-135m-instruct --prompt "$prompt" --max-new-tokens 24 --method $method --threads 1 --capture-level tree)
    [[ $place == here ]] || options+=("${away[@]}")
    "$TRIESCOPE" "${options[@]}" --capture "$work/$method-$place.tscap" >"$work/$method-$place.txt" || { echo "FAILED: ${options[*]}"; failures=$((failures + 1)); }
  done
  cmp "$work/$method-here.txt" "$work/$method-far.txt" || { echo "FAILED: $method prints another text there"; failures=$((failures + 1)); }
  same_tables $method-here.tscap $method-far.tscap
done
# A head's drafts, a draft model's: every table that a run fills comes over.
run --method eagle3 --capture "$work/head-here.tscap" >"$work/head-here.json" || failures=$((failures + 1))
run --method eagle3 --capture "$work/head-far.tscap" "${away[@]}" >"$work/head-far.json" || failures=$((failures + 1))
same head-here.json head-far.json
same_tables head-here.tscap head-far.tscap
python3 - "$work/greedy-far.tscap" <<'PY' || failures=$((failures + 1))
import sqlite3, sys
rows = lambda table: sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM " + table).fetchone()[0]
if rows("node") == 0 or rows("candidate") != 0: print("FAILED: --capture-level tree recorded", rows("node"), rows("candidate")); sys.exit(1)
PY
python3 - "$TRIESCOPE" "${away[@]}" <<'PY' || failures=$((failures + 1))
import subprocess, sys, time
child = subprocess.Popen([sys.argv[1], "decode", "--quiet", "--model", "smollm2-135m-instruct", "--prompt", "Once upon a time", "--max-new-tokens", "200",
                          "--method", "greedy"] + sys.argv[2:], stdout=subprocess.PIPE)
times = []
while child.stdout.read1(65536): times.append(time.monotonic())
if child.wait() != 0 or len(times) < 4: print("FAILED: the text came in", len(times), "pieces"); sys.exit(1)
PY

# The other machine is checked there.
"$TRIESCOPE" check --threads 1 --json "${away[@]}" >"$work/check.json" || { echo "FAILED: check --remote"; failures=$((failures + 1)); }
check_json "$work/check.json" 'd["holds"] and d["threads"] == 1 and len(d["comparisons"]) > 20'
expect 0 "^processor +.*, 1 threads" "$TRIESCOPE" check --threads 1 "${away[@]}"
expect 2 "is not a file in the folders" "$TRIESCOPE" check --model /etc/passwd "${away[@]}"
expect 2 "expected --stdio" "$TRIESCOPE" serve
[[ $(stat -c %a "$XDG_CACHE_HOME/triescope/served") == 700 ]] || { echo "FAILED: others may enter the sessions' folder"; failures=$((failures + 1)); }

# The client is killed: the run goes on, is listed, and another client takes it up.
"$TRIESCOPE" decode --quiet --model smollm2-135m-instruct --prompt "$prompt" --method greedy --max-new-tokens 800 "${away[@]}" >/dev/null 2>&1 &
client=$!
listed() { "$TRIESCOPE" serve --list | grep -qE "$1"; }
await $client listed 'running|done'
kill -9 $client; wait $client 2>/dev/null
sleep 0.5
expect 0 "SmolLM2.*(running|done)" "$TRIESCOPE" serve --list
session=$("$TRIESCOPE" serve --list | head -1 | cut -d' ' -f1)
daemon=$(pgrep -f "serve --session $session" | head -1)
[[ -z $daemon ]] || { kill "$daemon"; await "$daemon" listed ended; }
expect 0 "ended; its captures are in" "$TRIESCOPE" serve --list

# The decoder is killed: the client says so, and what had arrived stays.
"$TRIESCOPE" decode --quiet --model smollm2-135m-instruct --prompt "$prompt" --method greedy --set eos_token_id=-1 --max-new-tokens 3000 --capture "$work/killed.tscap" \
  "${away[@]}" >/dev/null 2>"$work/killed.txt" &
client=$!
steps() { rows "$work/killed.tscap" step; }
has_20() { (($(steps) > 20)); }
await $client has_20
session=$("$TRIESCOPE" serve --list | grep running | head -1 | cut -d' ' -f1)
before=$(steps)
[[ -z $session ]] || kill -9 $(pgrep -f "serve --session $session" | head -1)
wait $client
[[ $? == 4 ]] || { echo "FAILED: expected exit 4 where the decoder was killed"; failures=$((failures + 1)); }
grep -q "ended in the middle of the run; what had arrived is in" "$work/killed.txt" || { echo "FAILED: found $(tail -1 "$work/killed.txt")"; failures=$((failures + 1)); }
((before > 20 && $(steps) >= before)) || { echo "FAILED: $before steps had arrived, $(steps) are there"; failures=$((failures + 1)); }
expect 0 "stopped" "$TRIESCOPE" info "$work/killed.tscap"

# Over sshd on 127.0.0.1, with a key made for this test.
source "$(dirname "$0")/_sshd.sh"
if have_sshd; then
  trap 'stop_sshd; rm -rf "$work"' EXIT
  if start_sshd 127.0.0.1; then
    run --method beam --set num_beams=3 --capture "$work/ssh.tscap" --remote-command "$over" --remote-program "$TRIESCOPE" >"$work/ssh.json" || { failures=$((failures + 1)); tail -3 "$work/sshd.log"; }
    same here.json ssh.json
    same_tables here.tscap ssh.tscap
    expect 4 "lets nobody in without a key" "$TRIESCOPE" info --list --remote-command "${over/$work\/key/$work/no_key} -o IdentitiesOnly=yes" --remote-program "$TRIESCOPE"
    expect 4 "there is no program 'nothing-there'" "$TRIESCOPE" info --list --remote-command "$over" --remote-program nothing-there
  fi
else
  echo "no sshd here: the part over ssh is left out"
fi
finish

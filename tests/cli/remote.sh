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
expect 2 "not with --remote" run --threads 2 "${away[@]}"
expect 2 "expected --stdio" "$TRIESCOPE" serve
[[ $(stat -c %a "$XDG_CACHE_HOME/triescope/served") == 700 ]] || { echo "FAILED: others may enter the sessions' folder"; failures=$((failures + 1)); }

# The client is killed: the run goes on, is listed, and another client takes it up.
"$TRIESCOPE" decode --quiet --model smollm2-135m-instruct --prompt "$prompt" --method greedy --max-new-tokens 800 "${away[@]}" >/dev/null 2>&1 &
client=$!
for _ in $(seq 60); do "$TRIESCOPE" serve --list | grep -q "running\|done" && break; sleep 0.3; done
kill -9 $client; wait $client 2>/dev/null
sleep 0.5
expect 0 "SmolLM2.*(running|done)" "$TRIESCOPE" serve --list
session=$("$TRIESCOPE" serve --list | head -1 | cut -d' ' -f1)
daemon=$(pgrep -f "serve --session $session" | head -1)
[[ -z $daemon ]] || kill "$daemon"
for _ in $(seq 30); do "$TRIESCOPE" serve --list | grep -q "ended" && break; sleep 0.3; done
expect 0 "ended; its captures are in" "$TRIESCOPE" serve --list

# Over sshd on 127.0.0.1, with a key made for this test.
sshd=$(command -v sshd || echo /usr/sbin/sshd)
if [[ -x $sshd ]] && command -v ssh >/dev/null; then
  ssh-keygen -q -t ed25519 -N "" -f "$work/host_key" && ssh-keygen -q -t ed25519 -N "" -f "$work/key"
  cp "$work/key.pub" "$work/authorized_keys"
  port=$((20000 + RANDOM % 20000))
  cat >"$work/sshd_config" <<CONF
Port $port
ListenAddress 127.0.0.1
HostKey $work/host_key
AuthorizedKeysFile $work/authorized_keys
PidFile $work/sshd.pid
StrictModes no
UsePAM no
SetEnv XDG_CACHE_HOME=$XDG_CACHE_HOME TRIESCOPE_MODELS=$TRIESCOPE_MODELS
CONF
  mkdir -p /run/sshd 2>/dev/null
  "$sshd" -f "$work/sshd_config" -E "$work/sshd.log"
  sleep 0.5
  if [[ -s $work/sshd.pid ]]; then
    trap 'kill $(cat "$work/sshd.pid"); rm -rf "$work"' EXIT
    over="ssh -p $port -i $work/key -o BatchMode=yes -o UserKnownHostsFile=$work/known -o StrictHostKeyChecking=accept-new 127.0.0.1"
    run --method beam --set num_beams=3 --capture "$work/ssh.tscap" --remote-command "$over" --remote-program "$TRIESCOPE" >"$work/ssh.json" || { failures=$((failures + 1)); tail -3 "$work/sshd.log"; }
    same here.json ssh.json
    same_tables here.tscap ssh.tscap
    expect 4 "lets nobody in without a key" "$TRIESCOPE" info --list --remote-command "${over/$work\/key/$work/no_key} -o IdentitiesOnly=yes" --remote-program "$TRIESCOPE"
    expect 4 "there is no program 'nothing-there'" "$TRIESCOPE" info --list --remote-command "$over" --remote-program nothing-there
  else
    echo "no sshd here: $(tail -1 "$work/sshd.log")"
  fi
else
  echo "no sshd here: the part over ssh is left out"
fi
finish

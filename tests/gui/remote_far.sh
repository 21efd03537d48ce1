# A decoder behind a long line: sshd in one network namespace, the window in another, 200 ms from one to the other and back. It loads,
# steps, branches, loses its line and takes it up, and comes back to this machine. Needs root, ip (iproute2), sshd and Xvfb.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/../cli/_sshd.sh"
need_model
skip() { echo "[SKIPPED] $1"; exit 77; }
have_sshd || skip "no sshd"
command -v ip >/dev/null || skip "no iproute2"
[[ -w /dev/net/tun ]] || skip "no /dev/net/tun"
near=near$$ far=far$$
ip netns add $near 2>/dev/null && ip netns add $far 2>/dev/null || { ip netns del $near 2>/dev/null; skip "no network namespaces"; }
cable=
clean_up() {
  stop_sshd
  [[ -z $cable ]] || kill $cable 2>/dev/null
  ip netns del $near
  ip netns del $far
}
trap "clean_up; $(trap -p EXIT | sed "s/^trap -- '//; s/' EXIT$//")" EXIT
python3 "$(dirname "$0")/_long_line.py" $near $far 100 >"$work/cable" 2>&1 &
cable=$!
appears "$work/cable"
grep -q ready "$work/cable" || skip "no line between namespaces: $(tail -1 "$work/cable")"
for end in $near:1 $far:2; do
  ip -n ${end%:*} addr add 10.213.77.${end#*:}/24 dev long0
  ip -n ${end%:*} link set lo up
  ip -n ${end%:*} link set long0 up
done
export TRIESCOPE_MODELS=$TRIESCOPE_SOURCE/.deps/models
start_sshd 10.213.77.2 ip netns exec $far || skip "no sshd"
away=(--remote-command "$over" --remote-program "$TRIESCOPE")
at_near() { ip netns exec $near "$@"; }

# Recorded here as there.
run=(decode --quiet --model smollm2-135m-instruct --prompt "The capital of France is" --method beam --set num_beams=3 --max-new-tokens 12)
"$TRIESCOPE" "${run[@]}" >"$work/here.txt"
at_near "$TRIESCOPE" "${run[@]}" --capture "$work/far.tscap" "${away[@]}" >"$work/far.txt" || say "decode --remote ended with $?"
cmp "$work/here.txt" "$work/far.txt" || say "another text came over the line"
expect 0 "method +beam" "$TRIESCOPE" info "$work/far.tscap"

# Single steps, each after the one before it: over a line without a delay, then over the long one.
steps() { # steps PREFIX
  printf 'model smollm2-135m-instruct\nmethod greedy\nprompt Once upon a time\nmax-new-tokens 60\nstart\nwait idle\nstep\nwait idle\n'
  for n in $(seq 0 8); do printf 'write-state %s\nstep\nwait idle\n' "$work/$1$n.json"; done
  echo "write-state $work/${1}9.json"
}
steps near >"$work/near.script"
window --remote-command "env FAR=1" --remote-program "$TRIESCOPE" --script "$work/near.script" || say "the window ended with $?"
{
  steps far
  cat <<SCRIPT
branch-with 3  is
wait idle
step
wait idle
write-state $work/branch.json
write-state $work/cut.json
wait file $work/cut.done
wait ms 2500
write-state $work/lost.json
reconnect
wait ms 9000
write-state $work/back.json
step
wait idle
write-state $work/again.json
decode-here
wait ms 300
write-state $work/home.json
start
wait idle
write-state $work/own.json
SCRIPT
} >"$work/far.script"
at_near timeout 300 "$TRIESCOPE" --no-animation --size 1280x720 "${away[@]}" --script "$work/far.script" &
pid=$!
appears "$work/cut.json" 4800
for process in $(family $pid); do grep -qz -- "--stdio" "/proc/$process/cmdline" 2>/dev/null && kill -9 "$process"; done
touch "$work/cut.done"
wait $pid || say "the window ended with $?"
python3 - "$work" <<'PY' || failures=$((failures + 1))
import json, os, sys
def steps(name):
    states = [os.path.join(sys.argv[1], "%s%d.json" % (name, n)) for n in range(10)]
    ends = [json.load(open(path))["end"]["step"] for path in states]
    assert [b - a for a, b in zip(ends, ends[1:])] == [1] * 9, ends
    times = [os.stat(path).st_mtime for path in states]
    return sorted(1000 * (b - a) for a, b in zip(times, times[1:]))
near, far = steps("near"), steps("far")
print("a step, with its rows and what the window draws: %.0f ms without a delay, %.0f ms where a round trip takes 200 ms" % (near[4], far[4]))
if far[4] - near[4] >= 350: print("FAILED: a step waits for more than one round trip:", near, far); sys.exit(1)
PY
check_json "$work/far9.json" 'd["problems"] == [] and d["lost"] == "" and d["host"].startswith("ssh ")'
check_json "$work/branch.json" 'd["documents"] == 2 and d["problems"] == []'
check_json "$work/lost.json" 'd["lost"] != ""'
check_json "$work/back.json" 'd["lost"] == "" and d["problems"] == []'
check_json "$work/again.json" 'd["problems"] == [] and d["end"]["step"] > json.load(open(sys.argv[1].replace("again", "branch")))["end"]["step"]'
check_json "$work/home.json" 'd["host"] == "" and d["documents"] == 2 and d["problems"] == []'
check_json "$work/own.json" 'd["host"] == "" and d["documents"] == 3 and d["state"] == "paused" and d["problems"] == []'
finish

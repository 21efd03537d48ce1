# An sshd with keys made for one test.
sshd=$(command -v sshd || echo /usr/sbin/sshd)
have_sshd() { [[ -x $sshd ]] && command -v ssh ssh-keygen >/dev/null; }

# start_sshd ADDRESS [COMMAND…]: it listens on ADDRESS, in the network where COMMAND (`ip netns exec NAME`) starts it. Sets `over`, the
# command that reaches it in the place of `ssh HOST`. False: it does not start.
start_sshd() {
  local address=$1 port=$((20000 + RANDOM % 20000))
  shift
  ssh-keygen -q -t ed25519 -N "" -f "$work/host_key" && ssh-keygen -q -t ed25519 -N "" -f "$work/key"
  cp "$work/key.pub" "$work/authorized_keys"
  cat >"$work/sshd_config" <<CONF
Port $port
ListenAddress $address
HostKey $work/host_key
AuthorizedKeysFile $work/authorized_keys
PidFile $work/sshd.pid
StrictModes no
UsePAM no
UseDNS no
SetEnv XDG_CACHE_HOME=$XDG_CACHE_HOME TRIESCOPE_MODELS=$TRIESCOPE_MODELS
CONF
  mkdir -p /run/sshd 2>/dev/null
  "$@" "$sshd" -f "$work/sshd_config" -E "$work/sshd.log"
  sleep 0.5
  over="ssh -p $port -i $work/key -o BatchMode=yes -o UserKnownHostsFile=$work/known -o StrictHostKeyChecking=accept-new $address"
  [[ -s $work/sshd.pid ]] || { echo "no sshd here: $(tail -1 "$work/sshd.log")"; return 1; }
}
stop_sshd() { [[ ! -s $work/sshd.pid ]] || kill "$(cat "$work/sshd.pid")" 2>/dev/null; }

# The prompt field looks the same idle and edited, and a prompt of 100,000 characters can be typed on and pasted with real keys. Chords come
# faster than frames here.
source "$(dirname "$0")/lib.sh"
need_model
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
prompt="The quick brown fox jumps over the lazy dog while seven wizards quietly box in the old garden behind the house, and nobody looks"
{
  echo "prompt $prompt"
  echo "screenshot $work/idle.png"
  by_hand 0
  echo "screenshot $work/edited.png"
  echo "write-state $work/1.json"
} >"$work/prompt.script"
{
  printf 'prompt '; python3 -c 'print("".join(f"word{i % 10} " for i in range(16667))[:100000])'
  by_hand 2 3
  echo "write-state $work/4.json"
} >"$work/large.script"
drive() { id=; window --script "$1" & pid=$!; }
ended() { wait $pid || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }; }
into_field() { click 60 225; sleep 0.5; }
more() { into_field; xdotool type --window "$id" --delay 80 " and more"; sleep 1; }
doubled() { for chord in ctrl+a ctrl+c ctrl+End ctrl+v; do xdotool key --window "$id" $chord; sleep 0.5; done; sleep 1; }
drive "$work/prompt.script"
at 0 into_field
ended
drive "$work/large.script"
at 2 more
at 3 doubled
ended
check_json "$work/1.json" 'd["run"]["prompt"].endswith("nobody looks")'
check_json "$work/2.json" 'len(d["run"]["prompt"]) == 100000 and d["problems"] == []'
check_json "$work/3.json" 'len(d["run"]["prompt"]) == 100009 and " and more" in d["run"]["prompt"]'
check_json "$work/4.json" 'len(d["run"]["prompt"]) == 200018 and d["run"]["prompt"][:100009] == d["run"]["prompt"][100009:]'
# Idle and edited, the field's pictures are equal but for the cursor.
python3 - "$work/idle.png" "$work/edited.png" <<'PY' || failures=$((failures + 1))
import struct, sys, zlib
def pixels(path):
    data, at, packed = open(path, "rb").read(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR": width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        if kind == b"IDAT": packed += body
        at += 12 + size
    assert depth == 8 and colour == 2
    raw, rows, stride = zlib.decompress(packed), [bytearray(width * 3)], width * 3
    for y in range(height):
        method, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        above = rows[-1]
        for i in range(stride):
            a, b, c = (line[i - 3] if i > 2 else 0), above[i], (above[i - 3] if i > 2 else 0)
            if method == 1: line[i] = (line[i] + a) & 255
            elif method == 2: line[i] = (line[i] + b) & 255
            elif method == 3: line[i] = (line[i] + (a + b) // 2) & 255
            elif method == 4:
                p = a + b - c
                pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                line[i] = (line[i] + (a if pa <= pb and pa <= pc else b if pb <= pc else c)) & 255
        rows.append(line)
        if y > 300: break
    return rows[1:]
idle, edited = pixels(sys.argv[1]), pixels(sys.argv[2])
differ = [(x, y) for y in range(208, 286) for x in range(18, 303) if idle[y][3 * x:3 * x + 3] != edited[y][3 * x:3 * x + 3]]
ink = sum(idle[y][3 * x:3 * x + 3] != idle[210][3 * 290:3 * 290 + 3] for y in range(208, 286) for x in range(18, 303))
assert ink > 2000, ink
assert 0 < len(differ) < 60 and len({x for x, y in differ}) <= 3, (len(differ), differ[:5])
PY
finish

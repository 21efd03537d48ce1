// The page's data: JSON, deflated (zlib's format, RFC 1950), as base64. The browser inflates it; one that is
// older than 2023 may not know how, and then inflated() does.

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function unpacked(base64) {
  const bytes = bytesOf(base64.trim());
  if (typeof DecompressionStream !== "function") return JSON.parse(new TextDecoder().decode(inflated(bytes)));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

// A Huffman code by the lengths of its words: how many there are of each, and the symbols in their order
// (RFC 1951, 3.2.2).
function codeOf(lengths) {
  const counts = new Uint16Array(16), places = new Uint16Array(16), symbols = new Uint16Array(lengths.length);
  for (const length of lengths) ++counts[length];
  for (let length = 1; length < 15; ++length) places[length + 1] = places[length] + counts[length];
  lengths.forEach((length, symbol) => {
    if (length > 0) symbols[places[length]++] = symbol;
  });
  return {counts, symbols};
}

const LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

// RFC 1951, without its checksum: the file is one that was not damaged enough for the page to run.
function inflated(bytes) {
  let at = 2, held = 0, count = 0;  // behind zlib's two bytes; bits that were read and not used
  let out = new Uint8Array(bytes.length * 8), size = 0;

  const take = (bits) => {
    for (; count < bits; count += 8) held |= bytes[at++] << count;
    const value = held & ((1 << bits) - 1);
    held >>>= bits;
    count -= bits;
    return value;
  };
  const symbolOf = ({counts, symbols}) => {
    let word = 0, first = 0, index = 0;
    for (let length = 1; length < 16; ++length) {
      word |= take(1);
      if (word - counts[length] < first) return symbols[index + word - first];
      index += counts[length];
      first = (first + counts[length]) << 1;
      word <<= 1;
    }
    throw new Error("the page's data are damaged");
  };
  const room = (more) => {
    if (size + more <= out.length) return;
    const larger = new Uint8Array(Math.max(2 * out.length, size + more));
    larger.set(out.subarray(0, size));
    out = larger;
  };
  const codes = () => {
    const literals = take(5) + 257, distances = take(5) + 1, some = take(4) + 4;
    const lengths = new Array(19).fill(0);
    for (let i = 0; i < some; ++i) lengths[LENGTH_ORDER[i]] = take(3);
    const code = codeOf(lengths), all = [];
    while (all.length < literals + distances) {
      const symbol = symbolOf(code);
      if (symbol < 16) {
        all.push(symbol);
        continue;
      }
      const again = symbol === 16 ? all[all.length - 1] : 0;
      const times = symbol === 16 ? 3 + take(2) : symbol === 17 ? 3 + take(3) : 11 + take(7);
      for (let i = 0; i < times; ++i) all.push(again);
    }
    return [codeOf(all.slice(0, literals)), codeOf(all.slice(literals))];
  };
  const fixed = () => {
    const lengths = Array.from({length: 288}, (_, i) => i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
    return [codeOf(lengths), codeOf(new Array(30).fill(5))];
  };

  for (let last = false; !last;) {
    last = take(1) === 1;
    const kind = take(2);
    if (kind === 0) {
      at -= count >> 3;  // whole bytes that were read ahead
      held = count = 0;
      const length = bytes[at] | bytes[at + 1] << 8;
      room(length);
      out.set(bytes.subarray(at + 4, at + 4 + length), size);
      at += 4 + length;
      size += length;
      continue;
    }
    const [literals, distances] = kind === 1 ? fixed() : codes();
    for (let symbol; (symbol = symbolOf(literals)) !== 256;) {
      room(258);
      if (symbol < 256) {
        out[size++] = symbol;
        continue;
      }
      const long = symbol - 257, extra = long < 8 || long === 28 ? 0 : (long >> 2) - 1;
      const length = long === 28 ? 258 : long < 8 ? 3 + long : 3 + ((4 + (long & 3)) << extra) + take(extra);
      const far = symbolOf(distances), more = far < 4 ? 0 : (far >> 1) - 1;
      const distance = far < 4 ? 1 + far : 1 + ((2 + (far & 1)) << more) + take(more);
      for (const end = size + length; size < end; ++size) out[size] = out[size - distance];
    }
  }
  return out.subarray(0, size);
}

// Pictures: what a panel drew at a step, as SVG. The data are numbers, colours and texts, never
// markup: a text of the capture can become nothing but text. Lengths are tenths of a px.

const run = await unpacked(document.getElementById("run").textContent);
const darkScheme = matchMedia("(prefers-color-scheme: dark)");
let inDark = darkScheme.matches;

const FILL = 0, FRAME = 1, STROKE = 2, AREA = 3, DISC = 4, RING = 5, TEXT = 6, CLIP = 7, UNCLIP = 8;
const FACES = ["plain", "bold", "mono"];
const INVISIBLE = "#00000000";
let clips = 0;

function svgElement(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  return element;
}

// [d, n, …]: n consecutive numbers, beginning d behind the end of the stretch before.
function numbersOf(stretches) {
  const numbers = [];
  let at = 0;
  for (let i = 0; i < stretches.length; i += 2) {
    at += stretches[i];
    for (const end = at + stretches[i + 1]; at < end; ++at) numbers.push(at);
  }
  return numbers;
}

function stroked(ink, width, on, off) {
  const line = {fill: "none", stroke: ink, "stroke-width": width};
  if (on > 0) line["stroke-dasharray"] = on + " " + off;
  return line;
}

const moved = (x, y) => "translate(" + x + " " + y + ")";

// null: this theme does not show it.
function shapeOf(look, x, y) {
  const ink = run.colors[look[1]][inDark ? 1 : 0];
  if (ink === INVISIBLE) return null;
  const [a, b, c, d, e, f] = look.slice(2);
  switch (look[0]) {
    case FILL:
      return svgElement("rect", {x, y, width: a, height: b, rx: c, fill: ink});
    case FRAME:
      return svgElement("rect", {x, y, width: a, height: b, rx: c, ...stroked(ink, d, e, f)});
    case STROKE:
      return svgElement("path", {d: a, transform: moved(x, y), ...stroked(ink, b, c, d)});
    case AREA:
      return svgElement("path", {d: a, transform: moved(x, y), fill: ink});
    case DISC:
      return svgElement("circle", {cx: x, cy: y, r: a, fill: ink});
    case RING:
      return svgElement("circle", {cx: x, cy: y, r: a, ...stroked(ink, b, 0, 0)});
  }
  const text = svgElement("text", {x, y, "font-size": b, class: FACES[c], fill: ink});
  // Another font than the one that was measured must not run over its neighbours.
  if (a > 0) {
    text.setAttribute("textLength", a);
    text.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
  text.textContent = d;
  return text;
}

// Draws the elements [look, x, y] with these numbers in place of what `svg` shows. `made` keeps the shapes: the
// ones that two steps have in common are made once.
function drawPicture(svg, elements, stretches, made) {
  const picture = document.createDocumentFragment();
  const used = new Set();
  let target = picture;
  for (const number of numbersOf(stretches)) {
    const [kind, x, y] = elements.slice(3 * number, 3 * number + 3);
    const look = run.looks[kind];
    if (look[0] === CLIP) {
      const [width, height] = look.slice(2);
      const id = "clip" + ++clips;
      const path = svgElement("clipPath", {id});
      path.append(svgElement("rect", {x, y, width, height}));
      target = svgElement("g", {"clip-path": "url(#" + id + ")"});
      picture.append(path, target);
    } else if (look[0] === UNCLIP) {
      target = picture;
    } else {
      if (made[number] === undefined) made[number] = shapeOf(look, x, y);
      const shape = made[number];
      if (shape !== null) target.append(used.has(number) ? shape.cloneNode(true) : shape);
      used.add(number);
    }
  }
  svg.replaceChildren(picture);
}

// Pictures: what a panel drew at a step, as SVG. The data are numbers, colours and texts, never
// markup: a text of the capture can become nothing but text. Lengths are tenths of a px.

const run = JSON.parse(document.getElementById("run").textContent);
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

// null: this theme does not show it.
function shapeOf(element) {
  const ink = run.colors[element[1]][inDark ? 1 : 0];
  if (ink === INVISIBLE) return null;
  const [a, b, c, d, e, f, g, h] = element.slice(2);
  switch (element[0]) {
    case FILL:
      return svgElement("rect", {x: a, y: b, width: c, height: d, rx: e, fill: ink});
    case FRAME:
      return svgElement("rect", {x: a, y: b, width: c, height: d, rx: e, ...stroked(ink, f, g, h)});
    case STROKE:
      return svgElement("path", {d: a, ...stroked(ink, b, c, d)});
    case AREA:
      return svgElement("path", {d: a, fill: ink});
    case DISC:
      return svgElement("circle", {cx: a, cy: b, r: c, fill: ink});
    case RING:
      return svgElement("circle", {cx: a, cy: b, r: c, ...stroked(ink, d, 0, 0)});
  }
  const text = svgElement("text", {x: a, y: b, "font-size": d, class: FACES[e], fill: ink});
  // Another font than the one that was measured must not run over its neighbours.
  if (c > 0) {
    text.setAttribute("textLength", c);
    text.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
  text.textContent = f;
  return text;
}

// Draws the elements with these numbers in place of what `svg` shows. `made` keeps the shapes: the
// ones that two steps have in common are made once.
function drawPicture(svg, elements, stretches, made) {
  const picture = document.createDocumentFragment();
  const used = new Set();
  let target = picture;
  for (const number of numbersOf(stretches)) {
    const element = elements[number];
    if (element[0] === CLIP) {
      const [x, y, width, height] = element.slice(2);
      const id = "clip" + ++clips;
      const path = svgElement("clipPath", {id});
      path.append(svgElement("rect", {x, y, width, height}));
      target = svgElement("g", {"clip-path": "url(#" + id + ")"});
      picture.append(path, target);
    } else if (element[0] === UNCLIP) {
      target = picture;
    } else {
      if (made[number] === undefined) made[number] = shapeOf(element);
      const shape = made[number];
      if (shape !== null) target.append(used.has(number) ? shape.cloneNode(true) : shape);
      used.add(number);
    }
  }
  svg.replaceChildren(picture);
}

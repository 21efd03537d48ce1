// Panes: a panel's picture in a frame that keeps its size, what lies where in it, and the focus: one
// node, lit in every pane.

const NONE = -1;
const SCROLLS_FROM = 9000;  // tenths of a px: wider pictures are scrolled, narrower ones fit the frame
const SMALLEST = 0.8;       // of its size: then a picture is scrolled too
const AROUND = 40, BEHIND = 130;  // px kept in sight around a node, and to its right

const panes = run.panes.map((data) => {
  const frame = document.createElement("section");
  frame.className = "pane";
  frame.id = "pane-" + data.name;
  const heading = document.createElement("h2");
  heading.textContent = data.title;
  frame.append(heading);
  const pane = {data, frame, made: [], hits: [], lit: svgElement("g", {class: "lit"})};
  if (data.head) {
    pane.head = svgElement("svg", {class: "head", "aria-hidden": "true"});
    fit(pane.head, data.head, false);
    frame.append(pane.head);
  }
  pane.scroller = document.createElement("div");
  pane.scroller.className = "scroller";
  pane.scroller.tabIndex = 0;
  pane.scroller.setAttribute("role", "group");
  pane.scroller.setAttribute("aria-label", data.title);
  pane.svg = svgElement("svg", {role: "img"});
  fitForScreen(pane);
  if (data.box[2] > SCROLLS_FROM) frame.classList.add("wide");
  pane.scroller.append(pane.svg);
  frame.append(pane.scroller);
  return pane;
});

function fit(svg, box, fixed) {
  svg.setAttribute("viewBox", box.join(" "));
  const width = box[2] / 10;
  svg.style.width = fixed ? width + "px" : "min(100%, " + width + "px)";
  svg.style.minWidth = fixed ? "" : width * SMALLEST + "px";
  svg.style.aspectRatio = box[2] + " / " + box[3];
}

// On paper a picture cannot be scrolled: what this step drew of it, and of a large one as much as can be read,
// up to the node that is brought into sight.
const PAPER = {width: 11000, height: 8000};  // tenths of a px

function fitForPaper(pane, node) {
  const all = pane.svg.getBBox(), [left, top, right, bottom] = [all.x - 40, all.y - 40, all.x + all.width + 40, all.y + all.height + 40];
  if (all.width === 0) return;  // empty
  const hit = boxesOf(pane, node)[0];
  const along = (from, to, most, near, far) =>
    to - from <= most || !hit ? [from, Math.min(most, to - from)]
                              : [Math.max(from, Math.min(to - most, Math.max(near - 0.8 * most, far - 0.9 * most))), most];
  const [x, width] = along(left, right, PAPER.width, hit?.[1], hit?.[1] + hit?.[3]);
  const [y, height] = along(top, bottom, PAPER.height, hit?.[2], hit?.[2] + hit?.[4]);
  fit(pane.svg, [x, y, width, height].map(Math.round), false);
  pane.svg.style.minWidth = "";
}

function fitForScreen(pane) {
  fit(pane.svg, pane.data.box, pane.data.box[2] > SCROLLS_FROM);
}

const focus = {hovered: NONE, locked: NONE};
const focused = () => focus.hovered !== NONE ? focus.hovered : focus.locked;

// The picture with this number.
function drawPane(pane, index, words) {
  drawPicture(pane.svg, pane.data.elements, pane.data.pictures[index], pane.made);
  if (pane.head) drawPicture(pane.head, pane.data.elements, pane.data.heads[index], pane.made);
  pane.svg.setAttribute("aria-label", pane.data.title + ". " + words);
  pane.hits = numbersOf(pane.data.marks[index]).map((number) => pane.data.hits[number]);
  pane.svg.append(pane.lit);
}

// The boxes of a node in a pane: [node, x, y, width, height].
const boxesOf = (pane, node) => pane.hits.filter((hit) => hit[0] === node);

function lightUp() {
  const node = focused();
  for (const pane of panes) {
    pane.lit.replaceChildren(...boxesOf(pane, node).map(([, x, y, width, height]) =>
      svgElement("rect", {x: x - 20, y: y - 20, width: width + 40, height: height + 40, rx: 40})));
    pane.lit.setAttribute("data-node", node);
  }
  document.getElementById("node").textContent = node === NONE ? "" : run.nodes[node] || "";
}

// Scrolls a pane so far that the box is in sight, and no further.
function bringIntoSight(pane, box) {
  const view = pane.scroller, scale = pane.svg.getBoundingClientRect().width / pane.data.box[2];
  const left = (box[1] - pane.data.box[0]) * scale, top = (box[2] - pane.data.box[1]) * scale;
  const right = left + box[3] * scale, bottom = top + box[4] * scale;
  const along = (at, room, from, to) => to > at + room ? to - room : from < at ? Math.max(0, from) : at;
  view.scrollLeft = along(view.scrollLeft, view.clientWidth, left - AROUND, right + BEHIND);
  view.scrollTop = along(view.scrollTop, view.clientHeight, top - AROUND, bottom + AROUND);
}

function bringNodeIntoSight(node, except) {
  for (const pane of panes) {
    const boxes = boxesOf(pane, node);
    if (pane === except || boxes.length === 0) continue;
    bringIntoSight(pane, boxes.reduce((top, box) => box[2] < top[2] ? box : top));
  }
}

// A click on what is in focus already takes it out again.
function lock(node, from) {
  focus.locked = node === focus.locked ? NONE : node;
  focus.hovered = NONE;
  lightUp();
  if (focus.locked !== NONE) bringNodeIntoSight(node, from);
  book.seen();
}

function nodeAt(pane, event) {
  const shown = pane.svg.getBoundingClientRect(), box = pane.data.box;
  const x = box[0] + (event.clientX - shown.left) / shown.width * box[2];
  const y = box[1] + (event.clientY - shown.top) / shown.height * box[3];
  let found = NONE;
  for (const [node, left, top, width, height] of pane.hits)
    if (x >= left && x < left + width && y >= top && y < top + height) found = node;
  return found;
}

for (const pane of panes) {
  pane.svg.addEventListener("click", (event) => {
    if (!getSelection().isCollapsed) return;  // a text was selected
    const node = nodeAt(pane, event);
    if (node !== NONE || focus.locked !== NONE) lock(node === NONE ? focus.locked : node, pane);
  });
  pane.svg.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "mouse") return;
    const node = nodeAt(pane, event);
    pane.svg.style.cursor = node === NONE ? "" : "pointer";
    if (node === focus.hovered) return;
    focus.hovered = node;
    lightUp();
  });
  pane.svg.addEventListener("pointerleave", () => {
    if (focus.hovered === NONE) return;
    focus.hovered = NONE;
    lightUp();
  });
}

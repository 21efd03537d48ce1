// The page: which step is shown, and how one gets to another: slider, buttons, keys, swipes, links.

const byId = (id) => document.getElementById(id);
const slider = byId("slider"), {last} = book;
const SWIPE = 48;  // px
let shown = -1, chosen = "";

function show(index) {
  index = Math.max(0, Math.min(last, index));
  if (index === shown) return;
  shown = index;
  draw();
}

// Those panels that are to be seen, at the view they show; on a narrow screen one of them.
function drawPanes() {
  const words = book.spoken(shown), view = book.view(shown), seen = panes.filter(book.shows);
  for (const pane of panes) pane.frame.hidden = pane.tab.hidden = !seen.includes(pane);
  for (const pane of seen) drawPane(pane, view, words);
  if (!seen.some((pane) => pane.data.name === chosen)) markChosen(book.first?.() ?? seen[0].data.name);
  lightUp();
}

function draw() {
  const place = book.place(shown);
  book.open(byId("words"), shown, follow);
  slider.value = shown;
  slider.setAttribute("aria-valuetext", place);
  byId("place").textContent = byId("title").dataset.place = place;
  byId("back").disabled = shown === 0;
  byId("forward").disabled = shown === last;
  focus.hovered = NONE;
  drawPanes();
  bringNodeIntoSight(book.lead(shown), null);
}

function markChosen(name) {
  chosen = name;
  for (const pane of panes) {
    pane.frame.classList.toggle("chosen", pane.data.name === name);
    pane.tab.setAttribute("aria-pressed", pane.data.name === name);
  }
}

function choosePane(name) {
  markChosen(name);
  // What was out of sight has not been scrolled.
  bringNodeIntoSight(focused() !== NONE ? focused() : book.lead(shown), null);
}

function follow(target) {
  const what = target.slice(1);
  if (target[0] === "n") return lock(Number(what), null);
  book.follow(target);
  if (target[0] !== "p") return;
  choosePane(what);
  byId("pane-" + what).scrollIntoView({block: "nearest"});
}

byId("title").textContent = run.title;
byId("prompt").textContent = run.prompt;
for (const [name, value] of run.facts) {
  const term = document.createElement("dt"), meaning = document.createElement("dd");
  term.textContent = name;
  meaning.textContent = value;
  byId("facts").append(term, meaning);
}
for (const pane of panes) {
  byId("panes").append(pane.frame);
  const tab = document.createElement("button");
  tab.type = "button";
  tab.textContent = pane.data.title;
  tab.dataset.pane = pane.data.name;
  tab.addEventListener("click", () => choosePane(pane.data.name));
  pane.tab = tab;
  byId("tabs").append(tab);
}

slider.max = last;
slider.addEventListener("input", () => show(Number(slider.value)));
byId("back").addEventListener("click", () => show(shown - 1));
byId("forward").addEventListener("click", () => show(shown + 1));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const presses = event.target.closest("button, a, summary");
  if (event.target.closest("input[type=number]")) return;
  switch (event.key) {
    case "ArrowRight": case "PageDown": show(shown + 1); break;
    case "ArrowLeft": case "PageUp": show(shown - 1); break;
    case "Home": show(0); break;
    case "End": show(last); break;
    case " ":
      if (presses) return;
      show(shown + (event.shiftKey ? -1 : 1));
      break;
    case "Escape":
      if (focus.locked !== NONE) lock(focus.locked, null);
      break;
    default:
      if (!book.key || !book.key(event.key)) return;
  }
  event.preventDefault();
});

// A swipe goes on or back, but where it scrolls a picture it scrolls it.
let touch = null;
document.addEventListener("touchstart", (event) => {
  touch = null;
  if (event.touches.length !== 1 || event.target.closest("footer, nav")) return;
  const {clientX: x, clientY: y} = event.touches[0];
  const view = event.target.closest(".scroller");
  touch = {x, y, toLeft: !view || view.scrollLeft <= 0,
           toRight: !view || view.scrollLeft + view.clientWidth >= view.scrollWidth - 1};
}, {passive: true});
document.addEventListener("touchend", (event) => {
  if (!touch || !getSelection().isCollapsed) return;
  const {clientX, clientY} = event.changedTouches[0];
  const dx = clientX - touch.x, dy = clientY - touch.y;
  if (Math.abs(dx) < SWIPE || Math.abs(dx) < 2 * Math.abs(dy)) return;
  if (dx < 0 && touch.toRight) show(shown + 1);
  if (dx > 0 && touch.toLeft) show(shown - 1);
}, {passive: true});

function useTheme(dark) {
  inDark = dark;
  for (const pane of panes) pane.made = [];
  draw();
}
darkScheme.addEventListener("change", () => useTheme(darkScheme.matches));
addEventListener("beforeprint", () => {
  document.body.classList.add("printing");
  useTheme(false);
  for (const pane of panes.filter(book.shows)) fitForPaper(pane, book.lead(shown));
});
addEventListener("afterprint", () => {
  document.body.classList.remove("printing");
  for (const pane of panes) fitForScreen(pane);
  useTheme(darkScheme.matches);
});

show(0);
document.body.dataset.drawn = "yes";
document.body.dispatchEvent(new Event("drawn"));

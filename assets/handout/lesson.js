// A lesson: its text step by step, its questions and tasks. What follows a question is not on the page until
// somebody has answered it, or asked to be shown.

const lesson = run.lesson;
const PHASES = ["draft", "forward", "accept", "commit", "observe"];
const said = new Map();  // by question: the number of a choice, {number}, or null: "show the answer"
const met = new Set();   // tasks
let scene = lesson.steps[0].pieces.find((piece) => piece.do)?.do ?? lesson.first;
let turn = 0;  // the step shown

const keyOf = (index) => turn + "/" + index;

function made(name, className, ...content) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...content);
  return element;
}

function pressed(className, label, action) {
  const button = made("button", className, label);
  button.type = "button";
  button.addEventListener("click", action);
  return button;
}

// Up to and with the first question that nobody has answered.
function shownPieces() {
  const {pieces} = lesson.steps[turn];
  const open = pieces.findIndex((piece, index) => piece.ask && !said.has(keyOf(index)));
  return open < 0 ? pieces : pieces.slice(0, open + 1);
}

// --- text ---

function spanElement(span, follow) {
  if (typeof span === "string") return span;
  if (span.picture) {
    const picture = made("img");
    picture.src = span.picture;
    picture.alt = span.text;
    return picture;
  }
  let element = span.code ? made("code", "", span.text) : span.text;
  if (span.emphasis) element = made("em", "", element);
  if (span.strong) element = made("strong", "", element);
  if (!span.link) return element;
  const kind = span.link[0];
  if (kind !== "w" && kind !== "l") {
    const link = linkOf("", span.link, follow);
    link.append(element);
    return link;
  }
  const link = made("a", "", element);
  link.href = span.link.slice(1);
  if (kind === "l") link.title = "Another lesson: opens where its page lies beside this one";
  link.rel = "noreferrer";
  return link;
}

// Of a list of spans; of a string; of nothing.
const spanElements = (spans, follow) => [spans ?? []].flat().map((span) => spanElement(span, follow));
// On a button, which no link may be on.
const plainElements = (spans) => spanElements([spans].flat().map((span) => span.link ? {...span, link: undefined} : span));

function blockElement(block, follow) {
  const spans = () => spanElements(block.spans, follow);
  const blocks = () => (block.blocks ?? []).map((inner) => blockElement(inner, follow));
  switch (block.kind) {
    case "heading": return made("h" + Math.min(6, block.level + 2), "", ...spans());
    case "list": {
      const list = made(block.number ? "ol" : "ul", "", ...blocks());
      if (block.number > 1) list.start = block.number;
      return list;
    }
    case "item": return made("li", "", ...blocks());
    case "code": return made("pre", "", block.text);
    case "table": return made("div", "scroller table", made("table", "", ...blocks()));
    case "row": {
      const row = made("tr");
      for (const cell of block.blocks) {
        const place = blockElement(cell, follow);
        row.append(block.header ? made("th", "", ...place.childNodes) : place);
      }
      return row;
    }
    case "cell": return made("td", "", ...spans());
    case "quote": return made("blockquote", "", ...blocks());
    case "rule": return made("hr");
  }
  return made("p", "", ...spans());
}

// --- questions ---

function verdictOf({ask}, answer) {
  if (ask.choices.length > 0) {
    if (answer === null) return "This is what happened.";
    return answer === ask.right ? "As you predicted." : "You predicted something else; this is what happened.";
  }
  if (answer === null) return "The run says " + ask.truth + ".";
  const right = ask.number !== null && Math.abs(ask.number - answer.number) <= ask.within + 1e-9;
  return "You said " + answer.number + (right ? ", and so does the run." : "; the run says " + ask.truth + ".");
}

function askElement(piece, index, follow) {
  const {ask} = piece, key = keyOf(index), open = !said.has(key), answer = said.get(key);
  const question = made("p", "question", ...spanElements(ask.text, follow));
  const card = made("section", "card ask", question);
  const reply = (what) => {
    const before = shownPieces().length;
    said.set(key, what);
    const next = shownPieces().slice(before).filter((one) => one.do);
    if (next.length > 0) setScene(next.at(-1).do);
    redraw(key);
  };
  ask.choices.forEach((words, number) => {
    const choice = pressed("choice", made("span", "mark", String(number + 1)), () => reply(number));
    const text = made("span", "", ...plainElements(words));
    choice.append(text);
    if (!open) {
      choice.disabled = true;
      const right = number === ask.right, chosen = answer === number;
      if (right) choice.classList.add("right");
      else if (chosen) choice.classList.add("wrong");
      choice.firstChild.textContent = right ? "✓" : chosen ? "✗" : "";
      choice.setAttribute("aria-label", text.textContent + (right ? ": what happened" : "") + (chosen ? ": your prediction" : ""));
    }
    card.append(choice);
  });
  if (!open) {
    const verdict = made("p", "verdict", verdictOf(piece, answer));
    verdict.tabIndex = -1;
    verdict.dataset.key = key;
    verdict.setAttribute("role", "status");
    card.append(verdict);
    return card;
  }
  if (ask.choices.length === 0) {
    const field = made("input");
    field.type = "number";
    field.step = "any";
    field.setAttribute("aria-label", question.textContent);
    const form = made("form", "", field, pressed("", "Answer", () => form.requestSubmit()));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (field.value !== "") reply({number: Number(field.value)});
    });
    card.append(form);
  }
  card.append(pressed("quiet", "Show the answer", () => reply(null)));
  return card;
}

// --- tasks and experiments ---

function taskElement({task}, index, follow) {
  const key = keyOf(index), done = met.has(key);
  const card = made("section", done ? "card task met" : "card task", made("p", "question", done ? "✓ Done." : "Your turn"),
                    made("p", "", ...spanElements(task.text, follow)));
  card.append(pressed("quiet", done ? "Show it again" : "Show me", () => {
    setScene(task.show);
    drawMoment();
  }));
  return card;
}

// What is seen now may be what a task asks for.
function notice() {
  let any = false;
  shownPieces().forEach(({task}, index) => {
    if (!task || met.has(keyOf(index))) return;
    if (!task.met.some(([view, node]) => view === scene.view && (node === null || node === focus.locked))) return;
    met.add(keyOf(index));
    any = true;
  });
  if (any) redraw(null);
}

function experimentElement({experiment}, follow) {
  const card = made("section", "card", made("p", "question", ...spanElements(experiment.text, follow)), made("p", "", experiment.rule));
  const most = Math.max(...experiment.rows.flatMap(([, expected, drawn]) => [expected, drawn]));
  const bar = (share, className) => {
    const line = made("span", "bar " + className);
    line.style.width = 100 * share / most + "%";
    return made("td", "", line, made("span", "share", (100 * share).toFixed(1) + " %"));
  };
  const table = made("table", "chart", made("tr", "", made("th", "", "token"), made("th", "", "expected"), made("th", "", "drawn")));
  for (const [name, expected, drawn] of experiment.rows)
    table.append(made("tr", "", made("td", "", name), bar(expected, "expected"), bar(drawn, "drawn")));
  card.append(table, made("p", "question", (experiment.agrees ? "✓ " : "✗ ") + experiment.verdict), made("p", "dim", experiment.figures));
  return card;
}

function pieceElement(piece, index, follow) {
  if (piece.block) return blockElement(piece.block, follow);
  if (piece.ask) return askElement(piece, index, follow);
  if (piece.task) return taskElement(piece, index, follow);
  if (piece.experiment) return experimentElement(piece, follow);
  return piece.note ? made("p", "card dim", piece.note) : "";
}

// --- the moment of the run ---

function momentText(view) {
  view = run.extra[view] ?? view;  // one with a range of its own
  const step = Math.floor(view / PHASES.length), phase = PHASES[view % PHASES.length];
  if (view === lesson.end) return "the end of the run";
  return view % PHASES.length === 0 ? "before step " + step : "step " + step + ", before " + phase;
}

const moment = made("nav", "", made("output"));
moment.id = "moment";
moment.setAttribute("aria-label", "The run's own steps");
const goTo = (view) => {
  scene = {...scene, view: Math.max(0, Math.min(lesson.end, view))};
  drawMoment();
};
const baseView = () => run.extra[scene.view] ?? scene.view;
const earlier = pressed("", "‹", () => goTo(baseView() - 1)), later = pressed("", "›", () => goTo(baseView() + 1));
earlier.setAttribute("aria-label", "The run, one phase back");
later.setAttribute("aria-label", "The run, one phase on");
const again = pressed("quiet", "Show again", () => {
  const last = shownPieces().filter((piece) => piece.do).at(-1);
  if (last) setScene(last.do);
  drawMoment();
});
moment.prepend(earlier);
moment.append(later, again);
document.querySelector("main").prepend(moment);

function setScene(next) {
  scene = next;
  focus.locked = next.lock;
  focus.hovered = NONE;
}

function drawMoment() {
  moment.querySelector("output").textContent = momentText(scene.view);
  earlier.disabled = baseView() === 0;
  later.disabled = baseView() === lesson.end;
  drawPanes();
  bringNodeIntoSight(book.lead(), null);
  notice();
}

// The text anew, from where it is scrolled to; `key`: the question that was answered.
function redraw(key) {
  const place = byId("words"), top = place.scrollTop;
  book.write(place);
  place.scrollTop = top;
  drawMoment();
  if (key === null) return;
  const verdict = place.querySelector("[data-key='" + key + "']");
  verdict.focus({preventScroll: true});
  verdict.scrollIntoView({block: "nearest"});
}

// What page.js goes through.
const book = {
  last: lesson.steps.length - 1,
  first: () => scene.panels[0],
  place: (index) => index + 1 + " of " + lesson.steps.length,
  view: () => scene.view,
  // In the order the lesson names them.
  shows(pane) {
    pane.frame.style.order = pane.tab.style.order = scene.panels.indexOf(pane.data.name);
    return scene.panels.includes(pane.data.name);
  },
  lead: () => focus.locked !== NONE ? focus.locked : run.leads[baseView()],
  spoken: () => momentText(scene.view) + ". " + (run.spoken[baseView()] ?? ""),
  write(place) {
    const heading = made("h2", "", lesson.steps[turn].title);
    const parts = shownPieces().map((piece, index) => pieceElement(piece, index, follow));
    if (turn === book.last && lesson.next && parts.length === lesson.steps[turn].pieces.length) {
      const next = made("a", "", lesson.next.title);
      next.href = lesson.next.page;
      parts.push(made("p", "dim", "The lesson that follows: ", next));
    }
    place.replaceChildren(heading, ...parts);
  },
  open(place, index) {
    turn = index;
    const last = shownPieces().filter((piece) => piece.do).at(-1);
    setScene(last ? last.do : {...scene, lock: NONE});
    book.write(place);
    place.scrollTop = 0;
    moment.querySelector("output").textContent = momentText(scene.view);
    earlier.disabled = baseView() === 0;
    later.disabled = baseView() === lesson.end;
  },
  follow(target) {
    const what = target.slice(1);
    if (target[0] === "v") goTo(Number(what));
    if (target[0] !== "p" || scene.panels.includes(what)) return;
    scene = {...scene, panels: [...scene.panels.slice(0, 2), what]};
    drawPanes();
  },
  seen: () => notice(),
  // A digit is a choice of the question that is open.
  key(key) {
    const choices = [...byId("words").querySelectorAll(".ask:last-of-type .choice:enabled")];
    const choice = choices[Number(key) - 1];
    if (choice) choice.click();
    return Boolean(choice);
  },
};

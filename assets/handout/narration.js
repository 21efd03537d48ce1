// Narration: what a step did, phase by phase. A link focuses its node, goes to its step or shows its
// panel.

const sentenceText = (sentence) => sentence.map((part) => Array.isArray(part) ? part[0] : part).join("");

// What the pictures are said to show: the decision of the step, else all that is told of it.
function spokenWords(step) {
  const told = step.words.filter(([phase]) => phase === "accept");
  return (told.length > 0 ? told : step.words)
    .flatMap(([, sentences]) => sentences.map(sentenceText)).join(" ");
}

function drawNarration(place, step, follow) {
  place.replaceChildren(...step.words.map(([phase, sentences]) => {
    const part = document.createElement("section");
    const heading = document.createElement("h3");
    heading.textContent = phase;
    const words = document.createElement("p");
    for (const sentence of sentences) {
      for (const piece of sentence) words.append(Array.isArray(piece) ? linkOf(piece, follow) : piece);
      words.append(" ");
    }
    part.append(heading, words);
    return part;
  }));
  place.scrollTop = 0;
}

function linkOf([text, target], follow) {
  const link = document.createElement("a");
  link.href = "#" + target;
  link.textContent = text;
  link.dataset.target = target;
  link.addEventListener("click", (event) => {
    event.preventDefault();
    follow(target);
  });
  return link;
}

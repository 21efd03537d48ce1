// A run: what a step did, phase by phase. A link focuses its node, goes to its step or shows its
// panel.

const sentenceText = (sentence) => sentence.map((part) => Array.isArray(part) ? part[0] : part).join("");

// What page.js goes through.
const book = {
  last: run.steps.length - 1,
  place: (index) => "step " + run.steps[index].step + " of " + run.steps[book.last].step,
  view: (index) => index,
  shows: () => true,
  lead: (index) => run.steps[index].lead,
  // What the pictures are said to show: the decision of the step, else all that is told of it.
  spoken(index) {
    const {words} = run.steps[index], told = words.filter(([phase]) => phase === "accept");
    return (told.length > 0 ? told : words).flatMap(([, sentences]) => sentences.map(sentenceText)).join(" ");
  },
  open(place, index, follow) {
    place.replaceChildren(...run.steps[index].words.map(([phase, sentences]) => {
      const part = document.createElement("section");
      const heading = document.createElement("h3");
      heading.textContent = phase;
      const words = document.createElement("p");
      for (const sentence of sentences) {
        for (const piece of sentence) words.append(Array.isArray(piece) ? linkOf(piece[0], piece[1], follow) : piece);
        words.append(" ");
      }
      part.append(heading, words);
      return part;
    }));
    place.scrollTop = 0;
  },
  follow: (target) => target[0] === "s" ? show(Number(target.slice(1))) : undefined,
  seen: () => {},
};

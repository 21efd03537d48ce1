// Links to what the page shows: a node, a moment, a panel.

function linkOf(text, target, follow) {
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

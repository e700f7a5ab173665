// Shows only what has all words that are typed, and what leads to such a task. Without this script all of it is shown.
const form = document.getElementById("filter"), field = document.getElementById("words"), shown = document.getElementById("shown");
const parts = [...document.querySelectorAll("article, .card, .rows > li, .need")].filter((each) => !each.parentElement.closest("article"));
const told = (part) => document.getElementById(decodeURIComponent(part.querySelector("a.task")?.hash.slice(1) ?? ""))?.closest("article");
const texts = parts.map((each) => [each, told(each)].map((part) => part?.textContent.toLowerCase() ?? ""));
const tasks = parts.filter((each) => each.matches("article:not(.shared)"));
const filter = () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  parts.forEach((each, at) => {
    each.hidden = !texts[at].some((text) => words.every((word) => text.includes(word)));
  });
  // How many there are of all says nothing of those that are left.
  document.querySelectorAll(".tally").forEach((each) => (each.hidden = words.length > 0));
  shown.textContent = words.length ? `${tasks.filter((each) => !each.hidden).length} of ${tasks.length} tasks` : "";
};
form.addEventListener("submit", (event) => event.preventDefault());
field.addEventListener("input", filter);
form.hidden = false;
filter();

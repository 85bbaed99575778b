// Dark or light colours: the system's, until a visitor chooses.

const button = document.querySelector("#theme");
const system = matchMedia("(prefers-color-scheme: dark)");

function dark() {
  const chosen = localStorage.getItem("theme");
  return chosen ? chosen === "dark" : system.matches;
}

function show() {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  button.setAttribute("aria-pressed", String(dark()));
}

button.addEventListener("click", () => {
  localStorage.setItem("theme", dark() ? "light" : "dark");
  show();
});
system.addEventListener("change", show);
show();

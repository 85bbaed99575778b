// The terms of a visitor, and what may translate them: lines that are typed, or a file with tabs.

import { Problem } from "./api.js";

const panel = document.querySelector("#glossary");
const area = document.querySelector("#terms");
const file = document.querySelector("#terms-file");

// `term = form, form`, or as in a file: columns with tabs between them.
function columns(line) {
  const parts = line.includes("\t") ? line.split("\t") : split(line);
  return parts.map((part) => part.trim()).filter((part, i) => part || !i);
}

function split(line) {
  const at = line.indexOf("=");
  return at < 0 ? [line] : [line.slice(0, at), ...line.slice(at + 1).split(",")];
}

// As the server takes it, line by line; a line that says nothing is a problem.
export function terms() {
  const lines = area.value.split("\n").map((line) => (line.trim() ? columns(line) : []));
  const wrong = lines.findIndex((parts) => parts.length && (parts.length < 2 || !parts[0]));
  area.toggleAttribute("aria-invalid", wrong >= 0);
  if (wrong >= 0) {
    panel.open = true;
    area.focus();
    throw new Problem(`Glossary, line ${wrong + 1}: write it as term = translation.`, 0);
  }
  return lines.map((parts) => parts.join("\t")).join("\n").trimEnd();
}

export function isGlossary(event) {
  return panel.contains(event.target) || /\.tsv$/i.test(event.dataTransfer.files[0]?.name ?? "");
}

export async function read(blob) {
  area.value = (await blob.text()).replace(/^\ufeff/, "").replace(/\r\n?/g, "\n").trimEnd();
  panel.open = true;
  changed();
}

function changed() {
  const count = area.value.split("\n").filter((line) => line.trim()).length;
  document.querySelector("#terms-count").textContent = count ? `${count} ${count === 1 ? "term" : "terms"}` : "";
  sessionStorage.setItem("terms", area.value);
}

area.addEventListener("input", changed);
file.addEventListener("change", () => {
  if (file.files.length) read(file.files[0]);
  file.value = "";
});
area.value = sessionStorage.getItem("terms") ?? "";
changed();

// A table of what the server offers, from its own description.

import "./theme.js";

const { paths } = await (await fetch("/openapi.json")).json();
const groups = new Map();
for (const [path, methods] of Object.entries(paths)) {
  for (const [method, { tags = ["Other"], description = "", summary = "" }] of Object.entries(methods)) {
    if (!groups.has(tags[0])) groups.set(tags[0], []);
    groups.get(tags[0]).push([`${method.toUpperCase()} ${path}`, description || summary]);
  }
}
for (const [name, routes] of groups) {
  const title = document.createElement("h2");
  title.textContent = name;
  const list = document.createElement("dl");
  for (const [route, description] of routes) {
    const term = document.createElement("dt"), detail = document.createElement("dd");
    const code = document.createElement("code");
    code.textContent = route;
    term.append(code);
    detail.textContent = description;
    list.append(term, detail);
  }
  document.getElementById("routes").append(title, list);
}

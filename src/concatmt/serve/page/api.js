// What the page asks the server for. Nothing else is ever loaded.

let key = sessionStorage.getItem("key") ?? "";

export class Problem extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export function setKey(value) {
  key = value;
  sessionStorage.setItem("key", value);
}

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (key) headers.Authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server cannot be reached.", 0);
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  throw new Problem(answer.error ?? `The server answered ${response.status}.`, response.status);
}

export async function json(path) {
  return (await ask(path)).json();
}

// Lines of JSON as they come.
async function* lines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) {
      const line = JSON.parse(part);
      if (line.error) throw new Problem(line.error, 200);
      yield line;
    }
  }
}

// A document on the server: its place, and its sentences as they are translated.
export async function create(fields, file, signal) {
  let body, headers;
  if (file) {
    body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, String(value));
    body.append("file", file);
  } else {
    body = JSON.stringify(fields);
    headers = { "Content-Type": "application/json" };
  }
  const response = await ask("/documents", { method: "POST", body, headers, signal });
  return { place: response.headers.get("Location"), sentences: lines(response) };
}

export async function correct(place, translations) {
  const response = await ask(place, {
    method: "PATCH",
    body: JSON.stringify({ translations }),
    headers: { "Content-Type": "application/json" },
  });
  return lines(response);
}

export async function download(place) {
  const response = await ask(`${place}/file`);
  const name = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get("Content-Disposition"));
  return { data: await response.blob(), name: name ? decodeURIComponent(name[1]) : "translation.txt" };
}

export function forget(place) {
  ask(place, { method: "DELETE" }).catch(() => {});
}

// The page: a text or a file goes in, its sentences come out one after the other.

import * as api from "./api.js";
import * as glossary from "./glossary.js";
import { Rows } from "./rows.js";
import "./theme.js";

const $ = (id) => document.getElementById(id);
const EXAMPLE = `Anna bought an old lamp at the market. It was heavy, and she carried it home on foot.

The next morning she put it on the table. Her brother looked at it for a long time. "It is broken," he said. She did not believe him.`;

let languages = [];
let settings = { charLimit: -1, alternatives: 0 };
let current = null; // the document that is shown
const rows = new Rows(correct);

async function start() {
  [languages, settings] = await Promise.all([api.json("/languages"), api.json("/frontend/settings")]);
  $("file").accept = settings.supportedFilesFormat.join(",");
  $("key").hidden = !settings.keyRequired;
  fill($("source"), languages.filter((language) => language.targets.length));
  $("source").value = settings.language.source.code;
  fillTargets(settings.language.target.code);
  $("example").hidden = !$("source").value.startsWith("en");
  count();
}

function fill(select, some) {
  select.replaceChildren(...some.map(({ code, name }) => new Option(name, code)));
}

function named(code) {
  return languages.find((language) => language.code === code)?.name ?? code;
}

function fillTargets(wanted) {
  const targets = languages.find(({ code }) => code === $("source").value)?.targets ?? [];
  fill($("target"), languages.filter(({ code }) => targets.includes(code)));
  if (targets.includes(wanted)) $("target").value = wanted;
  const back = languages.find(({ code }) => code === $("target").value)?.targets ?? [];
  $("swap").disabled = !back.includes($("source").value);
  $("example").hidden = !$("source").value.startsWith("en");
}

function swap() {
  const [source, target] = [$("source").value, $("target").value];
  $("source").value = target;
  fillTargets(source);
}

function count() {
  const length = $("text").value.length;
  const limit = settings.charLimit;
  $("count").textContent = length || limit < 0 ? `${length.toLocaleString("en")} characters` : "";
  if (limit >= 0 && length > limit) {
    $("count").textContent = `${length.toLocaleString("en")} characters; at most ${limit.toLocaleString("en")}`;
  }
  $("translate").disabled = !$("text").value.trim() || (limit >= 0 && length > limit);
}

function say(text) {
  $("status").textContent = text;
}

function complain(error) {
  if (error.name === "AbortError") return;
  $("problem").textContent = error.message;
  $("problem").hidden = false;
  if (error.status === 403 || (error.status === 400 && /key/i.test(error.message))) askForKey();
}

function show(reading) {
  $("reading").hidden = !reading;
  $("compose").hidden = reading;
  $("tagline").hidden = reading;
  $("problem").hidden = true;
  say("");
}

// Translate a text, or a file, and show its sentences as they come.
async function translate(file) {
  let terms;
  try {
    terms = glossary.terms();
  } catch (error) {
    complain(error);
    return;
  }
  leave();
  const text = file ? null : $("text").value;
  const pair = { source: $("source").value, target: $("target").value };
  const fields = terms ? { ...pair, glossary: terms } : { ...pair };
  if (!file) fields.text = text;
  const mine = (current = { abort: new AbortController(), file, fields, place: null, plain: null });
  show(true);
  $("title").textContent = file?.name ?? "";
  $("head-source").textContent = named(pair.source);
  $("head-with").textContent = named(pair.target);
  $("progress").className = "";
  $("progress").removeAttribute("value");
  $("compare").setAttribute("aria-checked", "false");
  rows.begin([], null, pair);
  rows.compare(false);
  say("Translating …");
  try {
    const wanted = { ...fields, alternatives: settings.alternatives };
    const { place, sentences } = await api.create(wanted, file, mine.abort.signal);
    mine.place = place;
    const { sentences: all, window } = await api.json(place);
    if (mine !== current) return;
    $("compare").hidden = $("hint").hidden = window === 0;
    rows.begin(all, text, pair);
    progress();
    for await (const sentence of sentences) {
      if (mine !== current) return;
      rows.put(sentence);
      progress();
    }
    const done = all.length === 1 ? "1 sentence translated." : `${all.length} sentences translated.`;
    say(all.length ? done + aboutTerms() : "There is nothing to translate in it.");
    $("progress").className = "done";
    document.body.dataset.state = "done";
  } catch (error) {
    if (mine !== current) return;
    say("");
    $("progress").className = "done";
    complain(error);
  }
}

function progress() {
  const { done } = rows, all = rows.sentences.length;
  $("progress").value = all ? done / all : 1;
  if (done % 10 === 0) say(`${done} of ${all} sentences`);
}

// How many terms of the glossary came out.
function aboutTerms() {
  const { found, used } = rows.terms;
  return found ? ` Glossary: ${used} of ${found} terms used.` : "";
}

// The same document, every sentence alone.
async function compare() {
  const on = $("compare").getAttribute("aria-checked") !== "true";
  $("compare").setAttribute("aria-checked", String(on));
  rows.compare(on);
  const mine = current;
  if (!on || mine.plain) return;
  say("Translating without context …");
  try {
    const wanted = { ...mine.fields, use_context: false };
    const { place, sentences } = await api.create(wanted, mine.file, mine.abort.signal);
    mine.plain = place;
    for await (const sentence of sentences) {
      if (mine !== current) return;
      rows.putPlain(sentence);
    }
    const { different } = rows, all = rows.sentences.length;
    say(`${different} of ${all} translations are different without context.`);
    document.body.dataset.compared = "done";
  } catch (error) {
    $("compare").setAttribute("aria-checked", "false");
    rows.compare(false);
    complain(error);
  }
}

async function correct(index, text) {
  const mine = current;
  say("The later sentences follow …");
  let followed = -1;
  try {
    for await (const sentence of await api.correct(mine.place, { [index]: text })) {
      if (mine !== current) return;
      rows.put(sentence, true);
      followed++;
    }
    say((followed > 0 ? `Corrected; ${followed} later translated again.` : "Corrected.") + aboutTerms());
    document.body.dataset.corrected = String(index);
  } catch (error) {
    complain(error);
  }
}

function leave() {
  if (!current) return;
  current.abort.abort();
  for (const place of [current.place, current.plain]) if (place) api.forget(place);
  current = null;
  for (const name of Object.keys(document.body.dataset)) delete document.body.dataset[name];
}

async function save() {
  try {
    const { data, name } = await api.download(current.place);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(data);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch (error) {
    complain(error);
  }
}

async function copy() {
  try {
    const { data } = await api.download(current.place);
    await navigator.clipboard.writeText(await data.text());
    say("Copied.");
  } catch (error) {
    complain(error);
  }
}

function askForKey() {
  $("key").hidden = false;
  $("key-dialog").showModal();
}

function dropped(event) {
  event.preventDefault();
  document.body.classList.remove("over");
  const file = event.dataTransfer.files[0];
  if (file && glossary.isGlossary(event) && !$("compose").hidden) glossary.read(file);
  else if (file) translate(file);
}

$("source").addEventListener("change", () => fillTargets($("target").value));
$("swap").addEventListener("click", swap);
$("text").addEventListener("input", count);
$("compose").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !$("translate").disabled) translate();
});
$("translate").addEventListener("click", () => translate());
$("example").addEventListener("click", () => {
  $("text").value = EXAMPLE;
  count();
  translate();
});
$("file").addEventListener("change", () => {
  if ($("file").files.length) translate($("file").files[0]);
  $("file").value = "";
});
$("edit").addEventListener("click", () => {
  leave();
  show(false);
  $("text").focus();
});
$("compare").addEventListener("click", compare);
$("download").addEventListener("click", save);
$("copy").addEventListener("click", copy);
$("key").addEventListener("click", askForKey);
$("key-dialog").addEventListener("close", () => {
  if ($("key-dialog").returnValue === "ok") {
    api.setKey($("key-value").value);
    $("problem").hidden = true;
  }
});
addEventListener("dragover", (event) => {
  event.preventDefault();
  if ([...event.dataTransfer.types].includes("Files")) document.body.classList.add("over");
});
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("over");
});
addEventListener("drop", dropped);
addEventListener("pagehide", leave);
start().catch(complain);

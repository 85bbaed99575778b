// The sentences of a document on both sides, and what happens when one is pointed at or corrected.

import { differences } from "./diff.js";

const list = document.querySelector("#sentences");
const rowTemplate = document.querySelector("#row");
const editorTemplate = document.querySelector("#editor");

export class Rows {
  // `save(index, text)` is called with a correction.
  constructor(save) {
    this.save = save;
    this.rows = [];
    this.sentences = [];
    this.plain = []; // translations without context
    this.comparing = false;
    list.addEventListener("pointerover", (event) => this.show(rowOf(event.target)));
    list.addEventListener("pointerleave", () => this.show(null));
    list.addEventListener("focusin", (event) => this.show(rowOf(event.target)));
    list.addEventListener("click", (event) => {
      if (event.target.closest(".translation")) this.edit(rowOf(event.target));
    });
    list.addEventListener("keydown", (event) => this.move(event));
  }

  // All sentences, translated or not, and the text that they are from if it is known.
  begin(sentences, text, languages) {
    this.rows = [];
    this.sentences = [];
    this.plain = [];
    list.replaceChildren();
    for (const sentence of sentences) {
      const row = rowTemplate.content.firstElementChild.cloneNode(true);
      row.dataset.index = sentence.index;
      row.querySelector(".source").textContent = sentence.source;
      row.querySelector(".source").lang = languages.source;
      for (const name of [".translation", ".without"]) row.querySelector(name).lang = languages.target;
      const before = this.sentences.at(-1);
      if (text && before && /\n\s*\n/.test(text.slice(before.end, sentence.start))) row.classList.add("paragraph");
      this.rows.push(row);
      this.sentences.push(sentence);
      list.append(row);
      if (sentence.translation !== null) this.put(sentence);
    }
  }

  get done() {
    return this.sentences.filter((sentence) => sentence.translation !== null).length;
  }

  put(sentence, fresh = false) {
    const row = this.rows[sentence.index];
    const changed = this.sentences[sentence.index].translation !== sentence.translation;
    this.sentences[sentence.index] = sentence;
    row.querySelector(".translation").disabled = false;
    row.querySelector(".about").textContent = about(sentence);
    row.querySelector(".source").replaceChildren(...withTerms(sentence));
    const missed = Object.entries(sentence.terms ?? {}).filter(([, used]) => !used);
    row.querySelector(".missed").hidden = !missed.length;
    row.querySelector(".missed").textContent = `Not used: ${missed.map(([term]) => term).join(", ")}`;
    this.draw(sentence.index);
    if (fresh && changed) {
      row.classList.remove("fresh");
      void row.offsetWidth; // begin the animation again
      row.classList.add("fresh");
    }
  }

  putPlain(sentence) {
    this.plain[sentence.index] = sentence.translation;
    this.draw(sentence.index);
  }

  compare(on) {
    this.comparing = on;
    list.closest(".card").classList.toggle("comparing", on);
    this.rows.forEach((_, index) => this.draw(index));
  }

  // How many terms of the glossary are in the sentences, and in their translations.
  get terms() {
    const all = this.sentences.flatMap((sentence) => Object.values(sentence.terms ?? {}));
    return { found: all.length, used: all.filter(Boolean).length };
  }

  // How many sentences differ without context.
  get different() {
    return this.plain.filter((text, i) => text !== undefined && text !== this.sentences[i].translation).length;
  }

  draw(index) {
    const row = this.rows[index];
    const button = row.querySelector(".translation");
    const text = this.sentences[index].translation ?? "";
    const plain = this.plain[index];
    if (!this.comparing || plain === undefined || !text) {
      button.textContent = text;
      return;
    }
    const [own, other] = differences(text, plain);
    const without = row.querySelector(".without");
    button.replaceChildren(...own.map(marked));
    without.replaceChildren(...other.map(marked));
    without.classList.toggle("same", text === plain);
  }

  // Mark a sentence and those it was translated with.
  show(row) {
    const index = row ? Number(row.dataset.index) : -1;
    const context = new Set(row ? this.sentences[index].context : []);
    this.rows.forEach((other, i) => {
      other.classList.toggle("near", i === index);
      other.classList.toggle("context", context.has(i));
    });
  }

  move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.matches(".translation")) return;
    event.preventDefault();
    const next = this.rows[Number(rowOf(event.target).dataset.index) + step];
    next?.querySelector(".translation")?.focus();
  }

  edit(row) {
    const index = Number(row.dataset.index);
    const sentence = this.sentences[index];
    const button = row.querySelector(".translation");
    const form = editorTemplate.content.firstElementChild.cloneNode(true);
    const area = form.querySelector("textarea");
    area.value = sentence.translation;
    area.id = `correct-${index}`;
    area.lang = button.lang;
    form.querySelector("label").htmlFor = area.id;
    const alternatives = form.querySelector(".alternatives");
    for (const text of sentence.alternatives ?? []) {
      const item = document.createElement("li");
      const choice = document.createElement("button");
      choice.type = "button";
      choice.lang = button.lang;
      choice.textContent = text;
      choice.addEventListener("click", () => finish(text));
      item.append(choice);
      alternatives.append(item);
    }
    alternatives.hidden = !alternatives.childElementCount;
    const finish = (text) => {
      form.remove();
      button.hidden = false;
      button.focus();
      const trimmed = text?.trim();
      if (trimmed && trimmed !== sentence.translation) {
        row.classList.add("corrected");
        this.save(index, trimmed);
      }
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      finish(area.value);
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") finish(null);
      else if (event.key === "Enter" && event.target === area && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        finish(area.value);
      }
    });
    form.querySelector(".cancel").addEventListener("click", () => finish(null));
    button.hidden = true;
    button.after(form);
    area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
  }
}

function rowOf(element) {
  return element.closest(".row");
}

function about(sentence) {
  if (!sentence.context.length) return "Click to correct.";
  const numbers = sentence.context.map((index) => index + 1).join(", ");
  return `Translated in the context of sentences ${numbers}. Click to correct.`;
}

// The source with the terms of the glossary marked.
function withTerms({ source, terms }) {
  const names = Object.keys(terms ?? {}).sort((one, other) => other.length - one.length);
  if (!names.length) return [source];
  const escaped = names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+"));
  const any = new RegExp(`(?<![\\p{L}\\p{N}])(${escaped.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  return source.split(any).map((part, i) => (i % 2 ? term(part) : part));
}

function term(text) {
  const span = document.createElement("span");
  span.className = "term";
  span.title = "In the glossary";
  span.textContent = text;
  return span;
}

function marked({ text, differs }) {
  if (!differs) return document.createTextNode(text);
  const mark = document.createElement("mark");
  mark.textContent = text;
  return mark;
}

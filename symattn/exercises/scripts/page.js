// The page: blanks become fields, and what is written in them is judged, kept and handed on.
"use strict";

const SHOWN = {
  right: "✓", early: "≈", fewer: "≈", follows: "→", slip: "✗", wrong: "✗", unread: "?",
  blank: "",
};
const BLANK = "______";

/** An element with attributes and what is in it. */
function element(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

const filledIn = (text, pieces) => text.replace(/\{(\w+)\}/g, (_, name) => pieces[name]);

class Page {
  constructor(text) {
    this.exercise = JSON.parse(text);
    this.words = this.exercise.words;
    this.examiner = new Examiner(this.exercise);
    // Answers are kept under the name of the exercise and what is asked, for another has others.
    const digest = [...text].reduce((sum, c) => (31 * sum + c.codePointAt(0)) | 0, 0);
    this.key = `symattn ${this.exercise.name} ${digest}`;
    this.status = element("p", {role: "status", class: "unseen"});
    this.count = element("p");
    this.name = element("input", {autocomplete: "name"});
    this.build();
    this.restore();
    this.judge();
  }

  /** Fields in the places of the blanks, which stand on the page part by part, row by row. */
  build() {
    const blanks = [...document.querySelectorAll("main mtext")]
      .filter((x) => x.textContent === BLANK);
    let number = 0;
    this.parts = this.exercise.parts.map((part) => {
      let display = null;
      const cells = part.labels.map((row, i) => row.map((label, j) => {
        const blank = blanks[number++];
        display = blank.closest(".beside");
        return this.field(part, label, [i, j], blank.closest("td") ?? blank, `told-${number}`);
      }));
      const notes = element("ul", {class: "notes"});
      display.after(notes);
      return {...part, cells, notes};
    });
    this.fields = this.parts.flatMap(({cells}) => cells.flat());
    const button = (text, does) => {
      const made = element("button", {type: "button"}, text);
      made.addEventListener("click", does);
      return made;
    };
    document.querySelector("main").append(element("div", {class: "answers"},
      this.count,
      element("label", {}, `${this.words.name} `, this.name),
      button(this.words.download, () => this.download()),
      button(this.words.clear, () => this.clear())), this.status);
    this.name.addEventListener("change", () => this.keep());
  }

  field(part, label, [i, j], place, id) {
    const told = element("span", {id, class: "unseen"});
    const sign = element("span", {class: "sign", "aria-hidden": "true"});
    const {first} = this.exercise;
    const name = filledIn(this.words.label, {quantity: part.of, i: i + first, j: j + first});
    const input = element("input", {
      "aria-label": name, "aria-describedby": told.id, autocomplete: "off", spellcheck: "false",
      autocapitalize: "off", style: `width: ${part.places + 3}ch`,
    });
    const made = element("span", {class: "field"}, input, sign, told);
    if (place.matches("td")) place.replaceChildren(made);
    else {
      place.closest("math").after(made);
      place.remove();
    }
    input.addEventListener("change", () => { this.judge(); this.tell(cell); this.keep(); });
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      const next = this.fields[this.fields.indexOf(cell) + 1];
      if (next) next.input.focus();
      else input.blur();
    });
    const cell = {label, name, input, sign, told};
    return cell;
  }

  /** Judge all answers: what one is may depend on those before it. */
  judge() {
    const outcomes = this.examiner.judged(
      this.parts.map(({cells}) => each(cells, ({input}) => input.value)));
    this.parts.forEach((part, k) => {
      const notes = new Map();
      part.cells.flat().forEach((cell, at) => {
        const {is, slip, told} = outcomes[k].flat()[at];
        const words = slip ?? filledIn(this.words[told ?? is], part);
        cell.input.dataset.outcome = is;
        cell.input.setAttribute("aria-invalid", ["slip", "wrong", "unread"].includes(is));
        cell.sign.textContent = SHOWN[is];
        cell.told.textContent = words;
        if (!["right", "wrong", "blank"].includes(is))
          notes.set(words, [...(notes.get(words) ?? []), cell.label]);
      });
      part.notes.replaceChildren(...[...notes].map(([words, labels]) =>
        element("li", {}, element("code", {}, labels.join(", ")), `: ${words}`)));
    });
    const right = outcomes.flat(2).filter(({is}) => is === "right").length;
    this.count.textContent = filledIn(this.words.count, {right, count: this.fields.length});
  }

  /** Say what an answer is to who does not see it. */
  tell({label, told}) {
    this.status.textContent = told.textContent && `${label}: ${told.textContent}`;
  }

  // -- kept in the browser, and handed in ---------------------------------------------------

  keep() {
    const answers = this.fields.map(({input}) => input.value);
    try {
      localStorage.setItem(this.key, JSON.stringify([this.name.value, ...answers]));
    } catch { /* A browser may keep nothing: then a reload begins anew. */ }
  }

  restore() {
    try {
      const kept = JSON.parse(localStorage.getItem(this.key));
      // What is there may be damaged: all of it counts, or nothing.
      if (!Array.isArray(kept) || !kept.every((x) => typeof x === "string")) return;
      const [name = "", ...answers] = kept;
      this.name.value = name;
      this.fields.forEach(({input}, k) => { input.value = answers[k] ?? ""; });
    } catch { /* As above. */ }
  }

  clear() {
    for (const {input} of this.fields) input.value = "";
    this.judge();
    this.keep();
    this.fields[0].input.focus();
  }

  /** The answers as a table for symattn mark; between semicolons decimals may have commas. */
  table() {
    const cell = (text) => (/[";\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const student = this.name.value.trim() || "student";
    const rows = this.fields.map(({label, input}) =>
      [student, this.exercise.version, label, input.value.trim()]);
    return [["student", "version", "quantity", "answer"], ...rows]
      .map((row) => `${row.map((x) => cell(String(x))).join(";")}\n`).join("");
  }

  download() {
    const address = URL.createObjectURL(new Blob([this.table()], {type: "text/csv"}));
    element("a", {href: address, download: `${this.exercise.name}-answers.csv`}).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }
}

const page = new Page(document.getElementById("data").textContent);

// Matrices to be copied as LaTeX, NumPy or TOML: each text is made of the matrix on the page.
"use strict";

{
  class Unknown extends Error {}

  const SIGNS = {"−": "-", "∞": "inf", "\u2061": ""};
  const BRACKETS = {"(": "(", ")": ")", "[": "(", "]": ")"};
  const FUNCTIONS = ["exp", "log", "sin", "cos", "tanh", "erf"];
  const parts = (node) => [...node.children];

  /** A row of elements as an expression; what stands side by side is multiplied. */
  function row(nodes) {
    let text = "";
    nodes.forEach((node, k) => {
      if (node.localName === "mspace") return;
      const next = expression(node);
      const isCalled = k > 0 && FUNCTIONS.includes(nodes[k - 1].textContent);
      const factors = text && !/[-+/*(]$/.test(text) && !/^[-+/*)]/.test(next) && !isCalled;
      text += factors ? `*${next}` : next;
    });
    return text;
  }

  const isOne = (text) => /^[\w.]+$/.test(text) || /^\w+\([^()]*\)$/.test(text);
  const factor = (text) => (isOne(text) ? text : `(${text})`);

  /** Numbers, roots, powers of e and functions, as programs write them. */
  function expression(node) {
    const inside = parts(node);
    switch (node.localName) {
      case "mn": return node.textContent;
      case "mo": {
        const sign = SIGNS[node.textContent] ?? BRACKETS[node.textContent] ?? node.textContent;
        if (!/^([-+/()]|inf|)$/.test(sign)) throw new Unknown();
        return sign;
      }
      case "mi":
        if (node.textContent === "e") return "exp(1)";
        if (node.textContent === "∞") return "inf";
        if (FUNCTIONS.includes(node.textContent)) return node.textContent;
        throw new Unknown();
      case "math": case "mrow": case "mstyle":
        if (node.className) throw new Unknown();
        return row(inside);
      case "mfrac": return `${factor(row([inside[0]]))}/${factor(row([inside[1]]))}`;
      case "msqrt": return `sqrt(${row(inside)})`;
      case "msup": {
        if (inside[0].textContent === "e") return `exp(${row([inside[1]])})`;
        const count = Number(row([inside[1]]));
        if (!(count >= 1 && count <= 9)) throw new Unknown();
        return Array(count).fill(factor(expression(inside[0]))).join("*");
      }
      default: throw new Unknown();
    }
  }

  const LETTERS = {
    "−": "-", "∞": "\\infty", "·": "\\cdot ", "×": "\\times ", "⊤": "\\top ", "\u2061": "",
    "≈": "\\approx ", "∂": "\\partial ", "…": "\\dots ",
  };
  const GREEK =
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho " +
    "sigma tau upsilon phi chi psi omega";
  const greek = GREEK.split(" ").map((word) => `\\${word} `);
  for (const [k, letter] of [..."αβγδεζηθικλμνξοπρστυφχψω"].entries()) LETTERS[letter] = greek[k];

  /** An element as LaTeX. */
  function latex(node) {
    const inside = parts(node), all = () => inside.map(latex).join("");
    const [a, b, c] = inside.map((part, k) => () => {
      // What has an index is one thing.
      const isWhole = k || part.localName !== "mrow" || !node.localName.startsWith("msu");
      return isWhole ? latex(part) : `{${latex(part)}}`;
    });
    switch (node.localName) {
      case "mn": return node.textContent;
      case "mo": case "mi": {
        const text = LETTERS[node.textContent] ?? node.textContent;
        if (/^[a-z]{2,}$/i.test(text))
          return ["exp", "log", "sin", "cos", "tanh"].includes(text) ? `\\${text}` : `\\operatorname{${text}}`;
        if (!/^(\\\w+ ?|[\w!'()*+,./:;<=>?@[\]|-]?)$/.test(text)) throw new Unknown();
        return node.getAttribute("mathvariant") === "normal" ? `\\mathrm{${text}}` : text;
      }
      case "mspace": return "\\,";
      case "mtext":
        if (!/^[\p{L}\p{N} ,.]+$/u.test(node.textContent)) throw new Unknown();
        return `\\text{${node.textContent}}`;
      case "math": case "mrow": case "mstyle":
        if (node.className) throw new Unknown();
        return all();
      case "mfrac": return `\\frac{${a()}}{${b()}}`;
      case "msqrt": return `\\sqrt{${all()}}`;
      case "msub": return `${a()}_{${b()}}`;
      case "msup": return `${a()}^{${b()}}`;
      case "msubsup": return `${a()}_{${b()}}^{${c()}}`;
      default: throw new Unknown();
    }
  }

  const ofCell = (write, plain) => (cell) => {
    const math = cell.querySelector("math");
    return math ? write(math) : plain(cell.textContent);
  };
  const digits = (text) => {
    if (!/^[0-9]*\.?[0-9]*$/.test(text)) throw new Unknown();
    return text;
  };

  /** The entries of a matrix, each as it is written. */
  const entries = (matrix, write) =>
    [...matrix.querySelectorAll("tr")].map((line) =>
      [...line.querySelectorAll("td:not(.bracket)")].map(ofCell(write, digits)));
  const before = (matrix) => matrix.querySelector(":scope > math");
  const nested = (rows) => `[${rows.map((x) => `[${x.join(", ")}]`).join(", ")}]`;

  /** What programs call a matrix; M where it has no name. */
  function name(matrix) {
    const letters = before(matrix)?.cloneNode(true);
    const shown = letters?.textContent ?? "";
    const text = shown.replaceAll(/[\s\u200a-\u2061]/g, "").replace("≈", "=");
    const index = letters?.querySelector("msub > :last-child")?.textContent;
    const whole = index ? text.replace(new RegExp(`${index}=$`), `_${index}=`) : text;
    return /^[A-Za-z]\w*=$/.test(whole) ? whole.slice(0, -1) : "M";
  }

  const called = (text) => text.replace(/\b(exp|log|sqrt|sin|cos|tanh)\(/g, "np.$1(");
  const FORMS = {
    LaTeX: (matrix) => {
      const body = entries(matrix, latex).map((x) => x.join(" & ")).join(" \\\\ ");
      const left = before(matrix) ? `${latex(before(matrix))} ` : "";
      return `${left}\\begin{bmatrix} ${body} \\end{bmatrix}`;
    },
    NumPy: (matrix) => {
      const rows = entries(matrix, expression).map((line) => line.map((text) => {
        if (text.includes("erf(")) throw new Unknown();
        return called(text).replace("inf", "np.inf");
      }));
      return `${name(matrix)} = np.array(${nested(rows)})`;
    },
    TOML: (matrix) => {
      const rows = entries(matrix, expression).map((line) => line.map((text) =>
        (/^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text) ? text : `"${text}"`)));
      return `${name(matrix)} = ${nested(rows)}`;
    },
  };

  /** What a matrix is in a form; null where that has no words for it. */
  function text(matrix, form) {
    try {
      return FORMS[form](matrix);
    } catch (error) {
      if (!(error instanceof Unknown)) throw error;
      return null;
    }
  }

  const words = JSON.parse(document.getElementById("words").textContent);
  const made = (name, attributes = {}, text = "") => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  };

  const box = made("div", {popover: "", class: "copier"});
  const area = made("textarea", {
    readonly: "", rows: "3", "aria-label": words.text, spellcheck: "false",
  });
  const status = made("span", {role: "status"});
  const buttons = Object.keys(FORMS).map((form) => made("button", {type: "button"}, form));
  box.append(...buttons, status, area);
  let matrix = null;

  async function copy(form) {
    area.value = text(matrix, form);
    area.select();
    try {
      await navigator.clipboard.writeText(area.value);
    } catch {
      // Where a page may not write to the clipboard, the text is selected.
      if (!document.execCommand("copy")) return;
    }
    status.textContent = words.copied;
  }

  function open(button) {
    matrix = button.closest(".matrix");
    area.value = status.textContent = "";
    for (const one of buttons) one.hidden = text(matrix, one.textContent) === null;
    button.after(box);
    box.showPopover();
    const {left, bottom} = button.getBoundingClientRect();
    const room = document.documentElement.clientWidth - box.offsetWidth - 8;
    box.style.left = `${Math.max(8, Math.min(left, room))}px`;
    box.style.top = `${Math.min(bottom + 4, innerHeight - box.offsetHeight - 8)}px`;
    buttons.find((one) => !one.hidden).focus();
  }

  for (const button of buttons) button.addEventListener("click", () => copy(button.textContent));
  for (const one of document.querySelectorAll("div.matrix")) {
    if (text(one, "LaTeX") === null) continue;
    const button = made("button", {
      type: "button", class: "copy", title: words.copy, "aria-label": words.copy,
    });
    button.addEventListener("click", () => open(button));
    one.append(button);
  }
}

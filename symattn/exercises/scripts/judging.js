// Exercise pages that check themselves: blanks become fields, and each answer is told what
// symattn mark would say of it. Nothing is loaded or sent, and no answer is in the page: what
// is right is computed from the given numbers, by the same steps as what follows from a
// student's own numbers. The rules are those of symattn.exercises.marking.judging.
"use strict";

/** So many units may rounding every step move a result that is still said to be just rounded. */
const FEW = 20n;
/** A closed form is computed on with so many places. */
const PLACES = 12;
const LONGEST = 80;
/** Nothing follows from numbers that are larger: balls hold no more. */
const LARGEST = 10n ** 40n * ONE;
/** The grammar's limits: of tokens and digits, of brackets in brackets, of characters. */
const MOST = 400, NESTING = 60, CHARACTERS = 4000;

// -- reading: what symattn.exercises.marking.collecting reads -----------------------------

const SIGNS = {"−": "-", "–": "-", "×": "x", "·": "*", "…": "..."};
const OPERATORS = {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/"};
const COMMA = /^[-−–+]?\s*(?=,?[0-9])[0-9]*,[0-9]*\s*%?$/;
const PRINTED = new RegExp(
  String.raw`^\s*(?:≈|~|=)?\s*([+-]?)\s*([0-9]*)(?:\.([0-9]*))?` +
  String.raw`(?:\s*(?:[eE]|[x*]\s*10\^?\s*)\(?([+-]?[0-9]{1,3})\)?)?\s*(%?)\s*(?:\.\.\.)?\s*$`);
const TOKEN = /\s*(?:((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?)|([a-z]+)|([-+*/()]))/iy;

/** A figure: so many units of a power of ten, and how many places are behind the point. */
const figure = (count, power, places) => ({count, power, places, value: shifted(count, power)});

/** An answer without the spaces around it, with spaces as Python has them. */
const stripped = (text) =>
  text.trim().replace(/[\x1c-\x1f\x85]/g, "\t").replaceAll("\ufeff", "\0").trim();

/** The figure that a text is, MASKED, null where it is blank, undefined where it is no number. */
function read(written) {
  const text = stripped(written);
  if (text === "") return null;
  const plain = COMMA.test(text) ? text.replace(",", ".") : text;
  const signed = plain.replace(/[−–×·…]/g, (sign) => SIGNS[sign]);
  if (/^-(inf|∞)$/.test(signed.toLowerCase().replaceAll(" ", ""))) return MASKED;
  const match = signed.length <= LONGEST ? PRINTED.exec(signed) : null;
  if (match && (match[2] || match[3])) {
    const [, sign, before, after = "", power = "0", percent] = match;
    const count = BigInt((before || "0") + after) * (sign === "-" ? -1n : 1n);
    return figure(count, Number(power) - (percent ? 2 : 0) - after.length, after.length);
  }
  const count = closedForm(plain.replace(/[−–×·÷]/g, (sign) => OPERATORS[sign]));
  return count === null || String(count).length >= LONGEST
    ? undefined : figure(count, -PLACES, PLACES);
}

/** To PLACES, rounded half to even, the value of numbers with + - * /, brackets, pi and
 * functions; null for anything else, and for what is not known to so many places. */
function closedForm(text) {
  if (text.length > CHARACTERS) return null;
  const tokens = [];
  TOKEN.lastIndex = 0;
  for (let match; text.slice(TOKEN.lastIndex).trim(); tokens.push(match))
    if (!(match = TOKEN.exec(text)) || tokens.length + 2 > MOST) return null;
  // What is small in between may be large in the end.
  fine ??= arithmetic(1000n);
  const {multiply, divide, shifted, pi, CALLED} = fine;
  let place = 0, depth = 0;
  const sign = () => tokens[place]?.[3];
  const takes = (wanted) => sign() === wanted && (place += 1, true);
  const atom = () => {
    const [, number, name] = tokens[place++] ?? [];
    if (number) {
      const [digits, power] = number.toLowerCase().split("e");
      const [before, after = ""] = digits.split(".");
      if (digits.length > MOST || Math.abs(Number(power ?? 0)) > MOST) return null;
      return shifted(BigInt(before + after), Number(power ?? 0) - after.length);
    }
    if (name === "pi") return pi;
    if (name ? !Object.hasOwn(CALLED, name) || !takes("(") : tokens[place - 1]?.[3] !== "(")
      return null;
    const inner = total();
    if (!takes(")")) return null;
    return name ? CALLED[name](inner) : inner;
  };
  const factor = () => takes("-") ? negate(factor()) : takes("+") ? factor() : atom();
  const chain = (part, signs) => () => {
    let value = part();
    for (let s; (s = sign()) in signs; value = signs[s](value, part())) place += 1;
    return value;
  };
  const term = chain(factor, {"*": multiply, "/": divide});
  const sums = chain(term, {"+": add, "-": subtract});
  const total = () => {
    if ((depth += 1) > NESTING) return null;
    const value = sums();
    depth -= 1;
    return value;
  };
  const value = total();
  if (value === null || place !== tokens.length) return null;
  const unit = fine.ONE / 10n ** BigInt(PLACES);
  if (value[1] * 10n ** BigInt(PLACES) > unit) return null;
  const twice = 2n * value[0] + unit;
  const count = floor(twice, 2n * unit);
  return twice % (2n * unit) === 0n && count % 2n !== 0n ? count - 1n : count;
}
let fine;

// -- judging ------------------------------------------------------------------------------

const unitOf = ({power}) => shifted(1n, power)[0];
const coarsest = (part) => -Math.ceil(part.places / 2);
const gap = (x, y) => { const [m, r] = subtract(x, y); return [abs(m), r]; };
/** Whether two numbers are known to be further apart. */
const isBeyond = (x, y, reach) => low(gap(x, y)) > reach;

/** An answer as it is taken: one with less than half of the places is meant exactly. */
function taken(printed, part) {
  if (printed === MASKED || printed.count === 0n || printed.power <= coarsest(part)) return printed;
  const count = printed.count * 10n ** BigInt(printed.power + part.places);
  return {...printed, count, power: -part.places, places: part.places};
}

/** Whether an answer is the right number to fewer places: rounded, or cut off. */
function isShort(truth, printed, part) {
  for (let {count, power, places, value} = printed; ; count /= 10n, power += 1, places -= 1) {
    const unit = unitOf({power});
    const beyond = value[0] < 0n || (value[0] === 0n && truth[0] < 0n) ? -1n : 1n;
    const [m, r] = subtract(truth, value);
    const isCut = m * beyond + r >= 0n && m * beyond + r < unit;
    if (power <= coarsest(part) && (!isBeyond(truth, value, unit / 2n) || isCut)) return true;
    if (places === 0 || count % 10n !== 0n) return false;
  }
}

/** What an answer is, but for common mistakes. */
function outcome(part, printed, truth, ways) {
  if (printed === MASKED || truth === MASKED) {
    if (printed === truth) return "right";
    return printed === MASKED && ways.own === MASKED ? "follows" : "wrong";
  }
  const tolerance = ONE / 10n ** BigInt(part.places);
  const {value} = printed;
  if (!isBeyond(truth, value, tolerance)) return "right";
  if (isShort(truth, printed, part)) return "fewer";
  const half = unitOf(printed) / 2n;
  const reach = printed.power <= coarsest(part) && half > tolerance ? half : tolerance;
  const [off] = gap(truth, value);
  const isKnown = (x) => x !== MASKED && x !== null;
  const comesOf = (x) => isKnown(x) && !isBeyond(x, value, reach);
  const isIn = (x) =>
    isKnown(x) && raised(x[1]) <= reach * FEW && has([x[0], raised(x[1])], value[0]);
  const tells = (x) => comesOf(x) && gap(x, value)[0] < off && raised(x[1]) * 2n < off;
  if (comesOf(ways.sound) || isIn(ways.rounded)) return "early";
  return comesOf(ways.own) || tells(ways.loose) ? "follows" : "wrong";
}

class Examiner {
  constructor(exercise) {
    this.nodes = exercise.nodes.map(([op, operands, rows, columns, extra]) =>
      ({op, operands, rows, columns, extra: op === "table" ? each(extra, given) : extra}));
    this.parts = exercise.parts;
    this.faults = exercise.faults;
    const {parts} = exercise;
    // Each part after those that it is computed from.
    this.inOrder = [...parts.keys()].sort((a, b) => parts[a].node - parts[b].node);
    this.places = Math.max(...this.parts.map((part) => part.places));
    const truth = new FollowThrough(this.nodes);
    const rounded = new FollowThrough(this.nodes, this.places);
    this.truths = parts.map((part) => truth.computed(part.node));
    this.rounded = parts.map((part) => rounded.computed(part.node));
    this.faulty = this.faults.map(([, k]) => new FollowThrough(this.nodes).computed(k));
  }

  /** What each answer is, by part, row and column, where the texts are by those too. */
  judged(texts) {
    const outcomes = [];
    const [own, sound] = [new FollowThrough(this.nodes), new FollowThrough(this.nodes)];
    const loose = new FollowThrough(this.nodes, this.places);
    for (const k of this.inOrder) {
      const part = this.parts[k];
      const figures = each(texts[k], read);
      const tracks = [sound, own, loose].map((track) => track.computed(part.node));
      outcomes[k] = figures.map((row, i) => row.map((found, j) => {
        if (found === null || found === undefined) return {is: found === null ? "blank" : "unread"};
        const printed = taken(found, part);
        const [s, o, l] = tracks.map((track) => track[i][j]);
        const ways = {sound: s, own: o, loose: l, rounded: this.rounded[k][i][j]};
        return {is: outcome(part, printed, this.truths[k][i][j], ways), printed};
      }));
      const put = (of) => each(outcomes[k], (x) => (x.printed === undefined ? undefined : of(x)));
      const number = ({printed}) => (
        printed === MASKED ? MASKED : abs(printed.value[0]) > LARGEST ? null : printed.value);
      own.put(part.node, put(number));
      loose.put(part.node, put((x) =>
        x.printed === MASKED || x.printed.count === 0n || number(x) === null
          ? number(x) : [x.printed.value[0], unitOf(x.printed) / 2n]));
      sound.put(part.node, put((x) =>
        ["right", "early", "fewer"].includes(x.is) ? number(x) : undefined));
    }
    for (const k of this.inOrder) this.name(k, outcomes[k]);
    return outcomes;
  }

  /** Name the common mistake that gives all answers of a part that is left wrong. */
  name(k, rows) {
    const places = rows.flatMap((row, i) => row.map((x, j) => ({x, i, j})));
    const left = places.filter(({x}) => x.is === "right" || x.is === "wrong");
    const wrong = left.filter(({x}) => x.is === "wrong");
    if (!wrong.length) return;
    const reach = ONE / 10n ** BigInt(this.parts[k].places);
    const gives = (fault) => left.every(({x, i, j}) => {
      const near = this.faulty[fault][i][j];
      if (near === MASKED || x.printed === MASKED) return near === x.printed;
      return near !== null && !isBeyond(near, x.printed.value, reach);
    });
    const found = this.faults.findIndex(([part], fault) => part === k && gives(fault));
    if (found < 0) return;
    for (const {x} of wrong) Object.assign(x, {is: "slip", slip: this.faults[found][2]});
  }
}

/** A given number: a fraction, or digits of what is none. */
function given(text) {
  if (text === MASKED) return MASKED;
  const [above, below] = text.split("/");
  if (below) return divide(whole(above), whole(below));
  const [before, after = ""] = text.split(".");
  return [shifted(BigInt(before + after), -after.length)[0], after ? 1n : 0n];
}

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

const count = (flags) => flags.filter((flag) => flag).length;
const isSame = (x, y) => x.every((flag, k) => flag === y[k]);

/** Answers of a part, weighed as symattn.exercises.marking.naming does. */
class Weighed {
  constructor(part, answers, right, weighing) {
    this.weighing = weighing;
    this.answers = answers;
    this.unit = ONE / 10n ** BigInt(part.places);
    this.bits = answers.map(({x, i, j}) => this.said(x.printed, right[i][j]));
  }
  said(printed, right) {
    const {least: little, most: much} = this.weighing;
    if (printed === MASKED) return little;
    const truth = right === MASKED || right === null ? 0n : right[0];
    // Final zeros tell nothing.
    const zeros = printed.count === 0n ? 0 : /0*$/.exec(printed.count)[0].length;
    const unit = unitOf({power: printed.power + zeros});
    // A number that balls can't tell from 0 is far from any other.
    if (unit === 0n) return much;
    const off = (2n * abs(printed.value[0] - truth) * ONE) / unit + ONE + ONE / 10n ** 9n;
    return Math.min(Math.max(4 * ((off / ONE).toString(2).length - 1), little), much);
  }
  isNear(x, y) {
    if (x === MASKED || y === MASKED) return x === y;
    return x !== null && y !== null && !isBeyond(x, y, this.unit);
  }
  /** What speaks for a slip that costs so much, where it makes these values of others. */
  of(slip, cost, values, base) {
    const {alone, gate, broken, missed} = this.weighing;
    const explains = [], given = [];
    // A number that is written many times is one piece of evidence for what is rare.
    const seen = new Set();
    let lost = 0, wrong = 0, said = 0, once = 0;
    this.answers.forEach(({x, i, j}, k) => {
      const number = x.printed === MASKED ? MASKED : x.printed.value;
      const gives = this.isNear(values[i][j], number);
      const changes = !gives && !this.isNear(values[i][j], base[i][j]);
      explains.push(gives && x.is === "wrong");
      if (explains[k]) {
        const written = String(number);
        said += this.bits[k];
        if (!seen.has(written)) once += this.bits[k];
        seen.add(written);
        given.push(x);
      } else if (changes && x.is === "wrong") lost += 1;
      else if (changes) wrong += 1;
    });
    const found = given.length;
    said = (found === 1 ? Math.min(said, alone) : said) - cost;
    const bits = Math.min(said, once - cost) - broken * wrong - missed * lost;
    const isWhole = found === count(this.answers.map(({x}) => x.is === "wrong")) && wrong === 0;
    const passes = bits >= gate && 10 * found >= 6 * (found + lost) && 10 * wrong <= found + lost;
    // A single sign may be one of the pen.
    const isSure = isWhole && said > 0 && (slip.usual === 2 || (slip.usual === 1 && found > 1));
    return {slip, explains, given, bits, isSure, passes: found > 0 && (passes || isSure)};
  }
}

class Examiner {
  constructor(exercise) {
    this.nodes = exercise.nodes.map(([op, operands, rows, columns, extra]) =>
      ({op, operands, rows, columns, extra: op === "table" ? each(extra, given) : extra}));
    this.parts = exercise.parts;
    this.weighing = exercise.weighing;
    this.slips = exercise.slips.map(([key, usual, early, instead, says]) =>
      ({key, usual, early, instead: new Map(instead), says}));
    const {parts} = exercise;
    // Each part after those that it is computed from.
    this.inOrder = [...parts.keys()].sort((a, b) => parts[a].node - parts[b].node);
    this.places = Math.max(...this.parts.map((part) => part.places));
    this.truth = new FollowThrough(this.nodes);
    const right = new FollowThrough(this.nodes, null, null, null, true);
    const rounded = new FollowThrough(this.nodes, this.places);
    this.truths = parts.map((part) => right.computed(part.node));
    this.rounded = parts.map((part) => rounded.computed(part.node));
    this.slipped = parts.map(() => new Map());
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
    const missing = this.parts.map((_, k) => outcomes[k].flat().some((x) => !x.printed));
    const before = [];
    for (const k of this.inOrder) this.name(k, outcomes[k], own, before, missing);
    return outcomes;
  }

  /** Name the slip that gives the answers of a part that are wrong in themselves. */
  name(k, rows, own, before, missing) {
    const answers = rows.flatMap((row, i) => row.map((x, j) => ({x, i, j})))
      .filter(({x}) => x.is === "right" || x.is === "wrong");
    if (!answers.some(({x}) => x.is === "wrong")) return;
    const {node} = this.parts[k];
    const first = [k, ...this.parts.keys()].filter((p, at) => at === 0 || (p !== k && missing[p]));
    const keys = new Set(before.map((slip) => slip.key));
    const known = [
      ...before.map((slip) => [slip, 0]),
      ...first.flatMap((p) => this.parts[p].slips).map(([number, cost]) =>
        [this.slips[number], keys.has(this.slips[number].key) ? 0 : cost]),
    ].filter(([slip]) => this.reached(slip).has(node));
    const weighed = new Weighed(this.parts[k], answers, this.truths[k], this.weighing);
    const exactly = (slip) => {
      if (!this.slipped[k].has(slip))
        this.slipped[k].set(slip, this.truth.slipped(slip).computed(node));
      return this.slipped[k].get(slip);
    };
    let found = this.best(weighed, known, exactly, this.truths[k]);
    if (!found?.isSure) {
      const values = (slip) => own.slipped(slip).computed(node);
      const other = this.best(weighed, known, values, own.computed(node));
      const isBetter = other && found
        && (other.isSure || (other.bits > found.bits && other.isSure === found.isSure));
      if (!found || isBetter) found = other;
    }
    if (!found) return;
    const {slip, given} = found;
    const is = slip.early ? "early" : keys.has(slip.key) ? "follows" : "slip";
    const told = {slip: {slip: slip.says}, follows: {told: "again"}};
    for (const x of given) Object.assign(x, {is}, told[is]);
    before.push(slip);
  }

  /** The best of some slips, if it is good enough and nothing else is nearly as good. */
  best(weighed, known, values, base) {
    const all = known.map(([slip, cost]) => weighed.of(slip, cost, values(slip), base));
    const [first] = all.filter(({passes}) => passes)
      .sort((a, b) => b.isSure - a.isSure || b.bits - a.bits);
    if (!first) return null;
    const isRival = (other) => other !== first && other.bits > first.bits - this.weighing.ahead
      && other.explains.some((flag, k) => flag && first.explains[k])
      && !isSame(other.explains, first.explains);
    return !first.isSure && all.some(isRival) ? null : first;
  }

  /** The nodes that a slip changes: those that it is made in, and what is computed from them. */
  reached(slip) {
    if (!slip.reached) {
      slip.reached = new Set(slip.instead.keys());
      this.nodes.forEach(({operands}, k) => {
        if (operands.some((x) => slip.reached.has(x))) slip.reached.add(k);
      });
    }
    return slip.reached;
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

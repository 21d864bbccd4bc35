// Enclosures of real numbers, and the operations of steps on matrices of them.
//
// A ball is [middle, radius], both whole numbers of units of 10^-100: decimals are exact, and
// what is not is known to far more places than any answer has. null is a number without bound,
// MASKED a masked score. The operations are those of symattn.programs.enclosures, and
// widen as those do: the marks of a page are those of symattn mark.
"use strict";

const MASKED = "-inf";

/** A radius, rounded up as those of symattn mark are, so that ties fall on the same side. */
const raised = (radius) => radius + (radius >> 28n);
/** With such numbers a step is not defined: a masked score is scaled by what is not positive. */
class Undefined extends Error {}

const abs = (x) => (x < 0n ? -x : x);
const floor = (a, b) => (a % b !== 0n && a < 0n !== b < 0n ? a / b - 1n : a / b);
const ceil = (a, b) => -floor(-a, b);
const least = (...all) => all.reduce((a, b) => (b < a ? b : a));
const most = (...all) => all.reduce((a, b) => (b > a ? b : a));
const low = ([m, r]) => m - r;
const high = ([m, r]) => m + r;
const has = ([m, r], number) => abs(m - number) <= r;
const isZero = (x) => x !== null && x[0] === 0n && x[1] === 0n;
const between = (from, to) => {
  const middle = (from + to) >> 1n;
  return [middle, most(to - middle, middle - from)];
};

/** What has no bound where one of its numbers has none. */
const bounded = (f) => (...balls) => (balls.includes(null) ? null : f(...balls));
const add = bounded(([a, r], [b, s]) => [a + b, r + s]);
const negate = bounded(([a, r]) => [-a, r]);
const subtract = (a, b) => add(a, negate(b));

/** A sum whose n-th term is the one before times a ratio [above, below]. */
function series(first, ratio) {
  let total = 0n;
  for (let term = first, n = 1n; term !== 0n; n += 1n) {
    total += term;
    const [above, below] = ratio(n);
    term = (term * above) / below;
  }
  return total;
}

/** The circle's number in such units. */
const circle = (unit) =>
  6n * series(unit / 2n, (n) => [(2n * n - 1n) ** 2n, 8n * n * (2n * n + 1n)]);

/** The whole part of a square root. */
function root(n) {
  if (n === 0n) return n;
  let x = 1n << BigInt((n.toString(2).length >> 1) + 1);
  for (;;) {
    const y = (x + n / x) >> 1n;
    if (y >= x) return x;
    x = y;
  }
}

/** What depends on the unit: 10 to minus so many digits. */
function arithmetic(digits) {
  const ONE = 10n ** digits;
  /** Functions are worked in so many more digits. */
  const MORE = 10n ** 20n, FINE = ONE * MORE;
  /** Beyond this the exponential has no bound. */
  const FAR = 100n * digits * ONE;
  /** An angle is turned back by the circle in so many more digits, if it is no longer itself. */
  const TURNS = 10n ** 1100n, TURN = 2n * circle(FINE * TURNS);

  const whole = (n) => [BigInt(n) * ONE, 0n];
  const multiply = bounded(([a, r], [b, s]) => {
    const product = a * b;
    const rounding = product % ONE === 0n ? 0n : 1n;
    return [product / ONE, ceil(abs(a) * s + abs(b) * r + r * s, ONE) + rounding];
  });
  const divide = bounded((x, y) => {
    if (has(y, 0n)) return null;
    const [a, b] = [x[0] * ONE, y[0]];
    if (x[1] === 0n && y[1] === 0n && a % b === 0n) return [a / b, 0n];
    const ends = [low(x), high(x)].flatMap((p) => [[p * ONE, low(y)], [p * ONE, high(y)]]);
    return between(least(...ends.map((e) => floor(...e))), most(...ends.map((e) => ceil(...e))));
  });
  const HALVINGS = 12n;
  const E = series(FINE, (n) => [1n, n]);
  const PI = circle(FINE);
  const times = (a, b) => (a * b) / FINE;

  function power(base, n) {
    let result = FINE;
    for (let k = abs(n); k > 0n; k >>= 1n, base = times(base, base))
      if (k & 1n) result = times(result, base);
    return n < 0n ? (FINE * FINE) / result : result;
  }

  function exp(x) {
    const count = floor(x, FINE);
    const rest = (x - count * FINE) >> HALVINGS;
    return times(power(series(FINE, (n) => [rest, FINE * n]), 1n << HALVINGS), power(E, count));
  }

  function log(x) {
    const text = x.toString();
    const before = text.length - Number(digits) - 20;
    const about = Math.log(Number(`0.${text.slice(0, 17)}`)) + before * Math.LN10;
    let y = BigInt(Math.round(about * 1e9)) * (FINE / 10n ** 9n);
    // Each time three times as many digits are right.
    for (let right = 9n; right < 4n * digits; right *= 3n) {
      const now = exp(y);
      y += (2n * (x - now) * FINE) / (x + now);
    }
    return y;
  }

  /** An angle less whole turns; null for one of which the turns are not known. */
  function turned(x) {
    if (abs(x) > FINE * TURNS) return null;
    const turns = floor(2n * x * TURNS + TURN, 2n * TURN);
    return (x * TURNS - TURN * turns) / TURNS;
  }

  const FUNCTIONS = {
    sqrt: (x) => (x < 0n ? null : root(x * FINE)),
    exp: (x) => (x > FAR * MORE ? null : x < -FAR * MORE ? 0n : exp(x)),
    log: (x) => (x <= 0n ? null : log(x)),
    tanh: (x) => {
      if (2n * abs(x) > 3n * digits * FINE) return x < 0n ? -FINE : FINE;
      const twice = exp(2n * x);
      return ((twice - FINE) * FINE) / (twice + FINE);
    },
    erf: (x) => {
      if (times(x, x) > 9n * digits * FINE / 4n) return x < 0n ? -FINE : FINE;
      const square = times(x, x);
      const rest = series(x, (n) => [2n * square, FINE * (2n * n + 1n)]);
      return times((2n * rest * FINE) / root(PI * FINE), exp(-square));
    },
    sin: (x) => {
      const y = turned(x), square = y && times(y, y);
      return y && series(y, (n) => [-square, FINE * 2n * n * (2n * n + 1n)]);
    },
    cos: (x) => {
      const y = turned(x), square = y && times(y, y);
      return y === null ? null : series(FINE, (n) => [-square, FINE * 2n * n * (2n * n - 1n)]);
    },
  };

  /** A function of a ball. */
  const called = (name) => bounded(([middle, radius]) => {
    const at = (x) => {
      const y = FUNCTIONS[name](x * MORE);
      if (y === null) return null;
      const nearest = floor(y + MORE / 2n, MORE);
      // Roots of squares and values at 0 are exact.
      const exact = name === "sqrt" ? nearest * nearest === x * ONE : x === 0n;
      return [nearest, exact ? 0n : abs(nearest) / 10n ** (digits - 5n) + 2n];
    };
    if (name === "sin" || name === "cos") return add(at(middle), [0n, least(radius, 2n * ONE)]);
    if (radius === 0n) return at(middle);
    const ends = [at(middle - radius), at(middle + radius)];
    return ends.includes(null) ? null : between(low(ends[0]), high(ends[1]));
  });
  const CALLED = Object.fromEntries(Object.keys(FUNCTIONS).map((name) => [name, called(name)]));

  /** A number times a power of ten as a ball. */
  function shifted(number, power) {
    if (power >= 0) return [number * 10n ** BigInt(power) * ONE, 0n];
    const below = 10n ** BigInt(-power);
    return [(number * ONE) / below, (number * ONE) % below === 0n ? 0n : 1n];
  }

  return {ONE, FAR, whole, multiply, divide, pi: [PI / MORE, 1n], CALLED, shifted};
}

const {ONE, FAR, whole, multiply, divide, CALLED, shifted} = arithmetic(100n);
const larger = bounded((a, b) => between(most(low(a), low(b)), most(high(a), high(b))));
const sum = (balls) => balls.reduce(add, whole(0));

// -- matrices: rows of balls -----------------------------------------------------------------

const opened = (x) => (x === MASKED ? null : x);
const each = (x, f) => x.map((row) => row.map(f));
const open = (x) => each(x, opened);
const transposed = (x) => x[0].map((_, j) => x.map((row) => row[j]));
const grid = (rows, columns, f) =>
  Array.from({length: rows}, (_, i) => Array.from({length: columns}, (_, j) => f(i, j)));
const dot = (x, y) => sum(x.map((entry, k) => multiply(entry, y[k])));
const isPositive = (x) => x !== null && low(x) > 0n;
const middle = (x) => (x === null ? 0n : x[0]);
/** Where the largest number is; what has no bound is larger than none. */
const heaviest = (row) => row.reduce((best, x, k) =>
  (x !== null && row[best] !== null && x[0] > row[best][0] ? k : best), 0);

function spread(x, rows, columns) {
  const down = x.length > 1 ? 1 : 0, across = x[0].length > 1 ? 1 : 0;
  return grid(rows, columns, (i, j) => x[i * down][j * across]);
}

/** An operation between two operands, entry by entry. */
const entrywise = (f) => ({rows, columns}, x, y) => {
  const [a, b] = [spread(x, rows, columns), spread(y, rows, columns)];
  return grid(rows, columns, (i, j) => f(a[i][j], b[i][j]));
};

/** A masked score stays one by what is positive. */
function scaled(factor) {
  if (factor === MASKED || (factor !== null && high(factor) <= 0n)) throw new Undefined();
  return isPositive(factor) ? MASKED : null;
}

const product = (a, b) => a === MASKED ? scaled(b) : b === MASKED ? scaled(a) : multiply(a, b);
const isNumber = (x) => x.length === 1 && x[0].length === 1;
const filled = (x) => (x === MASKED ? whole(0) : x);

/** Rows less their mean, seen from the heaviest entry. */
const centred = (x, weights) => x.map((row, i) => {
  const first = heaviest(weights[i]);
  const apart = row.map((entry, k) => (k === first ? whole(0) : subtract(entry, row[first])));
  const mean = dot(weights[i], apart);
  return apart.map((entry) => subtract(entry, mean));
});

/** The sum of x_k y_k for x that sum to 0, y seen from where x is heaviest. */
function fromHeaviest(x, y) {
  const first = heaviest(x.map(bounded(([m]) => [abs(m), 0n])));
  const terms = x.map((entry, k) => multiply(entry, subtract(y[k], y[first])));
  return sum(terms.filter((_, k) => k !== first));
}

function softmax(x) {
  return x.map((row) => {
    // A shift by a whole number changes nothing, and keeps digits.
    const shift = [floor(most(0n - FAR, ...row.map(opened).map(middle)), ONE) * ONE, 0n];
    const powers = row.map((s) => (s === MASKED ? whole(0) : CALLED.exp(subtract(s, shift))));
    const normaliser = sum(powers);
    return powers.map((entry) => divide(entry, normaliser));
  });
}

const ROWS = {
  rowsum: (x) => open(x).map((row) => [sum(row)]),
  rowmax: (x) => x.map((row) => {
    const kept = row.filter((entry) => entry !== MASKED);
    return [kept.length ? kept.reduce(larger) : MASKED];
  }),
};

const OPERATIONS = {
  table: ({extra}) => extra,
  triangle: ({rows, columns}) => grid(rows, columns, (i, j) => whole(j <= i ? 1 : 0)),
  copy: (node, x) => x,
  reshape: (node, x) => x,
  transpose: (node, x) => transposed(x),
  spread: ({rows, columns}, x) => spread(x, rows, columns),
  negate: (node, x) => each(open(x), negate),
  add: entrywise((a, b) => (a === MASKED || b === MASKED ? MASKED : add(a, b))),
  subtract: (node, x, y, weights) =>
    weights && !x.flat().includes(MASKED)
      ? centred(x, open(weights))
      : entrywise((a, b) => (b === MASKED ? null : a === MASKED ? a : subtract(a, b)))(node, x, y),
  multiply: (node, x, y) =>
    node.extra === "flow"
      ? entrywise(multiply)(node, each(x, filled), each(y, filled))
      : entrywise(product)(node, x, isNumber(y) ? open(y) : y),
  divide: entrywise((a, b) =>
    b === MASKED ? null : a === MASKED ? scaled(b) : divide(a, b)),
  maximum: entrywise((a, b) => (a === MASKED ? b : b === MASKED ? a : larger(a, b))),
  above: entrywise((a, b) => {
    if (a === MASKED || b === MASKED) return whole(a === MASKED ? 0 : 1);
    const apart = subtract(a, b);
    if (apart === null) return [ONE / 2n, ONE / 2n];
    return low(apart) > 0n ? whole(1) : high(apart) < 10n ** 10n ? whole(0) : [ONE / 2n, ONE / 2n];
  }),
  matmul: ({extra}, x, y) => {
    const [left, right] = [open(x), transposed(open(y))];
    return left.map((row) => right.map((column) => {
      const entry = dot(row, column);
      const isDoubtful = (entry === null || has(entry, 0n)) && !isZero(entry);
      return extra === "cancels" && isDoubtful ? fromHeaviest(row, column) : entry;
    }));
  },
  softmax: (node, x) => softmax(x),
  exp: (node, x) => each(x, (s) => (s === MASKED ? whole(0) : CALLED.exp(s))),
  hide: entrywise((score, keep) => {
    const kept = opened(keep);
    return isZero(kept) ? MASKED : isZero(subtract(kept, whole(1))) ? score : null;
  }),
  concat: (node, ...parts) => parts[0].map((_, i) => parts.flatMap((part) => part[i])),
  rowsum: (node, x) => ROWS.rowsum(x),
  colsum: (node, x) => transposed(ROWS.rowsum(transposed(x))),
  rowmax: (node, x) => ROWS.rowmax(x),
  total: (node, x) => [[sum(open(x).flat())]],
  pick: ({extra: [rows, columns]}, x) => rows.map((i) => columns.map((j) => x[i][j])),
  scatter: ({rows, columns, extra}, x) =>
    grid(rows, columns, (i, j) => {
      const [p, q] = [extra[0].indexOf(i), extra[1].indexOf(j)];
      return p < 0 || q < 0 ? whole(0) : opened(x[p][q]);
    }),
};
for (const name of ["sqrt", "log", "tanh", "sin", "cos", "erf"])
  OPERATIONS[name] = (node, x) => each(open(x), CALLED[name]);

/** Operations that only move or copy entries: nothing is rounded in them. */
const MOVING = new Set([
  "table", "triangle", "copy", "reshape", "transpose", "hide", "concat", "pick", "scatter",
  "spread", "maximum", "above", "rowmax",
]);

/** What a step makes of its operands; with places as it may have been rounded to so many. */
function applied(node, operands, places, isTrue = false) {
  if (isTrue) return OPERATIONS[node.op](node, ...operands);
  // No row that a student wrote down is known to sum to 1, nor one to 0.
  if (node.op === "subtract") operands = operands.slice(0, 2);
  if (node.extra === "cancels") node = {...node, extra: undefined};
  if (places === null) return OPERATIONS[node.op](node, ...operands);
  if (node.op === "softmax") {
    const {rows, columns} = node;
    const powers = applied({op: "exp", rows, columns}, operands, places);
    const sums = applied({op: "rowsum", rows, columns: 1}, [powers], places);
    return applied({op: "divide", rows, columns}, [powers, sums], places);
  }
  const made = OPERATIONS[node.op](node, ...operands);
  return MOVING.has(node.op) ? made : each(made, (entry) => widened(entry, places));
}

function widened(entry, places) {
  if (entry === MASKED || entry === null) return entry;
  const unit = ONE / 10n ** BigInt(places);
  const [m, r] = entry;
  const whole = floor(m + unit / 2n, unit) * unit;
  // What is nearly 0 and is not is written down as 0.
  const isWhole = abs(m - whole) + r < unit >> 60n && (whole !== 0n || isZero(entry));
  return isWhole ? entry : [m, r + unit / 2n];
}

/** A program run with numbers in the places of some of its nodes, as symattn.exercises.marking
 * does: put() what was written, computed() what comes of it; slipped() has other nodes in the
 * places of some. */
class FollowThrough {
  constructor(nodes, places = null, base = null, slip = null, isTrue = false) {
    Object.assign(this, {nodes, places, base, slip, isTrue});
    this.known = new Map();
    this.own = base ? base.own : new Map();
  }
  /** What a node makes of what stands in the places of those before it. */
  computed(k) {
    const node = this.nodes[k];
    try {
      return this.slip?.instead.has(k)
        ? this.at(k) : this.applied(node);
    } catch (error) {
      if (!(error instanceof Undefined)) throw error;
      return grid(node.rows, node.columns, () => null);
    }
  }
  at(k) {
    const instead = this.slip?.instead.get(k);
    if (instead !== undefined) return this.base.at(instead);
    if (this.slip && !this.slip.reached.has(k)) return this.base.at(k);
    if (this.own.has(k)) return this.own.get(k);
    if (!this.known.has(k)) {
      this.known.set(k, this.applied(this.nodes[k]));
    }
    return this.known.get(k);
  }
  applied(node) {
    return applied(node, node.operands.map((x) => this.at(x)), this.places, this.isTrue);
  }
  /** Let numbers stand for entries; the others are what the node makes. */
  put(k, written) {
    const put = (row, i) =>
      row.map((entry, j) => (written[i][j] === undefined ? entry : written[i][j]));
    this.own.set(k, this.computed(k).map(put));
  }
  /** The same with a slip, computed again where that changes anything. */
  slipped(slip) {
    return new FollowThrough(this.nodes, this.places, this, slip);
  }
}

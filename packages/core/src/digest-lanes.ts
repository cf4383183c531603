/**
 * A hash of words in four lanes of 32 bits. A lane multiplies and folds as cyrb53 does (bryc, public domain:
 * github.com/bryc/code, jshash), here with the lane constants and the last mixing of MurmurHash3 x86_128 (Austin Appleby,
 * public domain: github.com/aappleby/smhasher).
 */
export interface Lanes {
  a: number;
  b: number;
  c: number;
  d: number;
}

const A = 0x239b961b;
const B = 0xab0e9789 | 0;
const C = 0x38b34ae5;
const D = 0xa1e38b93 | 0;

/** The lanes before the first word. */
export const lanesOf = (low: number, high: number): Lanes => ({ a: low ^ A, b: high ^ B, c: low ^ C, d: high ^ D });

export const word = (lanes: Lanes, value: number): void => {
  const a = Math.imul(lanes.a ^ value, A);
  const b = Math.imul(lanes.b ^ value, B);
  const c = Math.imul(lanes.c ^ value, C);
  const d = Math.imul(lanes.d ^ value, D);
  // Folding brings high bits down. Without it, a change of the highest bit alone would never reach another bit.
  lanes.a = a ^ (a >>> 15);
  lanes.b = b ^ (b >>> 16);
  lanes.c = c ^ (c >>> 17);
  lanes.d = d ^ (d >>> 14);
};

/** A part's kind and size, before what is in it. */
export const sized = (lanes: Lanes, kind: number, size: number): void => word(lanes, (size << 4) | kind);

/** The same as `word` for each pair of characters, with the lanes in registers: a megabyte takes a few milliseconds. */
export const text = (lanes: Lanes, kind: number, value: string): void => {
  const { length } = value;
  sized(lanes, kind, length);
  let { a, b, c, d } = lanes;
  for (let index = 0; index < length; index += 2) {
    const pair = value.charCodeAt(index) | (index + 1 < length ? value.charCodeAt(index + 1) << 16 : 0);
    a = Math.imul(a ^ pair, A);
    b = Math.imul(b ^ pair, B);
    c = Math.imul(c ^ pair, C);
    d = Math.imul(d ^ pair, D);
    a ^= a >>> 15;
    b ^= b >>> 16;
    c ^= c >>> 17;
    d ^= d >>> 14;
  }
  lanes.a = a;
  lanes.b = b;
  lanes.c = c;
  lanes.d = d;
};

/** MurmurHash3's `fmix32`: after it, each bit of a lane depends on all bits. */
const mix = (lane: number): number => {
  const once = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
};

/**
 * The digest, with 16 bits in each character. Writing it in digits would cost as much as the rest of the work for a small value.
 */
export const finish = ({ a, b, c, d }: Lanes): string => {
  const sum = mix(a + b + c + d);
  const [one, two, three, four] = [mix(a + sum), mix(b + sum), mix(c + sum), mix(d + sum)];
  return String.fromCharCode(one, one >>> 16, two, two >>> 16, three, three >>> 16, four, four >>> 16);
};

/** Random numbers from a seed, so that a run can be repeated: 0 to below `below`. */
export type Random = (below: number) => number;

/** xorshift32. @param seed any whole number but 0. */
export const randomFrom = (seed: number): Random => {
  let state = seed | 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
};

/** Longest input in characters. Costs of larger inputs are for the cost tests. */
const LONGEST = 20_000;

/** Parts of inputs that code treats in a special way. */
const WORDS = [
  ...[
    '"',
    '\\',
    '\n',
    '\r',
    '\u0000',
    '\u2028',
    '\ud800',
    '\u3164',
    '\u202e',
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '- ',
    '# ',
    '&a ',
    '*a',
  ],
  ...[
    '<<: ',
    '__proto__',
    'constructor',
    'toJSON',
    'null',
    'true',
    '-0',
    '1e400',
    '9007199254740993',
    'NaN',
    '""',
    '[]',
    '{}',
  ],
  ...[
    '429',
    '503',
    'HTTP 404',
    'ECONNRESET',
    'ETIMEDOUT',
    'timed out',
    'rate limit',
    'Retry-After: 99999999999',
    'not found',
  ],
  ...['tools', 'fallback', 'dependsOn', 'version', 'circuits', 'budget', 'le', '+Inf', '# TYPE '],
];

const pick = <T>(all: readonly T[], random: Random): T => all[random(all.length)] as T;

const mutateOnce = (text: string, others: readonly string[], random: Random): string => {
  const at = random(text.length + 1);
  const end = Math.min(text.length, at + 1 + random(random(8) === 0 ? text.length + 1 : 8));
  const [before, part, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)];
  switch (random(7)) {
    case 0:
      return before + after;
    case 1:
      return before + pick(WORDS, random) + part + after;
    case 2:
      return before + part.repeat(2 + random(30)) + after;
    case 3:
      return before + String.fromCharCode(random(4) === 0 ? random(0x1_0000) : random(128)) + part.slice(1) + after;
    case 4:
      return before + pick(others, random).slice(random(40));
    case 5: {
      const numbers = [...text.matchAll(/-?\d+(?:\.\d+)?/g)];
      if (numbers.length === 0) return text + pick(WORDS, random);
      const { index, 0: old } = pick(numbers, random);
      const value = pick(['0', '-1', '1e15', '0.5', '1e400', String(random(1000))], random);
      return text.slice(0, index) + value + text.slice(index + old.length);
    }
    default:
      return before + after + part;
  }
};

/** Another input, one to eight changes away from `text`. `others` are inputs to take parts from. */
export const mutate = (text: string, others: readonly string[], random: Random): string => {
  let changed = text;
  for (let left = 1 + random(8); left > 0; left -= 1) changed = mutateOnce(changed, others, random).slice(0, LONGEST);
  return changed;
};

import { isBlank, isShort, meant, shortened } from './names.ts';

/** One fault in a configuration or a snapshot. */
export interface ConfigIssue {
  /** The path of the fault, such as `tools.web_search.failureThreshold`. */
  readonly path: string;
  /** What is wrong, why that matters, and what to write instead. */
  readonly message: string;
}

/**
 * The configuration can't work, or the snapshot can't be restored. Lists all faults of a
 * configuration, up to 100, and the first ten of a snapshot. Thrown when a box is created, a
 * tool is declared, or a session begins or is restored, never later.
 *
 * @example
 * ```ts
 * try {
 *   createBreakerbox({ agent: 'a', tools: { search: { failureThreshold: 0 } } });
 * } catch (error) {
 *   if (error instanceof BreakerboxConfigError) for (const { path, message } of error.issues) report(path, message);
 * }
 * ```
 */
export class BreakerboxConfigError extends Error {
  override readonly name = 'BreakerboxConfigError';
  readonly code = 'BREAKERBOX_CONFIG';
  /** The first 100; of a snapshot, the first ten. */
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[], what = 'configuration', most = MOST_ISSUES) {
    const shown = issues.slice(0, most).map(({ path, message }) => ({ path: brief(path), message }));
    const lines = shown.map(({ path, message }) => `  ${path}: ${message}`);
    const more = issues.length - shown.length;
    const atLeast = issues.length > MOST_ISSUES ? 'at least ' : '';
    if (more > 0) lines.push(`  … and ${atLeast}${more} more. Fix the ones above first.`);
    super(`Breakerbox can't use this ${what}:\n${lines.join('\n')}`);
    this.issues = shown;
  }
}

/** Issues in one error. A malicious file may have millions, and their text would fill the memory. */
const MOST_ISSUES = 100;

/** Keys of a file are part of paths and may be very long. The beginning and the end of a path matter most. */
const brief = (path: string): string =>
  path.length > 200 ? `${shortened(path, 130)}${path.slice(-60).replace(/^[\uDC00-\uDFFF]/, '')}` : path;

/**
 * A public function was called with an argument that it can't accept. The message says what is wrong, where, why, and how to fix
 * it.
 */
export class BreakerboxUsageError extends Error {
  override readonly name = 'BreakerboxUsageError';
  readonly code = 'BREAKERBOX_USAGE';
}

/** Checks a value from outside and returns everything that is wrong with it. */
export type Check = (path: string, value: unknown) => readonly ConfigIssue[];

/**
 * Throws one error with everything that is wrong, if anything is (E6). `what` names the rejected value; default `configuration`.
 * `most`: issues that the error lists.
 */
export const reject = (issues: readonly ConfigIssue[], what?: string, most?: number): void => {
  if (issues.length > 0) throw new BreakerboxConfigError(issues, what, most);
};

/** The issues of many values, up to the most that one error reports: the values may come from a malicious file. */
export const gather = <T>(
  many: Iterable<T>,
  check: (one: T, index: number) => readonly ConfigIssue[],
): readonly ConfigIssue[] => {
  const issues: ConfigIssue[] = [];
  let index = 0;
  for (const one of many) {
    issues.push(...check(one, index));
    if (issues.length > MOST_ISSUES) break;
    index += 1;
  }
  return issues;
};

/** Suggests leaving a setting out, and says why its value can't work. */
export const orLeaveOut = (why: string): string => `, or leave it out. ${why}`;

/** A whole number that may be left out. */
export const whole = (least: number, why: string, most?: number): Check =>
  number(least, orLeaveOut(why), { whole: true, ...(most !== undefined && { most }) });

/** A number above 0 that may be left out, such as a time. */
export const above = (why: string): Check => number(0, orLeaveOut(why), { above: true });

/** A value in a message: short, and never the inside of an object. */
export const show = (value: unknown): string => {
  try {
    return describe(value);
  } catch {
    return 'a value that throws when it is read';
  }
};

const describe = (value: unknown): string => {
  if (typeof value === 'string') return value.length > 60 ? `a string of ${value.length} characters` : `'${value}'`;
  // Writing the digits of a very large one takes seconds.
  if (typeof value === 'bigint') return 'a BigInt';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' || typeof value === 'symbol' ? `a ${typeof value}` : String(value);
};

/** The largest value of a setting. Sums that start from it stay exact and fit into a snapshot. */
export const LARGEST = 2 ** 40;

/** `hint` ends the sentence that says what to write: see {@link orLeaveOut}. */
export const number =
  (least: number, hint: string, { whole = false, above = false, most = LARGEST } = {}): Check =>
  (path, value) => {
    const fits = typeof value === 'number' && (above ? value > least : value >= least) && value <= most;
    if (fits && (whole ? Number.isInteger(value) : Number.isFinite(value))) return [];
    const bound = typeof value === 'number' && value > most ? ` and at most ${most}` : '';
    const wanted = `a ${whole ? 'whole' : 'finite'} number ${above ? 'above' : 'of at least'} ${least}${bound}`;
    return [{ path, message: `is ${show(value)}. Set ${wanted}${hint}` }];
  };

export const oneOf =
  (values: readonly unknown[], hint: string): Check =>
  (path, value) =>
    values.includes(value)
      ? []
      : [
          {
            path,
            message: `is ${show(value)}. Set ${values.length === 1 ? '' : 'one of '}${values.join(', ')}${hint}`,
          },
        ];

/** A non-empty string. `why` ends the message: what the string is for. */
export const text =
  (why: string, what = 'string'): Check =>
  (path, value) =>
    typeof value === 'string' && !isBlank(value)
      ? []
      : [{ path, message: `is ${show(value)}. Set a ${what} that isn't empty: ${why}` }];

/** A name that people read. */
export const name = text('it is how people find this in telemetry.', 'name');

/** A name that is exported as it is, so it must be short. `why` says where it appears. */
const exported =
  (why: string): Check =>
  (path, value) =>
    typeof value === 'string' && !isShort(value)
      ? [
          {
            path,
            message: `is ${show(value)}. Set a name of at most 256 characters, in valid Unicode (no lone surrogates). ${why}`,
          },
        ]
      : name(path, value);

export const shortName = exported('It is on every span and event.');

/** The name of a tool. Calls use shortened names, so a longer name would never be found. */
export const toolName = exported('It is in metrics, spans and reports.');

/** Ends the message about a value that is not as it was in a snapshot. */
export const AS_WRITTEN = ', as snapshot(session) wrote it.';

/** A count in a snapshot. It is far less than where adding 1 changes nothing. */
export const writtenCount = number(0, AS_WRITTEN, { whole: true, most: 2 ** 50 });

/** A name in a snapshot that a model may have made up. It may be empty. */
export const anyName: Check = (path, value) =>
  typeof value === 'string' && isShort(value)
    ? []
    : [{ path, message: `is ${show(value)}. Set a string of at most 256 characters${AS_WRITTEN}` }];

/** `what`: says what the function takes and returns. */
export const aFunction =
  (what: string): Check =>
  (path, value) =>
    typeof value === 'function'
      ? []
      : [{ path, message: `is ${show(value)}. Give a function ${what}, or leave it out.` }];

export const functions =
  (names: readonly string[], why: string): Check =>
  (path, value) =>
    names.every((one) => typeof (value as Record<string, unknown> | null)?.[one] === 'function')
      ? []
      : [
          {
            path,
            message: `is ${show(value)} without the functions ${names.join(' and ')}. Give an object that has ${names.length > 1 ? 'both' : 'it'}: ${why}`,
          },
        ];

/** The message for a key that no check knows. */
type Unknown = string | ((key: string) => string);

/**
 * An object of known keys. Without this check, a misspelt key would be a setting that silently does nothing. `like` is an example
 * to show if the value is not an object.
 */
export const object =
  (checks: Readonly<Record<string, Check>>, like?: string, unknown: Unknown = 'is not a setting'): Check =>
  (path, value) => {
    if (!isRecord(value))
      return [{ path: path || 'config', message: `is ${show(value)}. Give an object${such(like)}.` }];
    return gather(Object.entries(value), ([key, one]) => {
      const at = path ? `${path}.${key}` : key;
      const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
      if (check !== undefined) return one === undefined ? [] : check(at, one);
      const known = Object.keys(checks);
      const near = meant(key, known);
      const why = typeof unknown === 'string' ? unknown : unknown(key);
      return [
        { path: at, message: `${why}. ${near ? `Did you mean '${near}'? ` : ''}Allowed here: ${known.join(', ')}.` },
      ];
    });
  };

const such = (like: string | undefined): string => (like === undefined ? '' : ` such as ${like}`);

/** The same check, but no key may be left out. */
export const complete =
  (checks: Readonly<Record<string, Check>>): Check =>
  (path, value) => {
    const issues = object(checks, undefined, 'is not allowed here')(path, value);
    if (!isRecord(value)) return issues;
    const missing = Object.keys(checks).filter((key) => !Object.hasOwn(value, key) || value[key] === undefined);
    return [...issues, ...missing.flatMap((key) => checks[key]?.(`${path}.${key}`, undefined) ?? [])];
  };

export const list =
  (check: Check, like?: string): Check =>
  (path, value) =>
    Array.isArray(value)
      ? gather(value, (one, index) => check(`${path}[${index}]`, one)) // Unlike flatMap, sees holes.
      : [{ path, message: `is ${show(value)}. Give a list${such(like)}.` }];

/** Marks a key that may be left out of a `complete` object. */
export const optional =
  (check: Check): Check =>
  (path, value) =>
    value === undefined ? [] : check(path, value);

export const nullable =
  (check: Check): Check =>
  (path, value) =>
    value === null ? [] : check(path, value);

/** Whether the value is an object but not a list, as settings must be. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads JSON. The issue has line and column if they are known. `least`: the shortest text that would do. */
export const readJson = (
  text: string,
  least: string,
): { readonly value: unknown; readonly issue?: ConfigIssue | undefined } => {
  const json = text.replace(/^\uFEFF/, ''); // Some editors begin a file with this mark, which is not JSON.
  try {
    return { value: JSON.parse(json) };
  } catch (error) {
    return { value: undefined, issue: notJson(json, (error as SyntaxError).message, least) }; // JSON.parse throws nothing else.
  }
};

const notJson = (json: string, why: string, least: string): ConfigIssue => {
  const position = /at position (\d+)/.exec(why)?.[1];
  const reason = why.replace(/ \(line \d+ column \d+\)/, '').replace(/ at position \d+/, '');
  // The engine's message may quote the text over several lines.
  const message = `is not valid JSON (${reason.replace(/\s+/g, ' ')}). Correct the text.`;
  if (json.trim() === '') return { path: 'text', message: `is empty. Give at least ${least}.` };
  return { path: position === undefined ? 'text' : placeOf(json, Number(position)), message };
};

const placeOf = (json: string, position: number): string => {
  const before = json.slice(0, position);
  const column = position - Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r'));
  return `line ${before.split(/\r\n|\n|\r/).length}, column ${column}`;
};

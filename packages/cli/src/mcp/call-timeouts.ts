/** How long calls may take without an answer or progress, in milliseconds. */
export interface CallTimeouts {
  /** Calls of tools that are not named. */
  readonly all?: number;
  readonly byTool: ReadonlyMap<string, number>;
}

export const timeoutOf = (timeouts: CallTimeouts | undefined, tool = ''): number | undefined =>
  timeouts?.byTool.get(tool) ?? timeouts?.all;

/** The help of `--call-timeout`. */
export const TIMEOUT_FLAG =
  'if a call has no answer and no progress for this time, such as 90s or 5m, answer it and count a timeout; TOOL=TIME for one tool; repeatable; default: no limit';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Longest time that a timer of Node takes. */
const MOST_MS = 2_147_483_647;

/**
 * Reads the values of `--call-timeout`.
 *
 * @throws Error if one is not a time, or two are for the same calls
 */
export const callTimeouts = (values: readonly string[]): CallTimeouts | undefined => {
  const byTool = new Map<string, number>();
  for (const value of values) {
    const at = value.lastIndexOf('='); // A tool's name may have one too.
    const tool = at < 0 ? ALL : value.slice(0, at);
    if (at === 0)
      throw new Error(`--call-timeout is '${value}', but no tool is named before =. Write TOOL=TIME or a time.`);
    if (byTool.has(tool))
      throw new Error(`--call-timeout is given twice for ${tool === ALL ? 'all tools' : `'${tool}'`}. Give it once.`);
    byTool.set(tool, milliseconds(value, value.slice(at + 1)));
  }
  const all = byTool.get(ALL);
  byTool.delete(ALL);
  return values.length === 0 ? undefined : { byTool, ...(all !== undefined && { all }) };
};

const ALL = '';

const milliseconds = (value: string, time: string): number => {
  const { number, unit = '' } = /^(?<number>\d+(?:\.\d+)?)(?<unit>ms|s|m|h)$/.exec(time)?.groups ?? {};
  const ms = Math.round(Number(number) * (UNITS[unit] ?? Number.NaN));
  if (ms >= 1 && ms <= MOST_MS) return ms;
  throw new Error(
    `--call-timeout is '${value}', which is not a time. Write a number and a unit (ms, s, m, h), such as 90s or query=5m; at most 24 days.`,
  );
};

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Each unit at most once, the longest first. */
const WHOLE = /^(?=.)(?:\d+w)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?$/;

/** About 292 years: more nanoseconds than Prometheus can count. */
const MOST_SECONDS = 2 ** 63 / 1e9;

/**
 * Seconds of a duration in Prometheus' notation: `90s`, `2m30s`, `1h`. Undefined for other strings, and for durations that
 * Prometheus rejects, such as `30s5m`. Milliseconds and years are not supported, because no rule needs them.
 *
 * @example secondsOf('2m30s') // 150
 */
export const secondsOf = (text: string): number | undefined => {
  if (!WHOLE.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+)([smhdw])/g)];
  const sum = parts.reduce((before, [, n, unit]) => before + Number(n) * (UNIT_SECONDS[unit ?? ''] ?? 0), 0);
  return sum < MOST_SECONDS ? sum : undefined;
};

/**
 * Seconds of a checked duration.
 *
 * @throws RangeError if it is not a duration: the caller did not call checkSettings().
 */
export const seconds = (text: string): number => {
  const found = secondsOf(text);
  if (found === undefined) {
    throw new RangeError(
      `alerts: '${text}' is not a duration such as 2m30s. Pass settings through checkSettings() first.`,
    );
  }
  return found;
};

/** Whole seconds in Prometheus' notation: `2m30s`. */
export const durationOf = (whole: number): string => {
  const parts = (['w', 'd', 'h', 'm', 's'] as const).reduce(
    ({ text, rest }, unit) => {
      const size = UNIT_SECONDS[unit] ?? 1;
      const count = Math.floor(rest / size);
      return { text: count === 0 ? text : `${text}${count}${unit}`, rest: rest - count * size };
    },
    { text: '', rest: Math.round(whole) },
  );
  return parts.text === '' ? '0s' : parts.text;
};

/** A duration in words, for texts: `5 minutes`, `2 minutes 30 seconds`, `1 hour`. */
export const inWords = (text: string): string => {
  const words: Readonly<Record<string, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day', w: 'week' };
  return [...durationOf(seconds(text)).matchAll(/(\d+)([smhdw])/g)]
    .map(([, n, unit]) => `${n} ${words[unit ?? '']}${n === '1' ? '' : 's'}`)
    .join(' ');
};

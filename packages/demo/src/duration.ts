const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};

/** One part of a duration as Prometheus writes it. `ms` comes before `m`, because otherwise `5ms` would read as 5 minutes. */
const PART = /(\d+(?:\.\d+)?)(ms|[smhdwy])/g;
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|[smhdwy]))+$/;

/**
 * Milliseconds of a duration as Prometheus and people write it: `90s`, `2m`, `1m30s`, `500ms`. Undefined for anything else.
 *
 * @example parseDuration('1m30s') // 90_000
 */
export const parseDuration = (text: string): number | undefined => {
  if (text === '0') return 0;
  if (!WHOLE.test(text)) return undefined;
  return [...text.matchAll(PART)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (UNIT_MS[unit ?? ''] ?? 0),
    0,
  );
};

/** A duration in the format of Prometheus and Alertmanager, to the millisecond: `5s`, `167ms`. */
export const prometheusDuration = (ms: number): string => {
  const whole = Math.round(ms);
  return whole % 1000 === 0 ? `${whole / 1000}s` : `${whole}ms`;
};

/** `07:05`, for the clock of the view. It shows hours only if there are some. */
export const clockTime = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
};

/** `3.4 s`, for waiting times in the view. */
export const shortSeconds = (ms: number): string => `${(Math.max(0, ms) / 1000).toFixed(1)} s`;

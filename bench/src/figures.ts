import type { Spread } from './stats.ts';

const grouped = (value: number, digits = 0): string => value.toLocaleString('en', { maximumFractionDigits: digits });

/** Three digits, in thousands where there are more: for what stands beside its spread. */
export const figure = (value: number): string => {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return grouped(Math.round(value));
  return Number(value.toPrecision(size < 1 ? 2 : 3)).toString();
};

/** As it was written down: a limit is missed by the last digit too. */
export const exact = (value: number): string => grouped(value, 4);

/** More are nobody's to rely on: another machine has others. */
const MOST_DIGITS = 2;

/** Digits of a median that are above those in which half of its values differ. */
const sureDigits = ({ median, p25, p75 }: Spread): number => {
  const spread = p75 - p25;
  if (spread <= 0) return MOST_DIGITS;
  const digits = Math.floor(Math.log10(median)) - Math.floor(Math.log10(spread)) + 1;
  return Math.max(1, Math.min(MOST_DIGITS, digits));
};

/** The median in units of `per`, with no more digits than its spread leaves standing: for what stands alone. */
export const sure = (values: Spread, per = 1): string => {
  const text = (values.median / per).toPrecision(sureDigits(values));
  return text.includes('e') ? grouped(Number(text)) : text;
};

/** What was counted or measured once. */
export const about = (value: number): string => sure({ median: value, p25: value, p75: value });

const NS_PER_MICRO = 1_000;
const BYTES_PER_KIB = 1_024;

/** Nanoseconds in µs, without the unit. */
export const micro = (ns: Spread): string => sure(ns, NS_PER_MICRO);
export const kib = (bytes: Spread): string => `${sure(bytes, BYTES_PER_KIB)} KiB`;
export const milli = (ms: Spread): string => `${sure(ms)} ms`;

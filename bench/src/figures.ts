import type { Spread } from './stats.ts';

const grouped = (value: number, digits = 0): string => value.toLocaleString('en', { maximumFractionDigits: digits });

/** Three digits, with thousands separators: for a figure beside its spread. */
export const figure = (value: number): string => {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return grouped(Math.round(value));
  return Number(value.toPrecision(size < 1 ? 2 : 3)).toString();
};

/** With all its digits, because the last digit can decide whether a limit is met. */
export const exact = (value: number): string => grouped(value, 4);

/** More digits are not reliable, because they differ between machines. */
const MOST_DIGITS = 2;

/** Digits of a median that are larger than the range in which half of its values lie. */
const sureDigits = ({ median, p25, p75 }: Spread): number => {
  const spread = p75 - p25;
  if (spread <= 0) return MOST_DIGITS;
  const digits = Math.floor(Math.log10(median)) - Math.floor(Math.log10(spread)) + 1;
  return Math.max(1, Math.min(MOST_DIGITS, digits));
};

/** The median in units of `per`, with only the digits that its spread supports: for a figure without its spread. */
export const sure = (values: Spread, per = 1): string => {
  const text = (values.median / per).toPrecision(sureDigits(values));
  return text.includes('e') ? grouped(Number(text)) : text;
};

/** A figure that was counted or measured once. */
export const about = (value: number): string => sure({ median: value, p25: value, p75: value });

const NS_PER_MICRO = 1_000;
const BYTES_PER_KIB = 1_024;

/** Nanoseconds in µs, without the unit. */
export const micro = (ns: Spread): string => sure(ns, NS_PER_MICRO);
export const kib = (bytes: Spread): string => `${sure(bytes, BYTES_PER_KIB)} KiB`;
export const milli = (ms: Spread): string => `${sure(ms)} ms`;

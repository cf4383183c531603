import { type Check, isRecord, number, object, orLeaveOut, text } from '../checks/checks.ts';

/** What a model costs, at list prices. Money for one million tokens, each ≥ 0. */
export interface ModelPrice {
  /** Of tokens that the model reads. */
  readonly input: number;
  /** Of tokens that the model writes, its thinking included. */
  readonly output: number;
  /** Of tokens that it reads from its prompt cache. Default: `input`. */
  readonly cacheRead?: number;
  /** Of tokens that it writes to its prompt cache. Default: `input`. */
  readonly cacheWrite?: number;
  /** The currency, such as `USD`. */
  readonly currency: string;
}

/** Number of tokens of one call, as its provider counts them. */
export interface ModelTokens {
  /** Read by the model, those of the cache included. */
  readonly input?: number | undefined;
  /** Of `input`: read from the prompt cache. */
  readonly cacheRead?: number | undefined;
  /** Of `input`: written to the prompt cache. */
  readonly cacheWrite?: number | undefined;
  /** Written by the model. */
  readonly output?: number | undefined;
}

/** What one call of a model has used. */
export interface ModelUsage {
  /** Tokens in and out. Undefined: its provider did not count them. */
  readonly tokens: number | undefined;
  /** At the price of the configuration. Undefined without a price or without counted tokens. */
  readonly cost: number | undefined;
  /** The currency of `cost`. */
  readonly currency: string | undefined;
}

const MILLION = 1_000_000;

const sound = (count: number | undefined): number => (count !== undefined && count > 0 && count < 1e12 ? count : 0);

/** Tokens and cost of one call (L7). Counts that are not finite or below 0 are left out. */
export const usageOf = (price: ModelPrice | undefined, counted: ModelTokens): ModelUsage => {
  const [input, output] = [sound(counted.input), sound(counted.output)];
  const isCounted = counted.input !== undefined || counted.output !== undefined;
  const tokens = isCounted ? input + output : undefined;
  if (price === undefined || !isCounted) return { tokens, cost: undefined, currency: undefined };
  const cacheRead = Math.min(sound(counted.cacheRead), input);
  const cacheWrite = Math.min(sound(counted.cacheWrite), input - cacheRead);
  const sum =
    (input - cacheRead - cacheWrite) * price.input +
    cacheRead * (price.cacheRead ?? price.input) +
    cacheWrite * (price.cacheWrite ?? price.input) +
    output * price.output;
  return { tokens, cost: sum / MILLION, currency: price.currency.toUpperCase() };
};

const EXAMPLE = "{ input: 1.25, output: 10, currency: 'USD' }";
const money = number(0, orLeaveOut('It is the price of a million tokens.'));

const entries = object(
  {
    input: money,
    output: money,
    cacheRead: money,
    cacheWrite: money,
    currency: text("it is the currency of the price, such as 'USD'."),
  } satisfies Record<keyof ModelPrice, Check>,
  EXAMPLE,
);

/** Checks the price of a model. */
export const priceCheck: Check = (path, value) => {
  const issues = entries(path, value);
  if (issues.length > 0 || !isRecord(value)) return issues;
  const missing = (['input', 'output', 'currency'] as const).filter((key) => value[key] === undefined);
  return missing.map((key) => ({ path: `${path}.${key}`, message: `is missing. Give all three, such as ${EXAMPLE}.` }));
};

import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import { hashOfText } from '../loop-guard/digest.ts';
import { failsKey, type Judged } from '../outcome.ts';
import type { Pass } from '../passes.ts';
import { guarded, read, reportThrown, TEXT_LIMIT } from '../safely.ts';
import type { CircuitSpec, ToolSettings } from '../tool.ts';
import { admit, adopted, type Circuit, closedCircuit, fail, giveBack, ignore, succeed } from './circuit.ts';
import type { CircuitPolicy } from './policy.ts';
import { TURNED_AWAY, UNREACHABLE } from './trip-policies/keys.ts';

/** The circuits of one tool's keys (C14): of keys that were blamed for a failure and have not been dropped since. */
export interface KeyCircuits {
  /** By the hash of the key, the least recently moved first. */
  readonly circuits: Map<string, Circuit>;
  /** The generation of a new circuit. It is higher than that of any dropped circuit, so a late result changes nothing (C7). */
  readonly generation: number;
}

/** A circuit whose calls may have keys. */
export interface Keyed {
  readonly tool: CircuitSpec;
  /** Undefined if no key was blamed. */
  keys: KeyCircuits | undefined;
}

/** C14: number of keys of a tool that have a circuit. */
export const MOST_KEYS = 100;

/** Never changes: the hashes in a snapshot are compared in other processes. */
const SEED = 14;

/**
 * The hash of a key, also in snapshots. It is the same in each process, and differs for each agent and tool. It keeps names of
 * hosts and ledgers out of logs, reports and stored snapshots. The hash is not cryptographic: anyone who guesses a key can check
 * the guess.
 */
const hashOf = (agent: string, tool: string, key: string): string =>
  hashOfText(JSON.stringify([agent, tool, key.slice(0, 1_024)]), SEED); // Only this part of a key counts.

/** C14: the hash of a call's key. The tool's own setting comes first, then the adapter's; undefined if neither names a key. */
export const keyOf = (
  { name, key }: Pick<ToolSettings, 'key'> & { readonly name: string },
  agent: string,
  input: unknown,
  hint: unknown,
): string | undefined => {
  if (key === false) return undefined;
  const named = key === undefined ? hint : input === undefined ? undefined : askedFor(name, () => key(input));
  return typeof named === 'string' && named !== '' ? hashOf(agent, name, named) : undefined;
};

/**
 * E5: a key function that throws or returns no string is reported to `diag`. Only the error's name is reported, because its text
 * may quote the input.
 */
const askedFor = (tool: string, ask: () => unknown): unknown => {
  const what = `the key of tool '${tool}'`;
  const threw = (error: unknown) => {
    const name = read(error, 'name');
    reportThrown(what, typeof name === 'string' && /^\w{1,64}$/.test(name) ? name : typeof error);
  };
  try {
    const key = ask();
    if (key === undefined || key === null || typeof key === 'string') return key;
    Promise.resolve(key).then(undefined, threw);
    const gave = key instanceof Promise ? 'promise' : typeof key;
    reportThrown(what, new TypeError(`It returned a value of type ${gave}. Return a string, or undefined for no key.`));
  } catch (error) {
    threw(error);
  }
  return undefined;
};

export const keyPolicyOf = ({ tool }: Pick<Keyed, 'tool'>): CircuitPolicy => tool.keyPolicy ?? tool.policy;

/** The circuit of a key. A key that was not blamed yet is closed. */
export const keyCircuit = ({ keys }: Keyed, key: string): Circuit =>
  keys?.circuits.get(key) ?? closedCircuit(keys?.generation);

/** C15: what a call takes of its key's circuit: a slot if that circuit is not closed. */
export const enterKey = (tracked: Keyed, key: string, at: Moment): Pass => {
  const before = keyCircuit(tracked, key);
  const { circuit, lease } = admit(before, keyPolicyOf(tracked), at);
  if (circuit !== before) keep(tracked, key, circuit);
  return { of: 'key', key, generation: circuit.generation, lease };
};

/**
 * C14: a call of this key has ended. A failure counts here if it blames the key. A failure that blames the tool fails a probe
 * of the key, and does not count for a key that is closed.
 */
export const answerKey = (tracked: Keyed, pass: Pass, judged: Judged, at: Moment, degraded: boolean): void => {
  move(tracked, pass, (circuit) => nextOf(circuit, pass, judged, keyPolicyOf(tracked), at, degraded));
};

/** C8: a call that came back too late for its tool only returns its slot. */
export const giveBackKey = (tracked: Keyed, pass: Pass): void =>
  move(tracked, pass, (circuit) => giveBack(circuit, pass));

const move = (tracked: Keyed, { key }: Pass, change: (circuit: Circuit) => Circuit): void => {
  if (key === undefined) return;
  const before = keyCircuit(tracked, key);
  const next = change(before);
  if (next !== before) keep(tracked, key, next);
};

const nextOf = (
  circuit: Circuit,
  pass: Pass,
  judged: Judged,
  policy: CircuitPolicy,
  at: Moment,
  degraded: boolean,
): Circuit => {
  const { outcome, category = 'unknown' } = judged;
  if (outcome === 'success') return succeed(circuit, pass, judged, policy, at);
  if (!failsKey(judged, pass.lease !== undefined)) return ignore(circuit, pass, { category }, policy, at);
  return fail(circuit, pass, { ...judged, category, degraded, full: true }, policy, at);
};

/** The most recently moved key is last in the map. */
const keep = (tracked: Keyed, key: string, circuit: Circuit): void => {
  const keys = tracked.keys ?? { circuits: new Map(), generation: 0 };
  keys.circuits.delete(key);
  tracked.keys = keys.circuits.size < MOST_KEYS ? keys : withoutOne(keys);
  tracked.keys.circuits.set(key, circuit);
};

/** C14: drops a closed one first, then the least recently used. */
const withoutOne = (keys: KeyCircuits): KeyCircuits => {
  const all = [...keys.circuits];
  const dropped = all.find(([, { state }]) => state === 'closed') ?? all[0];
  return { circuits: new Map(all.filter((one) => one !== dropped)), generation: highest(keys) + 1 };
};

/** C1: a tool under an operator's control begins without keys, and results of calls under way are late. */
export const forgetKeys = (keys: KeyCircuits | undefined): KeyCircuits | undefined =>
  keys && { circuits: new Map(), generation: highest(keys) + 1 };

const highest = ({ circuits, generation }: KeyCircuits): number =>
  Math.max(generation, ...[...circuits.values()].map((one) => one.generation));

/** C11: restores the circuits of the keys, and applies the policy of this process. */
export const adoptKeys = (keys: KeyCircuits, of: Pick<Keyed, 'tool'>, ms: number): KeyCircuits => ({
  ...keys,
  circuits: new Map([...keys.circuits].map(([key, circuit]) => [key, adopted(circuit, keyPolicyOf(of), ms)])),
});

export const copyKeys = (keys: KeyCircuits | undefined): KeyCircuits | undefined =>
  keys && { ...keys, circuits: new Map(keys.circuits) };

export const openKeys = ({ keys }: Keyed): number =>
  keys === undefined ? 0 : [...keys.circuits.values()].filter(({ state }) => state !== 'closed').length;

/** A tool that is cut off has these with every key. So does one that every host turns away. */
const OF_TOOL: ReadonlySet<ErrorCategory> = new Set([...UNREACHABLE, ...TURNED_AWAY]);

/** C14: the key of a failure that counts towards failures of the tool on several keys. */
export const distinctKey = (pass: Pass, category: ErrorCategory): string | undefined =>
  OF_TOOL.has(category) ? pass.key : undefined;

/** A host as it begins a URL without a scheme, as in `example.com/a`. */
const NO_SCHEME = /^(?:(?:[\w-]+\.)+[a-z\d-]{1,63}|localhost)(?::\d{1,5})?(?:[/?#]|$)/i;

/**
 * A tool's `key` (C14): the host of the URL in one field of the arguments, or of the argument itself if it is a URL, in lower case
 * and with its port. The URL may have no scheme, as in `example.com/a`. There is no key without a URL that has a host.
 *
 * @param field the field of the arguments. Default `url`.
 *
 * @example
 * ```ts
 * createBreakerbox({ agent: 'research-agent', tools: { fetch_page: { key: byHost() } } });
 * ```
 */
export const byHost =
  (field = 'url'): ((input: unknown) => string | undefined) =>
  (input) => {
    const url = typeof input === 'string' ? input : read(input, field);
    if (typeof url !== 'string') return undefined;
    const start = url.slice(0, TEXT_LIMIT);
    const whole = NO_SCHEME.test(start) ? `http://${start}` : start;
    return guarded(() => new URL(whole).host.toLowerCase() || undefined, undefined);
  };

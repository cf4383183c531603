import type { ErrorCategory, OperatorAction, SystemicEvent } from '@breakerbox/core';
import type { ConsoleChange, EndpointState } from '../../src/console/console-state.ts';
import type { ChildState, LimitState, SessionState } from '../../src/schema.ts';
import type { CircuitState, LiveSession } from './overview.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** `45 s`, `3 min`, `2 h`. */
export const duration = (ms: number): string => {
  const positive = Math.max(0, ms);
  if (positive < 2 * MINUTE) return `${Math.round(positive / SECOND)} s`;
  if (positive < 2 * HOUR) return `${Math.round(positive / MINUTE)} min`;
  return positive < 48 * HOUR ? `${Math.round(positive / HOUR)} h` : `${Math.round(positive / (24 * HOUR))} days`;
};

/** A time of today, or a day and a time. */
export const clockTime = (unixMs: number): string => {
  const at = new Date(unixMs);
  return at.toDateString() === new Date().toDateString() ? at.toLocaleTimeString() : at.toLocaleString();
};

export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;

/** `a, b and c`. */
export const list = (names: readonly string[]): string => {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
};

const PROCESS_NAME = /^unix:.*\/([^/]+)\.sock$/;

/** The process that an operator looks for. */
export const processName = ({ id, state }: Pick<EndpointState, 'id' | 'state'>): string =>
  state === undefined ? (PROCESS_NAME.exec(id)?.[1] ?? id) : `process ${state.pid}${hostOf(id)}`;

/** Pids are of one machine. */
const hostOf = (id: string): string => (id.startsWith('unix:') ? '' : ` at ${new URL(id).host}`);

export const STATE_WORDS: Readonly<Record<CircuitState['state'], string>> = {
  closed: 'closed',
  open: 'open',
  half_open: 'half open',
  forced_open: 'forced open',
  disabled: 'disabled',
  observe_only: 'observe only',
};

const CATEGORY_WORDS: Readonly<Record<ErrorCategory, string>> = {
  network: 'network',
  timeout: 'timeout',
  rate_limit: 'rate limit',
  permission: 'permission',
  filesystem: 'filesystem',
  server: 'server error',
  resource: 'resource',
  unknown: 'unknown',
  unusable: 'unusable',
  invalid_input: 'invalid input',
  denied: 'denied',
  cancelled: 'cancelled',
  tool_error: 'tool error',
};

/** The word for a value of this version; the value itself if an endpoint of a later version sends another. */
const wordOf = (words: Readonly<Record<string, string>>, value: string): string =>
  Object.hasOwn(words, value) ? (words[value] ?? value) : value;

/** The category of an error. */
export const errorWord = (category: string | undefined): string | undefined =>
  category === undefined ? undefined : wordOf(CATEGORY_WORDS, category);

/** When the next probe may go. */
export const probeWords = (nextProbe: CircuitState['nextProbe']): string | undefined => {
  if (nextProbe === undefined) return undefined;
  const { steps, ms, notBeforeMs } = nextProbe as Readonly<Record<string, number | undefined>>;
  const waits = [
    ...(steps === undefined ? [] : [steps <= 0 ? undefined : count(steps, 'step')]),
    ...(ms === undefined ? [] : [ms <= 0 ? undefined : duration(ms)]),
  ];
  const retryAfter = notBeforeMs !== undefined && notBeforeMs > 0 ? `, not before ${duration(notBeforeMs)}` : '';
  if (waits.includes(undefined)) return retryAfter === '' ? 'at the next call' : `in ${duration(notBeforeMs ?? 0)}`;
  return waits.length === 0 ? undefined : `in ${waits.join(' or ')}${retryAfter}`;
};

/** A circuit in a few words: its state, its keys that fail (C14), its error, and its next probe. A paused session (`isPaused`) sends none. */
export const circuitWords = (
  { state, category, nextProbe, openKeys, failedKeys = 0 }: CircuitState,
  isPaused = false,
): string => {
  const probe = isPaused ? undefined : probeWords(nextProbe);
  const isClosed = state === 'closed';
  return [
    STATE_WORDS[state],
    isClosed && openKeys > 0 && `but ${openKeys} of its targets ${openKeys === 1 ? 'is' : 'are'} not available`,
    isClosed && failedKeys > 0 && `${count(failedKeys, 'target')} failed in a row`,
    errorWord(category),
    probe && `next probe ${probe}`,
  ]
    .filter(Boolean)
    .join(', ');
};

const LIMIT_NAMES: Readonly<Record<LimitState['limit'], string>> = {
  calls: 'tool calls',
  steps: 'turns',
  tokens: 'tokens',
  cost: 'money',
  durationMs: 'time',
};

export const limitName = (limit: LimitState['limit']): string => LIMIT_NAMES[limit];

const figure = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 2 });

/** `14,000 tool calls`, `5 USD`, `10 min`. */
export const amountWords = (value: number, { limit, currency }: Pick<LimitState, 'limit' | 'currency'>): string => {
  if (limit === 'durationMs') return duration(value);
  return `${figure(value)} ${limit === 'cost' ? (currency ?? '') : LIMIT_NAMES[limit]}`;
};

/** A limit in a few words (D2): how much is used, what is not certain of it, and what the limit does. */
export const usedWords = (limit: LimitState): string => {
  const { used, size, level, mode, underWay, reserved, kept = 0, estimated } = limit;
  const isTime = limit.limit === 'durationMs';
  const more = [
    level,
    underWay > 0 && `${figure(underWay)} under way`,
    estimated > 0 && `${figure(estimated)} estimated`,
    kept > 0 && `${figure(kept)} kept for the last answers of sub-agents`,
    reserved > kept && `${figure(reserved - kept)} reserved for sub-agents`,
    mode !== 'pause' && (mode === 'advise' ? 'advises only' : 'observes only'),
  ].filter(Boolean);
  const part = `${isTime ? duration(used) : figure(used)} of ${amountWords(size, limit)}`;
  return more.length === 0 ? part : `${part} (${more.join(', ')})`;
};

/** What a run has used (D3). */
export const spentWords = ({ calls, steps, tokens, cost }: ChildState['used']): string =>
  [
    count(calls, 'call'),
    steps > 0 && count(steps, 'turn'),
    tokens > 0 && `${figure(tokens)} tokens`,
    cost > 0 && `cost ${figure(cost)}`,
  ]
    .filter(Boolean)
    .join(', ');

/** Why a session is paused, as a title. */
export const pauseTitle = ({ session: { state } }: LiveSession): string => {
  if (state === 'paused_limit') return 'Limit of the run reached';
  return state === 'paused_budget' ? 'Failure budget used up' : 'Correlated failure';
};

const LAYER_WORDS: Readonly<Record<Exclude<SystemicEvent['layer'], 'unknown'>, string>> = {
  network: 'the network',
  filesystem: 'the file system or the resources of this machine',
  permissions: 'permissions or credentials',
  upstream: 'the services behind the tools',
  dependency: 'what the tools depend on',
  group: 'the group of the tools',
};

/** Why a session is paused, as a sentence. */
export const pauseReason = ({ session }: LiveSession): string => {
  const { state, budget, event } = session;
  if (state === 'paused_budget')
    return `The session has used its budget of ${count(budget.limit, 'failure')}. It calls no tool until you resume it.`;
  if (state === 'paused_limit')
    return 'The run has used up one of its limits. It calls no tool until you extend the limit. Resume does not extend it.';
  const cause = event?.category === undefined ? '' : ` (${errorWord(event.category)})`;
  const tools = event === undefined ? 'Several tools' : count(event.tools.length, 'tool');
  return `${tools} failed together${cause}. The session calls no tool until you confirm that the cause is gone.`;
};

/** Which failures have used the budget, such as `web_search: network, fetch: server error (2 failures)`. Undefined if not known. */
export const chargeWords = ({ charges = [] }: SessionState['budget']): string | undefined => {
  const words = charges.map(({ tool, category, failures }) => {
    const several = failures === 1 ? '' : ` (${count(failures, 'failure')})`;
    return `${tool}: ${errorWord(category)}${several}`;
  });
  return words.length === 0 ? undefined : words.join(', ');
};

/** What the event points to. */
export const suspectWords = ({ session: { event } }: LiveSession): string | undefined => {
  if (event === undefined) return undefined;
  return event.suspect ?? (event.layer === 'unknown' ? undefined : wordOf(LAYER_WORDS, event.layer));
};

const ACTION_WORDS: Readonly<Record<OperatorAction, string>> = {
  resume: 'resumed',
  confirm: 'confirmed the recovery of',
  extend: 'extended a limit of',
  force_open: 'forced open the circuit of',
  disable: 'disabled the circuit of',
  observe: 'set observe-only mode for',
  release: 'released the forced mode of',
};

/** A change as a sentence. */
export const changeWords = ({ kind, session, tool, from, to, category, limit, child, who }: ConsoleChange): string => {
  const run = child === undefined ? `session ${session}` : `sub-agent ${child} of session ${session}`;
  const of = session === undefined ? '' : ` in session ${session}`;
  const why = category === undefined ? '' : ` (${errorWord(category)})`;
  switch (kind) {
    case 'circuit.transition':
      return `${tool}: ${stateWord(from)} to ${stateWord(to)}${why}${of}`;
    case 'systemic.detected':
      return `Correlated failure${why} paused session ${session}`;
    case 'systemic.resolved':
      return `Correlated failure is over in session ${session}`;
    case 'budget.exhausted':
      return `Budget used up: session ${session} is paused`;
    case 'budget.resumed':
      return `Session ${session} has a full budget again`;
    case 'limit.advised':
      return `Limit nearly used up in ${run}: ${limit}`;
    case 'limit.reached':
      return `Limit reached in ${run}: ${limit}`;
    case 'limit.lifted':
      return `Limit no longer reached in ${run}: ${limit}`;
    case 'limit.extended':
      return `Limit extended in ${run}: ${limit}`;
    case 'action':
      return tool === undefined
        ? `${who} ${wordOf(ACTION_WORDS, `${to}`)} session ${session}`
        : `${who} ${wordOf(ACTION_WORDS, `${to}`)} ${tool}${of}`;
  }
};

const stateWord = (state: string | undefined): string => (state === undefined ? 'unknown' : wordOf(STATE_WORDS, state));

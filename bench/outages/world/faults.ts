import { drawn, type Random, type Weighted } from '../../src/defaults/random.ts';

/** What happens to a call on its socket. */
export type Fate =
  | 'hang'
  | 'status 500'
  | 'status 503'
  | 'status 401'
  | 'status 429'
  | 'refused'
  | 'cut off'
  | 'no JSON'
  | 'empty';

/** The tool that most tasks need. */
const DEAD_TOOL = 'get_reservation_details';
const BEHIND_ONE_PROXY = ['get_reservation_details', 'get_user_details', 'search_direct_flight'];

/** The provider of the model. It is no tool. */
export const PROVIDER = 'provider';

/** The shares are those of `FaultInjector` in HAL's fault injection, and so is the rate of faults. */
const PUBLISHED_MIX: readonly Weighted<Fate>[] = [
  { value: 'hang', weight: 0.3 },
  { value: 'status 500', weight: 0.25 },
  { value: 'status 429', weight: 0.2 },
  { value: 'refused', weight: 0.15 },
  { value: 'cut off', weight: 0.05 },
  { value: 'no JSON', weight: 0.03 },
  { value: 'empty', weight: 0.02 },
];
const PUBLISHED_RATE = 0.2;

/** What happens to the tools during a run. */
export interface Fault {
  readonly id: string;
  readonly text: string;
  /** The tools of an outage, when it is there, and what their calls get. */
  readonly outage?: { readonly tools: readonly string[]; isThere(atMs: number): boolean; readonly fate: Fate };
  /** Faults by chance, of all tools alike. */
  readonly chance?: { readonly rate: number; readonly mix: readonly Weighted<Fate>[] };
}

const SECOND = 1_000;
const BEGIN = 30 * SECOND;
const FLAP = 60 * SECOND;
const CORRELATED_END = 210 * SECOND;
const fromStart = (): boolean => true;
const fromBegin = (atMs: number): boolean => atMs >= BEGIN;

export const FAULTS: readonly Fault[] = [
  { id: 'none', text: 'no outage' },
  {
    id: 'mix',
    text: 'the published mix: a fifth of all calls fail',
    chance: { rate: PUBLISHED_RATE, mix: PUBLISHED_MIX },
  },
  {
    id: 'permanent',
    text: 'one tool refuses connections from second 30 on',
    outage: { tools: [DEAD_TOOL], isThere: fromBegin, fate: 'refused' },
  },
  {
    id: 'flapping',
    text: 'one tool answers 503 for a minute and works for a minute, from second 30 on',
    outage: {
      tools: [DEAD_TOOL],
      isThere: (ms) => ms >= BEGIN && Math.floor((ms - BEGIN) / FLAP) % 2 === 0,
      fate: 'status 503',
    },
  },
  {
    id: 'slow',
    text: 'one tool does not answer from second 30 on, and its calls time out after 30 s',
    outage: { tools: [DEAD_TOOL], isThere: fromBegin, fate: 'hang' },
  },
  {
    id: 'correlated',
    text: 'three tools lose one proxy from second 30 to second 210',
    outage: { tools: BEHIND_ONE_PROXY, isThere: (ms) => fromBegin(ms) && ms < CORRELATED_END, fate: 'refused' },
  },
  {
    id: PROVIDER,
    text: 'the provider of the model answers 503 from second 30 to second 210',
    outage: { tools: [PROVIDER], isThere: (ms) => fromBegin(ms) && ms < CORRELATED_END, fate: 'status 503' },
  },
  {
    id: 'never-worked',
    text: 'one tool answers 401 from the start',
    outage: { tools: [DEAD_TOOL], isThere: fromStart, fate: 'status 401' },
  },
];

export const isOutage = ({ outage }: Fault, tool: string, atMs: number): boolean =>
  outage?.tools.includes(tool) === true && outage.isThere(atMs);

/** How many tools an outage has now. */
export const toolsDown = (fault: Fault, atMs: number): number =>
  fault.outage?.tools.filter((tool) => isOutage(fault, tool, atMs)).length ?? 0;

/** The fate of a call; undefined if it works. `random` belongs to this attempt alone, so that all protections meet the same faults. */
export const fateOf = (fault: Fault, tool: string, atMs: number, random: Random): Fate | undefined => {
  if (isOutage(fault, tool, atMs)) return fault.outage?.fate;
  const { chance } = fault;
  return chance !== undefined && random() < chance.rate ? drawn(random, chance.mix) : undefined;
};

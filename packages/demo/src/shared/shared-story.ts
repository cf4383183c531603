/** What the processes of `npm run demo -- --fleet` and the process that starts them know of each other. */

export const SHARED_TOOL = 'web_search';
/** Failures in a row that open a circuit, as in the defaults. */
export const THRESHOLD = 3;

/** The orders for a process. */
export interface AgentStart {
  readonly redisUrl: string;
  readonly toolUrl: string;
}

/** What a process says. */
export type AgentNotice =
  | { readonly kind: 'called'; readonly ok: boolean }
  | {
      readonly kind: 'state';
      readonly to: string;
      /** Other processes found that the tool fails. */
      readonly told: boolean;
      /** Calls in a row that failed in this process before. */
      readonly failures: number;
    };

/** The figures of one outage. */
export interface SharedRound {
  /** Calls into the dead tool, without probes. */
  calls: number;
  /** What as many processes without a fleet would have called. */
  readonly callsAlone: number;
  /** Probes of all processes together, the one that succeeded included. */
  probes: number;
  /** Processes that opened the circuit because Redis said so. */
  told: number;
  /** From the first opening to the last; undefined until all are open. */
  openedMs: number | undefined;
  /** From the first call that succeeded until all processes called again; undefined until then. */
  recoveredMs: number | undefined;
}

/** Follows the processes through outages, and says what happens in words. */
export interface SharedStory {
  readonly rounds: readonly SharedRound[];
  /** A new outage begins. */
  begin(): void;
  /** All circuits are open. */
  isOpen(): boolean;
  /** A probe of this outage has failed. */
  hasProbed(): boolean;
  /** All circuits are closed again. */
  isOver(): boolean;
  hear(process: string, notice: AgentNotice): void;
}

/** What it means that the first, and the second, process has seen an outage itself. */
const SEEN_BY = ['Another process must see it too', 'Two processes have seen it: it is open for all'];

/** A story of some processes. `say` takes a line and who it is about. */
export const createSharedStory = (
  processes: number,
  { say, now }: { readonly say: (who: string, text: string) => void; readonly now: () => number },
): SharedStory => {
  const rounds: SharedRound[] = [];
  const probing = new Set<string>();
  const open = new Set<string>();
  const recovered = new Set<string>();
  let opened = 0;
  let sawIt = 0;
  let failedProbes = 0;
  let firstOpenMs = 0;
  let firstSuccessMs = 0;

  const nowOpen = (process: string, isTold: boolean, failures: number, round: SharedRound): void => {
    open.add(process);
    opened += 1;
    if (opened === 1) firstOpenMs = now();
    if (opened === processes) round.openedMs = Math.round(now() - firstOpenMs);
    if (isTold) {
      round.told += 1;
      say(process, `Redis says that ${SHARED_TOOL} is open. Calls that failed here: ${failures}`);
      return;
    }
    sawIt += 1;
    const seen = SEEN_BY[sawIt - 1] ?? 'It was open for all already';
    say(process, `${SHARED_TOOL} failed ${THRESHOLD} times in a row, and opens here. ${seen}`);
  };

  const probed = (process: string, ok: boolean, round: SharedRound): void => {
    probing.delete(process);
    if (!ok) {
      failedProbes += 1;
      round.probes += 1;
      say(process, 'sends the one probe of all processes. It fails');
    } else if (recovered.size === 0) {
      firstSuccessMs = now();
      round.probes += 1;
      say(process, 'sends the one probe of all processes. It succeeds: closed for all');
    } else say(process, `Redis says that the tool is back, and calls ${SHARED_TOOL} again`);
  };

  return {
    rounds,
    begin: () => {
      for (const set of [probing, open, recovered]) set.clear();
      opened = sawIt = failedProbes = 0;
      const callsAlone = processes * THRESHOLD;
      rounds.push({ calls: 0, callsAlone, probes: 0, told: 0, openedMs: undefined, recoveredMs: undefined });
    },
    isOpen: () => opened >= processes,
    hasProbed: () => failedProbes > 0,
    isOver: () => recovered.size === processes,
    hear: (process, notice) => {
      const round = rounds.at(-1);
      if (round === undefined) return;
      if (notice.kind === 'called') {
        if (probing.has(process)) return probed(process, notice.ok, round);
        if (!notice.ok) round.calls += 1;
        return;
      }
      if (notice.to === 'open' && !open.has(process)) nowOpen(process, notice.told, notice.failures, round);
      if (notice.to === 'half_open') probing.add(process);
      if (notice.to === 'closed') {
        // The circuit closes before its process says that the call has succeeded.
        if (probing.has(process)) probed(process, true, round);
        recovered.add(process);
        if (recovered.size === processes) round.recoveredMs = Math.round(now() - firstSuccessMs);
      }
    },
  };
};

/** The figures of one outage in words. */
export const roundText = ({ calls, callsAlone, probes, told, openedMs, recoveredMs }: SharedRound): string =>
  [
    `${probes} probes in all (${(probes * callsAlone) / THRESHOLD} if each process probes alone)`,
    `all open within ${openedMs ?? '?'} ms`,
    `all call again within ${recoveredMs ?? '?'} ms`,
    `${told} told by Redis`,
    `${calls} calls into the dead tool (${callsAlone} if each process learns alone)`,
  ].join(', ');

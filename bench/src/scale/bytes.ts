import type { FleetStore } from '@breakerbox/fleet';
import { fleetScripts } from '../../../packages/fleet/src/redis/scripts.ts';

/** An epoch and a token are a UUID. The key of a fleet, the id of a circuit and the name of a process are of a usual length. */
const UUID = 'a'.repeat(36);
const KEY = '{breakerbox:1:research-agent}';
const ID = 'd1f2e3a4:web_search';
const PROCESS = 'a'.repeat(16);

const SHA = fleetScripts().read.sha;

const bulk = (text: string): number => `$${text.length}\r\n${text}\r\n`.length;

/** Bytes of a command as Redis receives it. */
const command = (words: readonly string[]): number =>
  words.reduce((sum, word) => sum + bulk(word), `*${words.length}\r\n`.length);

/** What follows the time and the epoch in each script. */
const ARGS: Readonly<Partial<Record<keyof FleetStore, readonly string[]>>> = {
  read: [UUID, '12345'],
  report: [ID, PROCESS, 'server', '60000', '2', '60000', '0', '0', '10000'],
  claim: [ID, PROCESS, '12', UUID, '71000', '0', '300000'],
  settle: [ID, PROCESS, UUID, '12', UUID, 'failure', 'server', '60000'],
  end: [ID, '12'],
  control: [ID, UUID, '', '0', '3600000', '3600000', '0'],
};

/** Bytes of a request, without the headers of the network. */
export const requestBytes = (kind: keyof FleetStore): number => {
  return command(['EVALSHA', SHA, '1', KEY, '', UUID, ...(ARGS[kind] ?? [])]);
};

/** Bytes of a read's answer: the time, the epoch, the version, whether it is whole, the number of processes, how much is left out, and what has changed. Other answers are smaller. */
export const answerBytes = (answer: unknown): number => {
  const { circuits = [], actions = [] } = (answer ?? {}) as {
    circuits?: readonly unknown[];
    actions?: readonly unknown[];
  };
  const head =
    '*6\r\n:1750000000000\r\n'.length +
    bulk(UUID) +
    ':12345\r\n:0\r\n*2\r\n'.length +
    bulk('') +
    ':10000\r\n:0\r\n'.length;
  return head + [...circuits, ...actions].reduce((sum: number, one) => sum + bulk(ID) + bulk(JSON.stringify(one)), 0);
};

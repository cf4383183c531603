import { fittingBody } from '../fleet-action.ts';
import { BOUNDS } from '../fleet-state.ts';
import type { Listeners, StoredAction, StoredCircuit, Word } from '../protocol.ts';
import { StoreError } from '../reasons.ts';
import { HEAD, LONGEST } from '../record-fields.ts';
import { parseActionRecord, parseCircuit } from '../records.ts';

/** Records that are parsed before other work of the process has its turn. */
const A_TURN = 20;

/** Six parts, then names and values. The scripts of a fleet list no more of them. */
const MOST_PARTS = 6 + 2 * (BOUNDS.circuits + BOUNDS.actions);

/** Something answers that is not the scripts of a fleet. */
const unfit = (what: string): StoreError => new StoreError('error', `Redis gave an answer that does not fit: ${what}.`);

export const isNothing = (answer: unknown): boolean => answer === null || answer === undefined || answer === false;

const list = (answer: unknown): readonly unknown[] => {
  if (!Array.isArray(answer)) throw unfit(`${typeof answer} instead of a list`);
  return answer;
};

/** Clients give numbers as such, or as strings of digits. */
const whole = (answer: unknown, what: string): number => {
  const number = typeof answer === 'string' && /^\d+$/.test(answer) ? Number(answer) : answer;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0) throw unfit(`${what} is no number`);
  return number;
};

const text = (answer: unknown, most: number, what: string): string => {
  if (typeof answer !== 'string' || answer.length > most) throw unfit(`${what} is no short string`);
  return answer;
};

export const epochOf = (answer: unknown): string => text(answer, HEAD.epoch, 'the epoch');

/** What a script says of the one record that it has read or written. */
const single = (answer: unknown): readonly [value: string, nowMs: number] => {
  const [at, value] = list(answer);
  return [text(value, Number.POSITIVE_INFINITY, 'a record'), whole(at, 'the time')];
};

export const circuitOf = (id: string, answer: unknown): StoredCircuit => {
  const [value, nowMs] = single(answer);
  const circuit = parseCircuit(id, value, HEAD.version + 1, nowMs);
  if (circuit === undefined) throw unfit('a circuit');
  return circuit;
};

export const controlOf = (key: string, answer: unknown): StoredAction | 'ignored' | undefined => {
  if (isNothing(answer)) return undefined;
  if (Number(answer) === 0) return 'ignored';
  const [value, nowMs] = single(answer);
  const action = actionOf(key, value, HEAD.version + 1, nowMs);
  return action === 'unfit' ? 'ignored' : action;
};

/** With a body that this process can send again. */
const actionOf = (...record: Parameters<typeof parseActionRecord>): StoredAction | 'unfit' | undefined => {
  const action = parseActionRecord(...record);
  if (action === undefined || action === 'unfit') return action;
  const body = fittingBody(action.key, action.body);
  return body === undefined ? 'unfit' : { ...action, body };
};

/** If Redis counts no process, it cannot tell: no subscription works. */
const listenersOf = (counted: readonly unknown[], asked: number): Listeners => {
  if (counted.length > 2 * (1 + asked)) throw unfit('more topics than were asked for');
  const [, processes, ...pairs] = counted;
  const topics = new Map<string, number>();
  if (!(Number(processes) > 0)) return { processes: undefined, topics };
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    const count = Number(pairs[index + 1]);
    if (Number.isSafeInteger(count)) topics.set(String(pairs[index]), count);
  }
  return { processes: Number(processes), topics };
};

/** The answer to a read that asked about so many topics. Records that do not fit are left out and counted. Other work has its turn between many of them. */
export const readWord = async (answer: unknown, asked: number): Promise<Word> => {
  const all = list(answer);
  if (all.length > MOST_PARTS) throw unfit('more records than a store keeps');
  const [at, epoch, version, isWhole, counted, leftOut, ...fields] = all;
  const [nowMs, newest] = [whole(at, 'the time'), whole(version, 'the version')];
  const circuits: StoredCircuit[] = [];
  const actions: StoredAction[] = [];
  let ignored = whole(leftOut, 'the number of records that are left out');
  const take = (field: string, value: string): void => {
    const id = field.slice(2);
    if (field.startsWith('c:')) {
      const circuit = parseCircuit(id, value, newest, nowMs);
      if (circuit === undefined) ignored += 1;
      else circuits.push(circuit);
    } else if (field.startsWith('a:')) {
      const action = actionOf(id, value, newest, nowMs);
      if (action === 'unfit') ignored += 1;
      else if (action !== undefined) actions.push(action);
    } else ignored += 1;
  };
  for (let index = 0; index + 1 < fields.length; index += 2) {
    if (String(fields[index + 1]).length > LONGEST.action) throw unfit('a record that is longer than those of a store');
    take(String(fields[index]), String(fields[index + 1]));
    if (index > 0 && index % (2 * A_TURN) === 0) await new Promise(setImmediate);
  }
  return {
    position: { epoch: epochOf(epoch), version: newest },
    circuits: circuits.sort((a, b) => a.version - b.version),
    actions: actions.sort((a, b) => a.version - b.version),
    whole: Number(isWhole) === 1,
    ignored,
    ...listenersOf(list(counted), asked),
  };
};

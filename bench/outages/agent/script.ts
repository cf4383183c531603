import type { ScriptedCall } from '@breakerbox/scripted-models/script';
import { type Random, randomFrom, seedOf } from '../../src/defaults/random.ts';
import type { Action, Task } from '../airline/task.ts';
import { ALTERNATIVES } from '../airline/tools.ts';
import type { Habit } from './habits.ts';

/** A turn of the scripted model: a call, or its last words. */
export type Turn = { readonly call: ScriptedCall } | { readonly text: string };

/** What the model read about a call. */
type Reading = 'answer' | 'mistake' | 'stop' | 'failure' | { readonly use: string | undefined };

/** A model that does a task by its reference actions, and by its habit when a call fails. It knows only what it reads. */
export interface ScriptedAgent {
  /**
   * @param result What the framework gave the model for its last call; undefined at the beginning.
   * @param system The system prompt of this turn.
   */
  next(result: string | undefined, system: string): Turn;
  /** It was told to stop, and has more to do. */
  isStopped(): boolean;
  /** The last call that the model made got no answer. */
  hasFailed(): boolean;
  readonly said: string;
  /** The tool that the last turn did not call, because of a note in the system prompt. */
  readonly avoided: string | undefined;
}

const asAnswer = (text: string): boolean => {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
};

/** Breakerbox has called the alternative itself, and its answer follows. */
const IN_PLACE = /answered by '\w+' in place of/;

/** Reads as a model does: answers are JSON, and messages say in words what to do. */
export const readingOf = (text: string): Reading => {
  if (asAnswer(text) || IN_PLACE.test(text)) return 'answer';
  if (/Do not call any tools/.test(text)) return 'stop';
  if (/HTTP (404|422)/.test(text)) return 'mistake';
  if (/Do not call it now/.test(text)) return { use: /Use '(\w+)' instead/.exec(text)?.[1] };
  return 'failure';
};

const DONE = 'Done.';
/** What a note in the system prompt says about a tool: nothing, or not to call it, and perhaps what to use instead. */
const noteAbout = (system: string, tool: string): { readonly use: string | undefined } | undefined => {
  const line = system.split('\n').find((one) => one.startsWith(`- '${tool}':`));
  return line === undefined ? undefined : { use: /Use '(\w+)' instead/.exec(line)?.[1] };
};

const REJECTED = /Breaker is open|circuit breaker is open/i;

const withMistake = (given: Action['given']): Action['given'] => {
  const [key, value] = Object.entries(given).find(([name]) => name.endsWith('_id')) ?? [];
  return key === undefined ? given : { ...given, [key]: `${String(value)}X` };
};

export const scriptedAgent = (task: Task, habit: Habit, seed: string): ScriptedAgent => {
  let step = 0;
  let tool = '';
  let tries = 0;
  let random: Random = () => 0;
  let erring = false;
  let stopped = false;
  let failed = false;
  let skipped = false;
  let avoided: string | undefined;
  const read: string[] = [];
  let said = '';

  const call = (name: string): Turn => {
    const given = task.actions[step]?.given ?? {};
    tool = name;
    tries += 1;
    return { call: { tool: name, input: erring ? withMistake(given) : given } };
  };
  const begin = (system: string): Turn => {
    const action = task.actions[step];
    if (action === undefined) return end(skipped ? 'Done in part.' : DONE);
    random = randomFrom(seedOf(`${seed}/${task.id}`, step));
    tries = 0;
    erring = random() < habit.mistakes && withMistake(action.given) !== action.given;
    const note = noteAbout(system, action.tool);
    tool = action.tool;
    if (note === undefined || random() >= habit.follows) return call(action.tool);
    avoided = action.tool;
    return moveTo(note.use ?? ownAlternative(), system);
  };
  const end = (words: string): Turn => {
    const known = read.join('\n');
    const facts = [
      ...task.facts.filter((fact) => known.includes(fact)),
      ...(words === DONE ? (task.derived ?? []) : []),
    ];
    said = `${words} ${facts.join(', ')}`;
    return { text: said };
  };
  const moveTo = (other: string | undefined, system: string): Turn => {
    if (other === undefined || other === tool) {
      if (!habit.goesOn) return end('I could not do this.');
      skipped = true;
      step += 1;
      return begin(system);
    }
    tries = 0;
    return call(other);
  };
  const ownAlternative = (): string | undefined => {
    const other = ALTERNATIVES[tool];
    return other !== undefined && random() < habit.findsAlternative ? other : undefined;
  };
  /** A model that repeats a call looks at its arguments again. */
  const again = (): Turn | undefined => {
    if (tries >= habit.mostCalls || random() >= habit.repeats) return undefined;
    erring = false;
    return call(tool);
  };

  const react = (text: string, system: string): Turn => {
    const reading = readingOf(text);
    failed = reading !== 'answer' && reading !== 'mistake';
    if (reading === 'answer') {
      read.push(text);
      step += 1;
      return begin(system);
    }
    if (reading === 'stop') {
      stopped = true;
      return end('I stopped, as I was told.');
    }
    if (reading === 'mistake') {
      if (!erring) return end('I could not do this.');
      erring = false;
      return call(tool);
    }
    if (typeof reading === 'object' && random() < habit.follows) return moveTo(reading.use ?? ownAlternative(), system);
    const knows = habit.knowsBreakers && REJECTED.test(text);
    return (knows ? undefined : again()) ?? moveTo(ownAlternative(), system);
  };

  return {
    next: (result, system) => {
      avoided = undefined;
      if (result !== undefined && !stopped) return react(result, system);
      if (!stopped) return begin(system);
      stopped = false;
      return tries === 0 ? begin(system) : call(tool);
    },
    isStopped: () => stopped,
    hasFailed: () => failed,
    get avoided() {
      return avoided;
    },
    get said() {
      return said;
    },
  };
};

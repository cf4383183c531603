import { read } from '@breakerbox/core/internal';
import type { AnswerFacts } from './candidates.ts';
import { JudgedError, type ModelAttempt } from './model-attempt.ts';
import { CUT, EMPTY, type ModelVerdict } from './model-verdict.ts';
import { ModelStreamError } from './models-unavailable.ts';

/**
 * What a part of a stream means (L4). `held`: it is not visible, so another model can still answer. `ping`: it carries nothing, so the model
 * counts as silent.
 */
export type PartMeaning =
  | 'held'
  | 'ping'
  | 'visible'
  | { readonly error: unknown }
  | {
      /** The model has finished. */
      readonly facts: AnswerFacts;
      /** `empty`: a success only if something visible came before. */
      readonly end: 'complete' | 'empty' | 'cut' | 'error';
      /** Whether parts such as the usage may follow. Default: the part is the last one, and what follows is dropped. */
      readonly goesOn?: true;
    };

/** The parts of a stream, one by one. */
export interface PartSource<Part> {
  next(): Promise<{ readonly done: boolean; readonly value?: Part | undefined }>;
  cancel(reason?: unknown): void;
}

/** How an adapter reads and writes the parts of its framework. */
export interface PartFormat<Part> {
  meaning(part: Part): PartMeaning;
  /** Whether an end without a part that says so is a cut. */
  readonly mustFinish: boolean;
  /** The last part, with who answered. */
  finished(part: Part, attempt: ModelAttempt): Part;
  /** An error after the first visible part; undefined: it is thrown. */
  failed(error: unknown): Part | undefined;
}

/** Events by which a provider keeps a connection open. */
export const isPing = (event: unknown): boolean => {
  const type = read(event, 'type');
  return type === 'ping' || type === 'keepalive';
};

/** A stream whose first visible part is there. */
export interface OpenedStream<Part> {
  /** The next part for the caller. Rejects where the format has no part for errors. */
  next(): Promise<IteratorResult<Part, undefined>>;
  /** The caller reads no further. */
  cancel(reason?: unknown): void;
}

const END: IteratorResult<never, undefined> = { done: true, value: undefined };

/** How long parts that follow a complete answer may take. */
const REST_MS = 5_000;

const CUT_WORDS = 'ended its stream before the answer was complete.';

/**
 * Reads a stream up to its first visible part (L4). What comes before is held back: if the stream fails there, it rejects, and another
 * model can answer. Afterwards nothing is replayed: a failure is an error for the caller, and ends the stream.
 *
 * @param waitedMs how long the caller has waited for the stream, which is part of the wait for its first part
 */
export const openStream = async <Part>(
  source: PartSource<Part>,
  format: PartFormat<Part>,
  attempt: ModelAttempt,
  waitedMs = 0,
): Promise<OpenedStream<Part>> => {
  const { limits } = attempt;
  const head: Part[] = [];
  const shortened = (ms: number): number =>
    limits.firstChunkMs === undefined ? ms : Math.max(1, Math.min(ms, limits.firstChunkMs - attempt.ranMs));
  let limitMs = shortened(Math.max(1, limits.firstByteMs - waitedMs));
  let meaning: PartMeaning = 'held';
  try {
    while (meaning === 'held' || meaning === 'ping') {
      const { done, value } = await attempt.wait(source.next(), limitMs);
      if (done) {
        if (format.mustFinish) throw cut(attempt, CUT);
        break;
      }
      meaning = format.meaning(value as Part);
      throwIfFailed(meaning, attempt, false);
      head.push(value as Part);
      if (meaning === 'ping') attempt.pinged();
      else limitMs = shortened(limits.heldMs);
    }
  } catch (error) {
    source.cancel();
    throw error;
  }
  attempt.visible();
  return meaning === 'held' || meaning === 'ping' ? ended(head, attempt) : handOut(head, source, format, attempt);
};

/** A stream that ended without anything visible, where that is no error. */
const ended = <Part>(head: readonly Part[], attempt: ModelAttempt): OpenedStream<Part> => {
  const parts = head.values();
  attempt.succeeded();
  return { next: async () => parts.next() as IteratorResult<Part, undefined>, cancel: () => {} };
};

const handOut = <Part>(
  head: readonly Part[],
  source: PartSource<Part>,
  format: PartFormat<Part>,
  attempt: ModelAttempt,
): OpenedStream<Part> => {
  let at = 0;
  let isOver = false;
  let isComplete = false;
  let last: Promise<unknown> | undefined;
  const fail = (error: unknown): Part => {
    isOver = true;
    source.cancel();
    const failed = attempt.failed(error);
    const part = format.failed(failed.error);
    if (part === undefined) throw failed.error;
    return part;
  };
  const told = (part: Part): Part => {
    const meaning = format.meaning(part);
    if (meaning === 'ping') attempt.pinged();
    if (typeof meaning === 'string') return part;
    throwIfFailed(meaning, attempt, true);
    if (!('facts' in meaning)) return part;
    const finished = format.finished(part, attempt);
    attempt.succeeded(meaning.facts);
    if (meaning.goesOn) isComplete = true;
    else end();
    return finished;
  };
  const end = (): typeof END => {
    isOver = true;
    source.cancel();
    return END;
  };
  const step = async (): Promise<IteratorResult<Part, undefined>> => {
    if (isOver) return END;
    try {
      if (at < head.length) return { done: false, value: told(head[at++] as Part) };
      const { done, value } = await attempt.wait(source.next(), isComplete ? REST_MS : attempt.limits.stallMs);
      if (isOver) return END; // The reader left while it waited.
      if (!done) return { done: false, value: isComplete ? (value as Part) : told(value as Part) };
      if (format.mustFinish && !isComplete) throw cut(attempt, CUT);
      isOver = true;
      attempt.succeeded();
      return END;
    } catch (error) {
      if (isOver) return END;
      // The answer is whole: the reader misses nothing that it can see.
      return isComplete ? end() : { done: false, value: fail(error) };
    }
  };
  return {
    /** One after the other, also for a reader that asks again before it has an answer. */
    next: () => {
      const next = last === undefined ? step() : last.then(step, step);
      const done = (): void => {
        if (last === next) last = undefined;
      };
      last = next;
      next.then(done, done);
      return next;
    },
    cancel: (reason) => {
      if (isOver) return;
      isOver = true;
      source.cancel(reason);
      attempt.left();
    },
  };
};

/** The rest of a stream as a web stream. `errorOf`: the error after which the stream fails, if a part is one. */
export const readableOf = <Part>(
  opened: OpenedStream<Part>,
  errorOf: (part: Part) => { readonly error: unknown } | undefined = () => undefined,
): ReadableStream<Part> =>
  new ReadableStream<Part>(
    {
      pull: async (controller) => {
        const { done, value } = await opened.next();
        if (done) return controller.close();
        controller.enqueue(value);
        const failed = errorOf(value);
        if (failed !== undefined) controller.error(failed.error);
      },
      cancel: opened.cancel,
    },
    { highWaterMark: 0 },
  );

const cut = (attempt: ModelAttempt, verdict: ModelVerdict): JudgedError =>
  new JudgedError(new ModelStreamError(attempt.candidate.model, CUT_WORDS), verdict);

const throwIfFailed = (meaning: PartMeaning, attempt: ModelAttempt, isVisible: boolean): void => {
  if (typeof meaning === 'string') return;
  if ('error' in meaning) throw meaning.error;
  const { end } = meaning;
  if (end === 'complete' || (end === 'empty' && isVisible)) return;
  if (end === 'cut') throw cut(attempt, CUT);
  const what = end === 'empty' ? 'gave an empty answer.' : 'stopped its answer because of an error.';
  throw new JudgedError(new ModelStreamError(attempt.candidate.model, what), EMPTY);
};

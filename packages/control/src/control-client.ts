import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { fittingParts, warnOfIgnored } from './fitting.ts';
import { LimitError, parsedJson } from './json-parts.ts';
import { ActionRequest, ActionResponse, Problem, ProcessState, Report } from './schema.ts';
import { roomedBoxes } from './state-room.ts';
import { requestTo, shownUrl, type Target } from './target.ts';
import { inTurns, type Parts, type Worked } from './turns.ts';

/** An answer that is not about an action: no such token, a malformed request. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
  /** The HTTP status; undefined if nothing answered. */
  readonly status: number | undefined;
  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Milliseconds that an endpoint may take for its whole answer. A stopped process never answers. */
const TIMEOUT_MS = 5_000;
/** How often a read is asked for again if its connection was closed: an endpoint under attack closes some that are not known yet. */
const MORE_READS = 2;
const AGAIN_MS = 50;
/** Bytes of an answer at most. The control API writes 4 MB and the names of tools and modes, which are short. */
const MOST_BYTES = 6 * 1024 * 1024;
/** An answer may have so many parts, and one more for each so many bytes. Each part takes memory and time, however small it is. */
const SMALL_PARTS = 1_000;
const LEAST_PART = 64;
/** Bytes of the states that one process keeps of all endpoints together. */
const MOST_KEPT = 64 * 1024 * 1024;

/**
 * What a process does now, with all its sessions (at most 500 of a box), or the ones with an id. A connection that the endpoint closes is
 * made again, twice at most.
 *
 * @throws ControlError if nothing answers, or if the request is refused.
 */
export const readState = (target: Target, session?: string): Promise<ProcessState> =>
  readShare(target, session).then(({ result }) => result);

/** An endpoint that answered, or why it did not. */
export type Read =
  | { readonly target: Target; readonly state: ProcessState; readonly error?: undefined }
  | { readonly target: Target; readonly state?: undefined; readonly error: ControlError };

/**
 * {@link readState} of several endpoints at once. If they are many, each may fill its share of 64 MB: sessions beyond it are counted in
 * `sessionsLeftOut`. Never throws.
 */
export const readStates = (targets: readonly Target[], session?: string): Promise<readonly Read[]> =>
  Promise.all(
    targets.map(async (target): Promise<Read> => {
      try {
        return { target, state: (await readShare(target, session, targets.length)).result };
      } catch (error) {
        return { target, error: error instanceof ControlError ? error : new ControlError(String(error)) };
      }
    }),
  );

/** The state that one of so many endpoints may fill, and the milliseconds that reading it took. */
export const readShare = (target: Target, session?: string, endpoints = 1): Promise<Worked<ProcessState>> => {
  const path = `/v1/state${session === undefined ? '' : `?${new URLSearchParams({ session })}`}`;
  return askMeasured(target, 'GET', path, undefined, function* (bytes) {
    const state = yield* answerOf(ProcessState, target, bytes);
    const room = MOST_KEPT / endpoints;
    return state && bytes.length > room ? { ...state, boxes: yield* roomedBoxes(state.boxes, room) } : state;
  });
};

/**
 * The report of a live session, as text: why it is paused, and what to do.
 *
 * @throws ControlError if nothing answers, or if there is no such session.
 */
export const readReport = (target: Target, agent: string, session: string): Promise<Report> =>
  ask(Report, target, 'GET', `/v1/report?${new URLSearchParams({ agent, session })}`);

/**
 * Checks an action before it is asked for.
 *
 * @throws ControlError that says what is wrong with it.
 */
export const checkedAction = (action: unknown): ActionRequest => {
  const { data, error } = ActionRequest.safeParse(action);
  if (data !== undefined) return data;
  throw new ControlError(`The action is not valid: ${z.prettifyError(error)}`);
};

/**
 * Asks for an action. A stale or unknown one is an answer, not an error.
 *
 * @throws ControlError if nothing answers, or if the request is refused.
 */
export const perform = (target: Target, action: ActionRequest): Promise<ActionResponse> =>
  ask(ActionResponse, target, 'POST', '/v1/actions', JSON.stringify(action));

const ask = async <Answer>(
  expected: z.ZodType<Answer>,
  target: Target,
  method: string,
  path: string,
  body?: string,
) => {
  const { result } = await askMeasured(target, method, path, body, (bytes) => answerOf(expected, target, bytes));
  return result;
};

/** `read` gives undefined for what is not the answer. */
const askMeasured = async <Answer>(
  target: Target,
  method: string,
  path: string,
  body: string | undefined,
  read: (bytes: Buffer) => Parts<Answer | undefined>,
): Promise<Worked<Answer>> => {
  const { status, bytes } = await sendAgain(body === undefined ? MORE_READS : 0, target, method, path, body);
  try {
    const { result, spentMs } = await inTurns(read(bytes));
    if (result !== undefined) return { result, spentMs };
  } catch (error) {
    if (!(error instanceof LimitError)) throw error;
    throw new ControlError(`${shownUrl(target)} gave an answer that ${error.message}. ${CHECK}`, status);
  }
  const { result } = await inTurns(answerOf(Problem, target, bytes));
  throw new ControlError(
    result?.error ??
      `${shownUrl(target)} answered with status ${status}, but not as a control API of this version of Breakerbox. ${CHECK}`,
    status,
  );
};

const CHECK = 'Check the address, and that both sides have the same version.';

/** 409 and 404 are results of an action too. */
function* answerOf<Answer>(expected: z.ZodType<Answer>, target: Target, bytes: Buffer): Parts<Answer | undefined> {
  const { data, error } = yield* fittingParts(expected, yield* answerJson(bytes));
  if (data !== undefined && error !== undefined) warnOfIgnored(target, error);
  return data;
}

/** Undefined for what is not JSON. */
function* answerJson(bytes: Buffer): Parts<unknown> {
  try {
    return yield* parsedJson(bytes);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** An action is asked for once: the endpoint may have carried it out. */
const sendAgain = async (more: number, ...request: Parameters<typeof send>): ReturnType<typeof send> => {
  try {
    return await send(...request);
  } catch (error) {
    if (more === 0 || !isClosed(error)) throw error;
    await wait(AGAIN_MS * (1 + Math.random()));
    return sendAgain(more - 1, ...request);
  }
};

const isClosed = (error: unknown): boolean =>
  error instanceof ControlError &&
  ['ECONNRESET', 'EPIPE'].includes((error.cause as NodeJS.ErrnoException | undefined)?.code ?? '');

const send = (
  target: Target,
  method: string,
  path: string,
  body: string | undefined,
): Promise<{ readonly status: number; readonly bytes: Buffer }> =>
  new Promise((resolve, reject) => {
    const unreachable = (cause: Error) =>
      reject(new ControlError(`no valid answer from ${shownUrl(target)}: ${cause.message}`, undefined, { cause }));
    const headers =
      body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
    // A kept-alive connection may have been closed meanwhile, and an action is not asked for again.
    const options = { path, method, headers, ...(body !== undefined && { agent: false }) };
    const sent = requestTo(target, options, (response) => {
      const parts: Buffer[] = [];
      let left = MOST_BYTES;
      response.on('data', (part: Buffer) => {
        left -= part.byteLength;
        parts.push(part);
        if (left < 0)
          sent.destroy(new Error(`the answer has more than ${MOST_BYTES / 1024 / 1024} MB. Ask for one session`));
        else if (parts.length > SMALL_PARTS + (MOST_BYTES - left) / LEAST_PART)
          sent.destroy(new Error('the answer comes in too many small parts'));
      });
      response.on('error', unreachable);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes: Buffer.concat(parts) }));
    });
    const timer = setTimeout(
      () =>
        sent.destroy(
          new Error(
            `the answer was not complete after ${TIMEOUT_MS / 1000} s. The process may be stopped or overloaded`,
          ),
        ),
      TIMEOUT_MS,
    ).unref();
    sent.on('close', () => clearTimeout(timer));
    sent.on('error', unreachable);
    sent.end(body);
  });

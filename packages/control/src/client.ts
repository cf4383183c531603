import { z } from 'zod';
import { ActionRequest, type ActionResponse, type ProcessState, type Report } from './schema.ts';
import { requestTo, type Target } from './target.ts';

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

/** Milliseconds that an endpoint may take. A stopped process never answers. */
const TIMEOUT_MS = 5_000;

/**
 * What a process does now.
 *
 * @throws ControlError if nothing answers, or if the request is refused.
 */
export const readState = async (target: Target): Promise<ProcessState> =>
  (await ask(target, 'GET', '/v1/state')).body as ProcessState;

/**
 * The report of a live session, as text: why it is paused, and what to do.
 *
 * @throws ControlError if nothing answers, or if there is no such session.
 */
export const readReport = async (target: Target, agent: string, session: string): Promise<Report> =>
  (await ask(target, 'GET', `/v1/report?${new URLSearchParams({ agent, session })}`)).body as Report;

/**
 * Checks an action before it is asked for.
 *
 * @throws ControlError that says what is wrong with it.
 */
export const checkedAction = (action: unknown): ActionRequest => {
  const { data, error } = ActionRequest.safeParse(action);
  if (data !== undefined) return data;
  throw new ControlError(`This is no action: ${z.prettifyError(error)}`);
};

/**
 * Asks for an action. A stale or unknown one is an answer, not an error.
 *
 * @throws ControlError if nothing answers, or if the request is refused.
 */
export const perform = async (target: Target, action: ActionRequest): Promise<ActionResponse> =>
  (await ask(target, 'POST', '/v1/actions', JSON.stringify(action))).body as ActionResponse;

const ask = async (
  target: Target,
  method: string,
  path: string,
  body?: string,
): Promise<{ readonly status: number; readonly body: unknown }> => {
  const { status, text } = await send(target, method, path, body);
  const answer = parsed(text);
  if (status < 300 || (answer !== undefined && 'result' in answer)) return { status, body: answer };
  throw new ControlError(String(answer?.error ?? `${target.url} answered ${status}`), status);
};

const parsed = (text: string): { readonly error?: unknown } | undefined => {
  try {
    return JSON.parse(text) as { readonly error?: unknown };
  } catch {
    return undefined;
  }
};

const send = (
  target: Target,
  method: string,
  path: string,
  body: string | undefined,
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const unreachable = (cause: Error) =>
      reject(new ControlError(`${target.url} does not answer: ${cause.message}`, undefined, { cause }));
    const headers =
      body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
    const sent = requestTo(target, { path, method, timeout: TIMEOUT_MS, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', unreachable);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
    sent.on('error', unreachable);
    sent.end(body);
  });

export { readChanges } from './change-reader.ts';
export type { Change } from './changes.ts';
export type { ActionRequest, ActionResponse, BoxState, ProcessState, Report, SessionState } from './schema.ts';
export type { Target } from './target.ts';

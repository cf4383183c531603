import type { ActionRequest, ActionResponse, ProcessState } from './schema.ts';
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

export type { ActionResponse, BoxState, ProcessState, SessionState } from './schema.ts';
export { type ActionRequest, ActionRequest as ActionSchema } from './schema.ts';
export type { Target } from './target.ts';

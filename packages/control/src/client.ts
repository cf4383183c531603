import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ActionRequest, ActionResponse, ProcessState } from './schema.ts';

/** Where a control API is: `unix:PATH`, or a URL with a token. */
export interface Target {
  readonly url: string;
  readonly token?: string | undefined;
  /** The name to claim on a socket. */
  readonly user?: string | undefined;
}

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

const optionsOf = ({ url }: Target, path: string): RequestOptions => {
  if (url.startsWith('unix:')) return { socketPath: url.slice('unix:'.length), path };
  const { hostname, port, protocol } = new URL(url);
  return { hostname: hostname.replace(/^\[|\]$/g, ''), port, protocol, path };
};

const send = (
  target: Target,
  method: string,
  path: string,
  body: string | undefined,
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const { url, token, user } = target;
    const unreachable = (cause: Error) =>
      reject(new ControlError(`${url} does not answer: ${cause.message}`, undefined, { cause }));
    const sent = (url.startsWith('https:') ? httpsRequest : httpRequest)(
      {
        ...optionsOf(target, path),
        method,
        timeout: TIMEOUT_MS,
        headers: {
          ...(url.startsWith('unix:') && { host: 'localhost' }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(user !== undefined && { 'breakerbox-user': user }),
          ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', unreachable);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
      },
    );
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
    sent.on('error', unreachable);
    sent.end(body);
  });

export type { ActionResponse, BoxState, ProcessState, SessionState } from './schema.ts';
export { type ActionRequest, ActionRequest as ActionSchema } from './schema.ts';

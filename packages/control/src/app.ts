import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { OperatorResult } from '@breakerbox/core';
import { safeJson } from '@breakerbox/core/internal';
import { formatReport, report } from '@breakerbox/core/report';
import type { Admission, Shares } from '@breakerbox/listen';
import { diag } from '@opentelemetry/api';
import { type Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { act, having } from './act.ts';
import type { AgentModes } from './agent-modes.ts';
import type { Actor, Audit } from './audit.ts';
import { concernOf } from './audit-state.ts';
import type { Changes } from './changes.ts';
import { STREAMS } from './control-server.ts';
import { isKnownHost, isKnownOrigin, METHODS, MOST_BODY } from './guards.ts';
import { openApi } from './open-api.ts';
import { fleetState, type OperatedFleet } from './operated-fleet.ts';
import { ActionRequest, type ActionResponse, type BoxState, type ProcessState, type Report } from './schema.ts';
import { shareState } from './shared-state.ts';
import { type Boxes, boxStates, havingSession } from './state.ts';
import { boxesText } from './state-room.ts';
import { changeStream, takeStream } from './stream.ts';
import type { TokenReader } from './token-reader.ts';
import type { Role } from './tokens.ts';
import { ownTurn } from './turns.ts';

/** What the endpoint serves. */
export interface Endpoint {
  readonly admission: Admission;
  /** Streams of changes, by client. */
  readonly streams: Shares;
  readonly boxes: Boxes;
  readonly fleet?: OperatedFleet | undefined;
  /** For boxes that are made later. */
  readonly modes: AgentModes;
  readonly audit: Audit;
  readonly changes: Changes;
  /** Reads the tokens; undefined on a Unix socket, where the mode of the socket authenticates. */
  readonly tokens: TokenReader | undefined;
  /** More names in `Host` than those of this machine. */
  readonly hosts: readonly string[];
}

interface Env {
  Variables: { actor: Actor; role: Role };
  Bindings: { incoming: IncomingMessage };
}

/** Names of agents and tools are read with `curl` in a terminal too. */
const jsonText = (c: Context<Env>, text: string, status: ContentfulStatusCode = 200) =>
  c.body(text, status, { 'Content-Type': 'application/json' });
/** An error may repeat what the client sent. */
const problem = (c: Context<Env>, error: string, status: ContentfulStatusCode) =>
  jsonText(c, safeJson({ error }), status);
const withBoxes = (own: Omit<ProcessState, 'boxes'> | Omit<ActionResponse, 'boxes'>, boxes: string): string =>
  `${safeJson(own).slice(0, -1)},"boxes":${boxes}}`;

const CODES = { done: 200, stale: 409, unknown: 404 } as const;
const startedUnixMs = Date.now();

/** The control API (A2, A3, A5, A6). */
export const createApp = (endpoint: Endpoint): Hono<Env> => {
  const app = new Hono<Env>();

  app.use(async (c, next) => {
    c.header('Cache-Control', 'no-store');
    c.header('X-Content-Type-Options', 'nosniff');
    /** A client that gets nothing here keeps no connection either. */
    const refuse = (error: string, status: 401 | 403 | 405 | 429 | 500) => {
      c.header('Connection', 'close');
      return problem(c, error, status);
    };
    const host = c.req.header('host');
    if (!isKnownHost(host, endpoint.hosts))
      return refuse(
        `This endpoint does not answer for the host ${host ?? '(none)'}. Add the name to listen.hosts of startControl, or to BREAKERBOX_CONTROL_HOSTS.`,
        403,
      );
    if (!METHODS.has(c.req.method)) return refuse('Use GET, or POST for an action.', 405);
    const socket = c.env?.incoming?.socket;
    const { error, status, role, actor } = await callerOf(endpoint, c.req.header(), socket?.remoteAddress);
    if (error !== undefined) return refuse(error, status);
    if (!endpoint.admission.recognize(socket, actor.who)) return refuse(TOO_MANY, 429);
    const isGone = (): boolean => socket?.destroyed === true;
    await ownTurn(isGone);
    if (isGone() && c.req.method === 'GET') return c.body(null); // No client reads it.
    c.set('role', role);
    c.set('actor', actor);
    if (c.req.method !== 'GET') {
      if (!isKnownOrigin(c.req.header('origin'), host))
        return problem(
          c,
          'The Origin header of this request is another website. Send the request without Origin.',
          403,
        );
      if (role !== 'operate') return problem(c, 'This token may only view. Use one with the role operate.', 403);
      if (Number(c.req.header('content-length') ?? Number.POSITIVE_INFINITY) > MOST_BODY)
        return problem(c, `The body must have a Content-Length of at most ${MOST_BODY} bytes.`, 413);
    }
    return next();
  });

  const state = shareState(endpoint.boxes);
  app.get('/v1/state', (c) => {
    const own = {
      pid: process.pid,
      startedUnixMs,
      role: c.get('role'),
      fleet: fleetState(endpoint.fleet),
    } satisfies Omit<ProcessState, 'boxes'>;
    const session = c.req.query('session');
    const boxes = session === undefined ? state.text() : boxesText(boxStates(endpoint.boxes, { session }));
    return jsonText(c, withBoxes(own, boxes));
  });

  app.get('/v1/report', (c) => {
    const { agent = '', session = '' } = c.req.query();
    const [one] = havingSession(endpoint.boxes.list(agent), session);
    if (one === undefined) return problem(c, `Agent ${agent} has no live session ${session}.`, 404);
    return jsonText(c, safeJson({ text: formatReport(report(one.found.session)) } satisfies Report));
  });

  // One after the other: each finds the state that the one before it left.
  let last: Promise<unknown> = Promise.resolve();
  app.post('/v1/actions', async (c) => {
    const body = ActionRequest.safeParse(await c.req.json().catch(() => undefined));
    if (!body.success) return problem(c, `The body is not an action. ${z.prettifyError(body.error)}`, 400);
    const request = body.data;
    const run = last.then(() => perform(endpoint, request, c.get('actor')));
    last = run.catch(() => undefined);
    try {
      const { result, message, boxes } = await run;
      state.forget();
      return jsonText(c, withBoxes({ result, message }, boxesText(boxes)), CODES[result]);
    } catch (error) {
      count(endpoint, request, 'refused');
      return problem(c, `The action was not done: ${error instanceof Error ? error.message : 'unknown error'}`, 500);
    }
  });

  app.get('/v1/changes', (c) => {
    const drop = takeStream(endpoint.streams, c.get('actor').who, c.env?.incoming?.socket);
    if (drop === undefined) return problem(c, TOO_MANY_STREAMS, 429);
    const headers = c.req.header();
    const isAdmitted = async (): Promise<boolean> => (await callerOf(endpoint, headers)).error === undefined;
    return c.body(changeStream(endpoint.changes, isAdmitted, drop), 200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
    });
  });

  app.get('/v1/openapi.json', (c) => c.json(openApi()));

  app.onError((error, c) => {
    diag.error(`@breakerbox/control: ${error.message}`);
    return problem(c, "The request failed. The agent's process wrote the cause to its OpenTelemetry diag log.", 500);
  });
  return app;
};

const TOO_MANY =
  'All connections for clients with a token are in use, and this token has as many of them as any other. Close some, such as breakerbox ctl watch.';
const TOO_MANY_STREAMS = `This token already has ${STREAMS.each} streams of changes, or all tokens together have ${STREAMS.all}. Close some, such as breakerbox ctl watch.`;

/** Records the request, acts, and records what became of it (A6). */
const perform = async (
  endpoint: Endpoint,
  request: ActionRequest,
  actor: Actor,
): Promise<ReturnType<typeof act> & { readonly boxes: readonly BoxState[] }> => {
  const { audit, changes } = endpoint;
  const id = randomUUID();
  const at = (): string => new Date().toISOString();
  const concern = (): readonly unknown[] => concernOf(endpoint.boxes, request, actor.who);
  await audit.write({ phase: 'asked', id, at: at(), request, before: concern(), ...actor });
  // If this fails, the first line still says who asked for it.
  const ended = (result: string): Promise<void> =>
    audit.write({ phase: 'ended', id, at: at(), result, after: concern() }).catch(() => undefined);
  let acted: ReturnType<typeof act>;
  try {
    // Looked up now: boxes may have been made while the line was written.
    const { agent } = request;
    acted = act(
      { boxes: endpoint.boxes.list(agent), version: endpoint.boxes.version(agent), modes: endpoint.modes },
      request,
      actor.who,
    );
  } catch (error) {
    await ended('refused');
    throw error;
  }
  const { action: to, agent, tool, session, reason } = { tool: undefined, reason: whyOf(request), ...request };
  if (acted.result === 'done')
    changes.add({ kind: 'action', agent, session, tool, to, who: actor.who, reason, unixMs: Date.now() });
  count(endpoint, request, acted.result);
  await ended(acted.result);
  return { ...acted, boxes: boxStates(endpoint.boxes, { agent }) };
};

/** Which limit, and by how much. Its unit is that of the limit. */
const whyOf = (request: ActionRequest): string | undefined =>
  request.action === 'extend' ? `${request.limit} + ${request.by.toLocaleString('en-US')}` : undefined;

/** Once, however many boxes it concerns (A6). */
const count = (endpoint: Endpoint, request: ActionRequest, result: OperatorResult): void => {
  const { action, tool, session } = { tool: undefined, ...request };
  const boxes = endpoint.boxes.list(request.agent);
  const concerned =
    tool === undefined && session !== undefined ? havingSession(boxes, session) : having(boxes, tool ?? '');
  (concerned[0] ?? boxes[0])?.operator.count({ action, result, tool, session });
};

/** A header has ASCII alone, so that other letters of a name are percent-encoded. */
const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};

type Caller =
  | { readonly error: string; readonly status: 401 | 500; readonly role?: undefined; readonly actor?: undefined }
  | { readonly error?: undefined; readonly status?: undefined; readonly role: Role; readonly actor: Actor };

/** Who asks has shown no token yet, so the answer does not name the file. */
const NO_TOKENS =
  'This agent cannot use its file of tokens: it is missing, malformed, or readable by other users. To see which, run on its machine: breakerbox ctl token list --file FILE';

const callerOf = async (
  { tokens }: Endpoint,
  headers: Readonly<Record<string, string>>,
  address = 'socket',
): Promise<Caller> => {
  if (tokens === undefined) {
    const claimed = decoded(headers['breakerbox-user'] ?? '').replaceAll(/\p{C}/gu, '');
    const who = claimed.trim().slice(0, 100) || 'unknown';
    return { role: 'operate', actor: { who, by: 'socket', from: 'socket' } };
  }
  const [, shown] = /^Bearer (bbx_[\w-]{1,100})$/i.exec(headers.authorization ?? '') ?? [];
  if (shown === undefined)
    return {
      error:
        'This endpoint needs a token: send the header Authorization: Bearer bbx_…. For breakerbox ctl and console, set --token or BREAKERBOX_CONTROL_TOKEN. breakerbox ctl token create makes a token.',
      status: 401,
    };
  const token = await tokens(shown).catch(() => 'unreadable' as const);
  if (token === 'unreadable') return { error: NO_TOKENS, status: 500 };
  if (token === undefined)
    return {
      error: 'The token is unknown or was revoked. Use another one, or make one with breakerbox ctl token create.',
      status: 401,
    };
  return { role: token.role, actor: { who: token.name, by: 'token', from: address } };
};

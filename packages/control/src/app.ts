import { randomUUID } from 'node:crypto';
import { formatReport, report } from '@breakerbox/core/report';
import { diag } from '@opentelemetry/api';
import { Hono } from 'hono';
import { z } from 'zod';
import { act, notDone } from './act.ts';
import type { Actor, Audit } from './audit.ts';
import type { Changes } from './changes.ts';
import { isKnownHost, isKnownOrigin } from './guards.ts';
import { openApi } from './open-api.ts';
import { ActionRequest, type ActionResponse, type BoxState, type ProcessState, type Report } from './schema.ts';
import { shareState } from './shared-state.ts';
import { boxState, type OperatedBox } from './state.ts';
import { changeStream } from './stream.ts';
import { matching, type Role, readTokens } from './tokens.ts';

/** What the endpoint serves. */
export interface Endpoint {
  boxes(): readonly OperatedBox[];
  readonly audit: Audit;
  readonly changes: Changes;
  /** The file of tokens; undefined on a Unix socket, where the mode of the socket authenticates. */
  readonly tokens: string | undefined;
  /** More names in `Host` than those of this machine. */
  readonly hosts: readonly string[];
}

/** Largest body of a request. */
const MOST_BYTES = 16_384;

interface Env {
  Variables: { actor: Actor; role: Role };
  Bindings: { incoming: { socket: { remoteAddress?: string } }; outgoing: { destroy(): void } };
}

const CODES = { done: 200, stale: 409, unknown: 404 } as const;
const startedUnixMs = Date.now();

/** The control API (A2, A3, A5, A6). */
export const createApp = (endpoint: Endpoint): Hono<Env> => {
  const app = new Hono<Env>();

  app.use(async (c, next) => {
    c.header('Cache-Control', 'no-store');
    c.header('X-Content-Type-Options', 'nosniff');
    const host = c.req.header('host');
    if (!isKnownHost(host, endpoint.hosts))
      return c.json({ error: `This endpoint does not answer for the host ${host ?? '(none)'}. Add it to hosts.` }, 403);
    const { error, role, actor } = await callerOf(endpoint, c.req.header(), c.env?.incoming?.socket?.remoteAddress);
    if (error !== undefined) return c.json({ error }, 401);
    c.set('role', role);
    c.set('actor', actor);
    if (c.req.method !== 'GET') {
      if (!isKnownOrigin(c.req.header('origin'), host))
        return c.json({ error: 'The request comes from another page.' }, 403);
      if (role !== 'operate') return c.json({ error: 'This token may only view. Use one with the role operate.' }, 403);
      if (Number(c.req.header('content-length') ?? Number.POSITIVE_INFINITY) > MOST_BYTES)
        return c.json({ error: `The body must have a Content-Length of at most ${MOST_BYTES} bytes.` }, 413);
    }
    return next();
  });

  const state = shareState(endpoint.boxes);
  app.get('/v1/state', (c) => {
    const own = { pid: process.pid, startedUnixMs, role: c.get('role') } satisfies Omit<ProcessState, 'boxes'>;
    return c.body(`${JSON.stringify(own).slice(0, -1)},"boxes":${state.text()}}`, 200, {
      'Content-Type': 'application/json',
    });
  });

  app.get('/v1/report', (c) => {
    const { agent = '', session = '' } = c.req.query();
    const found = endpoint.boxes().find(({ box, operator }) => box.agent === agent && operator.session(session));
    const live = found?.operator.session(session);
    if (live === undefined) return c.json({ error: `Agent ${agent} has no live session ${session}.` }, 404);
    return c.json({ text: formatReport(report(live)) } satisfies Report);
  });

  // One after the other: each finds the state that the one before it left.
  let last: Promise<unknown> = Promise.resolve();
  app.post('/v1/actions', async (c) => {
    const body = ActionRequest.safeParse(await c.req.json().catch(() => undefined));
    if (!body.success) return c.json({ error: `The body is not an action. ${z.prettifyError(body.error)}` }, 400);
    const request = body.data;
    const run = last.then(() => perform(endpoint, request, c.get('actor')));
    last = run.catch(() => undefined);
    try {
      const { result, message, boxes } = await run;
      state.forget();
      return c.json({ result, message, boxes: [...boxes] } satisfies ActionResponse, CODES[result]);
    } catch (error) {
      for (const { operator } of concernedBy(endpoint, request)) operator.notDone(notDone(request, 'refused'));
      return c.json(
        { error: `The action was not done: ${error instanceof Error ? error.message : 'unknown error'}` },
        500,
      );
    }
  });

  app.get('/v1/changes', (c) =>
    c.body(
      changeStream(endpoint.changes, () => c.env.outgoing.destroy()),
      200,
      { 'Content-Type': 'text/event-stream; charset=utf-8' },
    ),
  );

  app.get('/v1/openapi.json', (c) => c.json(openApi()));

  // Such as a file of tokens that cannot be read. Who asks has shown no token yet, so the answer does not say why.
  app.onError((error, c) => {
    diag.error(`@breakerbox/control: ${error.message}`);
    return c.json({ error: 'The request failed. The log of the agent says why.' }, 500);
  });
  return app;
};

/** Records the request, acts, and records what became of it (A6). */
const perform = async (
  endpoint: Endpoint,
  request: ActionRequest,
  actor: Actor,
): Promise<ReturnType<typeof act> & { readonly boxes: readonly BoxState[] }> => {
  const { audit, changes } = endpoint;
  const concerned = concernedBy(endpoint, request);
  const id = randomUUID();
  const at = (): string => new Date().toISOString();
  const before = concerned.map((one) => concern(boxState(one), request));
  await audit.write({ phase: 'asked', id, at: at(), request, before, ...actor });
  const ended = (result: string, after: readonly BoxState[]): Promise<void> =>
    audit
      .write({ phase: 'ended', id, at: at(), result, after: after.map((one) => concern(one, request)) })
      .catch(() => undefined); // The first line says who asked for it.
  let acted: ReturnType<typeof act>;
  try {
    acted = act(concerned, request, actor.who);
  } catch (error) {
    await ended('refused', concerned.map(boxState));
    throw error;
  }
  const { agent, tool, session } = { tool: undefined, ...request };
  if (acted.result === 'done')
    changes.add({ kind: 'action', agent, session, tool, to: request.action, who: actor.who, unixMs: Date.now() });
  const after = concerned.map(boxState);
  await ended(acted.result, after);
  return { ...acted, boxes: after };
};

const concernedBy = ({ boxes }: Endpoint, { agent }: ActionRequest): readonly OperatedBox[] =>
  boxes().filter(({ box }) => box.agent === agent);

/** The part of the state that an action is about. */
const concern = ({ version, modes, sessions }: BoxState, request: ActionRequest): unknown => {
  const tool = 'tool' in request ? request.tool : undefined;
  if (tool !== undefined) return { version, modes: modes.filter((one) => one.tool === tool) };
  const session = sessions.find(({ id }) => id === request.session);
  return session && { state: session.state, cycle: session.budget.cycle, event: session.event?.id };
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
  | { readonly error: string; readonly role?: undefined; readonly actor?: undefined }
  | { readonly error?: undefined; readonly role: Role; readonly actor: Actor };

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
  const [, shown] = /^Bearer (bbx_[\w-]{1,100})$/.exec(headers.authorization ?? '') ?? [];
  if (shown === undefined)
    return { error: 'A token is needed: Authorization: Bearer bbx_… (breakerbox ctl token create).' };
  const token = matching(await readTokens(tokens), shown);
  if (token === undefined) return { error: 'There is no such token, or it was revoked.' };
  return { role: token.role, actor: { who: token.name, by: 'token', from: address } };
};

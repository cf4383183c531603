import type { IncomingMessage } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import { safeJson } from '@breakerbox/core/internal';
import type { Admission, Shares } from '@breakerbox/listen';
import { diag } from '@opentelemetry/api';
import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { isKnownHost, isKnownOrigin, METHODS, MOST_BODY } from '../guards.ts';
import { ActionRequest } from '../schema.ts';
import { changeStream, takeStream } from '../stream.ts';
import type { ConsoleAction, ConsoleState } from './console-state.ts';
import { type EndpointWatch, shownEndpoint } from './endpoint-watch.ts';
import { fanOut } from './fan-out.ts';
import type { MergedChanges } from './merged-changes.ts';
import type { PageFile } from './page-files.ts';
import { SIGNED_IN_MS, type SignIn } from './sign-in.ts';

/** What the console serves. */
export interface Console {
  readonly signIn: SignIn;
  readonly watch: EndpointWatch;
  readonly changes: MergedChanges;
  readonly page: ReadonlyMap<string, PageFile>;
  /** More names in `Host` than those of this machine. */
  readonly hosts: readonly string[];
  readonly admission: Admission;
  /** Streams of changes, by browser. */
  readonly streams: Shares;
}

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

const SignInRequest = z.strictObject({ token: z.string().max(200) });
const ActionBody = z.strictObject({
  action: ActionRequest,
  versions: z.record(z.string(), z.number().int()).optional(),
  endpoint: z.string().optional(),
}) satisfies z.ZodType<ConsoleAction>;

/** A cookie is sent to all ports of a host, so two consoles need two names. */
const cookieName = (c: Context): string =>
  `breakerbox_console_${/:(\d+)$/.exec(c.req.header('host') ?? '')?.[1] ?? 80}`;

interface Env {
  Bindings: { incoming: IncomingMessage };
  Variables: { browser: string };
}

/** Answers are read with `curl` in a terminal too, and an error may repeat what the client sent. */
const jsonText = (c: Context, text: string, status: ContentfulStatusCode = 200) =>
  c.body(text, status, { 'Content-Type': 'application/json' });
const json = (c: Context, value: object, status?: ContentfulStatusCode) => jsonText(c, safeJson(value), status);

/** The page, and the API that the page uses (A8). */
export const createConsoleApp = (console: Console): Hono<Env> => {
  const { signIn, watch, changes, page, hosts, admission, streams } = console;
  const browserOf = (c: Context): string | undefined => signIn.browserOf(getCookie(c, cookieName(c)));
  /** A client that gets nothing here keeps no connection either. */
  const refuse = (c: Context, error: string, status: 401 | 429 | RejectedRequest['status']) => {
    c.header('Connection', 'close');
    return json(c, { error }, status);
  };
  const app = new Hono<Env>();

  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
    const rejection = rejectionOf(c, hosts);
    if (rejection !== undefined) return refuse(c, rejection.error, rejection.status);
    return next();
  });

  app.use('/api/*', async (c, next) => {
    if (c.req.path === '/api/sign-in') return next();
    const browser = browserOf(c);
    if (browser === undefined)
      return refuse(c, 'This browser is not signed in. Open the link that breakerbox console prints.', 401);
    c.set('browser', browser);
    if (!admission.recognize(c.env?.incoming?.socket, browser))
      return refuse(c, 'Too many connections of this console are in use. Close some of its tabs.', 429);
    return next();
  });

  app.post('/api/sign-in', async (c) => {
    const body = SignInRequest.safeParse(await c.req.json().catch(() => undefined));
    const cookie = body.success ? signIn.exchange(body.data.token) : undefined;
    if (cookie === undefined)
      return refuse(
        c,
        'The link is wrong, already used, or older than 10 minutes. Where breakerbox console runs, its first lines say how to get another link.',
        401,
      );
    setCookie(c, cookieName(c), cookie, {
      httpOnly: true,
      sameSite: 'Strict',
      secure: c.req.header('origin')?.startsWith('https:') === true, // A proxy in front ends TLS.
      path: '/',
      maxAge: SIGNED_IN_MS / 1000,
    });
    return json(c, { signedIn: true });
  });

  app.get('/api/state', async (c) => {
    const endpoints: string[] = [];
    for (const one of await watch.look()) {
      endpoints.push(shownEndpoint(one));
      await immediate(); // Each may take 50 ms.
    }
    const own = safeJson({ unixMs: Date.now() } satisfies Omit<ConsoleState, 'endpoints'>);
    return jsonText(c, `${own.slice(0, -1)},"endpoints":[${endpoints.join(',')}]}`);
  });

  app.post('/api/actions', async (c) => {
    const body = ActionBody.safeParse(await c.req.json().catch(() => undefined));
    if (!body.success) return json(c, { error: `The body is not an action. ${z.prettifyError(body.error)}` }, 400);
    return json(c, await fanOut(await watch.known(), body.data));
  });

  app.get('/api/changes', (c) => {
    const drop = takeStream(streams, c.get('browser'), c.env?.incoming?.socket);
    if (drop === undefined)
      return json(
        c,
        { error: 'This browser, or all browsers together, have too many tabs of the console open. Close some.' },
        429,
      );
    const isAdmitted = async (): Promise<boolean> => browserOf(c) !== undefined;
    return c.body(changeStream(changes, isAdmitted, drop), 200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
  });

  app.get('*', (c) => {
    const file = page.get(c.req.path);
    return file === undefined ? c.notFound() : c.body(file.body, 200, { 'Content-Type': file.type });
  });
  app.onError((error, c) => {
    diag.error(`@breakerbox/control: ${error.message}`);
    return json(c, { error: `The console could not do this: ${error.message}` }, 500);
  });
  return app;
};

interface RejectedRequest {
  readonly error: string;
  readonly status: 403 | 405 | 413 | 415;
}

/** Checks that come before all others (A5). */
const rejectionOf = ({ req }: Context, hosts: readonly string[]): RejectedRequest | undefined => {
  const host = req.header('host');
  if (!isKnownHost(host, hosts))
    return {
      error: `The console does not answer for the host ${host ?? '(none)'}. Start it with breakerbox console --name ${host?.replace(/:\d+$/, '') ?? 'HOST'}, or add the name to hosts of startConsole.`,
      status: 403,
    };
  if (!METHODS.has(req.method)) return { error: 'Use GET, or POST for an action.', status: 405 };
  if (req.method === 'GET') return undefined;
  if (!isKnownOrigin(req.header('origin'), host))
    return {
      error:
        'The Origin header of this request is another website. Open the console at the address that breakerbox console printed.',
      status: 403,
    };
  if (!/^application\/json\s*(?:;|$)/.test(req.header('content-type') ?? ''))
    return { error: 'The header Content-Type must be application/json.', status: 415 };
  if (Number(req.header('content-length') ?? Number.POSITIVE_INFINITY) > MOST_BODY)
    return { error: `The body must have a Content-Length of at most ${MOST_BODY} bytes.`, status: 413 };
  return undefined;
};

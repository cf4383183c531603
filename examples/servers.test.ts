import { context, metrics, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { registerMetrics, registerTraces, seriesOf } from '../packages/core/src/telemetry/test-support.telemetry.ts';

let scrape: () => Promise<string[]>;
let spans: ReturnType<typeof registerTraces>;

beforeEach(() => {
  vi.stubEnv('AI_GATEWAY_API_KEY', '');
  vi.resetModules(); // A process of its own for each test: with circuits that are closed.
  ({ scrape } = registerMetrics());
  spans = registerTraces();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const api of [metrics, trace, context]) api.disable();
});

const liveSessions = async (agent: string): Promise<number> => {
  const counts = seriesOf(agent, await scrape(), 'breakerbox_sessions').map((line) => Number(line.split(' ').at(-1)));
  return counts.reduce((sum, one) => sum + one, 0);
};

describe('the route of Next.js', () => {
  /** A browser asks; `left` fires when it closes the request. */
  const ask = async (left = new AbortController()): Promise<ReadableStream<Uint8Array>> => {
    const { POST } = await import('./next-route.ts');
    const messages = [{ role: 'user', parts: [{ type: 'text', text: 'What is new?' }] }];
    const init = { method: 'POST', body: JSON.stringify({ messages }), signal: left.signal };
    return (await POST(new Request('http://127.0.0.1/api/chat', init))).body ?? expect.fail('It has no body.');
  };

  /** What happens while the web search is made, which then fails. */
  const duringSearch = (happens: (signal: AbortSignal | null | undefined) => unknown): void => {
    vi.stubGlobal('fetch', async (_: string, { signal }: RequestInit) => {
      await happens(signal);
      throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
    });
  };

  const expectOneTraceAndNoSession = async (): Promise<void> => {
    await vi.waitFor(() => expect(spans().map(({ name }) => name)).toContain('invoke_agent chat'));
    const roots = spans().filter(({ parentSpanContext }) => parentSpanContext === undefined);
    expect(roots.map(({ name }) => name)).toEqual(['invoke_agent chat']);
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1);
    expect(await liveSessions('chat')).toBe(0);
    expect(spans().filter(({ attributes }) => attributes['breakerbox.session.ended'] === true)).toEqual([]);
  };

  const decisions = () => spans().flatMap(({ attributes }) => attributes['breakerbox.decision'] ?? []);

  test('completed: the tool that is out is skipped within the stream, and one trace and no session are left', async () => {
    const answer = await new Response(await ask()).text();
    expect(answer).toMatch(/An error occurred\..*'web_search' is unavailable.*from what I know/s);
    expect(answer).not.toContain('fetch failed');
    expect(decisions()).toEqual(['call', 'skip']);
    await expectOneTraceAndNoSession();
  });

  test('closed by the client during a search: the run ends there, with one trace and no session', async () => {
    const left = new AbortController();
    duringSearch(() => left.abort());
    const answer = await new Response(await ask(left)).text();
    expect(answer).toContain('"type":"abort"');
    expect(decisions()).toEqual(['call']);
    await expectOneTraceAndNoSession();
  });

  test('left by its reader during a search: the run goes on to its end, with one trace and no session', async () => {
    const left = new Promise<void>((resolve) => {
      duringSearch(() => left);
      resolve(ask().then((body) => body.cancel()));
    });
    await left;
    await expectOneTraceAndNoSession();
    expect(decisions()).toEqual(['call', 'skip']);
  });

  test('the model fails before it says anything: one trace and no session', async () => {
    vi.stubEnv('AI_GATEWAY_API_KEY', 'none');
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    vi.stubGlobal('fetch', async () => new Response('{}', { status: 400 }));
    expect(await new Response(await ask()).text()).toContain('"type":"error"');
    expect(logged).toHaveBeenCalledTimes(1);
    await expectOneTraceAndNoSession();
  });
});

describe('the handler of AWS Lambda', () => {
  test('C11: a circuit that opened in one process is open in the next, and no session is left', async () => {
    const kept = new Map<string, string>();
    const searches = vi.fn(() => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })));
    vi.stubGlobal('fetch', searches);
    const ask = async (question: string): Promise<string> => {
      vi.resetModules(); // Nothing of the call before is known but what the store has.
      const { createHandler } = await import('./lambda.ts');
      return (await createHandler(kept)({ conversation: 'conversation-7', question })).report;
    };
    expect(await ask('What is new?')).toMatch(/ failed\n +web_search +open +network .* 1$/m);
    expect(await ask('And in Europe?')).toMatch(/ rejected\n +web_search +open +network .* 1$/m);
    expect(searches).toHaveBeenCalledTimes(1);
    expect(await liveSessions('support')).toBe(0);
    expect(kept.get('conversation-7')).not.toContain('circuit breakers');
  });
});

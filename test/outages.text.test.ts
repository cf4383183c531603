/** A server that reports its outage as plain text, and never sets `isError`. */
import type { ServerResponse } from 'node:http';
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { describe, expect, test } from 'vitest';
import { freePort } from '../packages/demo/src/child.ts';
import { withoutAdvice } from '../packages/instrumentation/src/advice.ts';
import { skipped, textOf, turns } from './mcp-processes.ts';
import { connect, ownServer, sdks, spent, watched } from './outages/clients.ts';
import { serve } from './outages/web.ts';

/** The documentation service from now on. */
const serveDocs = (port: number, answer: (query: string, response: ServerResponse) => void): Promise<number> =>
  serve(({ url = '' }, response) => {
    answer(new URL(url, 'http://docs.test').searchParams.get('query') ?? '', response);
  }, port);

const LIBRARIES: Readonly<Record<string, string>> = {
  undici: `# undici\n\n## Errors\nfetch rejects with \`TypeError: fetch failed\` when it gets no response. The reason is in \`error.cause\`.`,
  titles: '1. TypeError: fetch failed (Stack Overflow, 12 answers)\n2. ECONNREFUSED: what refuses a connection',
  nothing: `No libraries found matching "503 Service Unavailable".`,
  status:
    '[{"id":"/http/status","title":"HTTP status codes","snippet":"503 Service Unavailable, 504 Gateway Timeout"}]',
  retry:
    'p-retry retries on network errors, time-outs and HTTP 429. It stops at "Request failed with status code 400".',
  empty: '',
  java: '- java.net.SocketTimeoutException\n- java.net.ConnectException: Connection refused\n- java.io.IOException',
};

describe.each(Object.entries(sdks))('with %s', (_, sdk) => {
  const searching = async () => {
    const seen = watched();
    const port = await freePort();
    const { client } = await connect(sdk, ownServer({ DOCS: `http://127.0.0.1:${port}/` }));
    const guarded = guardMcpClient(client, seen.session);
    const search = (query: string) => guarded.callTool({ name: 'search_libraries', arguments: { query } });
    return { ...seen, port, search };
  };

  test('O2: a service that does not answer opens the circuit, and one probe closes it', async () => {
    const { session, search, port, outcomes, reasons } = await searching();
    for (const query of ['react', 'vue', 'svelte']) {
      const result = await search(query);
      expect(result.isError).toBeUndefined();
      expect(withoutAdvice(textOf(result))).toBe('Error searching libraries: TypeError: fetch failed');
    }
    expect(outcomes).toEqual(Array(3).fill('search_libraries: failure, network'));
    expect(await search('solid')).toEqual(skipped('search_libraries', 'network'));
    expect(spent(session)).toBe(1);

    await serveDocs(port, (query, response) => response.end(`about ${query}`));
    turns(session);
    expect(textOf(await search('react'))).toBe('about react');
    expect(reasons.slice(-2)).toEqual(['search_libraries: skip, open', 'search_libraries: probe, probe_due']);
    expect(session.peek('search_libraries')?.state).toBe('closed');
  });

  test('O2: a service that answers 503 opens the circuit', async () => {
    const { search, port, outcomes } = await searching();
    await serveDocs(port, (_query, response) => response.writeHead(503).end());
    for (const query of ['react', 'vue', 'svelte']) {
      expect(withoutAdvice(textOf(await search(query)))).toBe('Failed to search libraries. Error code: 503');
    }
    expect(outcomes).toEqual(Array(3).fill('search_libraries: failure, server'));
    expect(await search('solid')).toEqual(skipped('search_libraries', 'server'));
  });

  test('O2: results about errors are successes', async () => {
    const { session, search, port, outcomes } = await searching();
    await serveDocs(port, (query, response) => response.end(LIBRARIES[query]));
    for (const [query, text] of Object.entries(LIBRARIES)) expect(textOf(await search(query))).toBe(text);
    expect(outcomes).toEqual(Object.keys(LIBRARIES).map(() => 'search_libraries: success'));
    expect(spent(session)).toBe(0);
  });
});

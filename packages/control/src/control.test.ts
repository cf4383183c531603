import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBreakerbox } from '@breakerbox/core';
import { boxModels } from '@breakerbox/core/internal';
import { expect, onTestFinished, test } from 'vitest';
import { createToken, revokeToken, startControl } from './index.ts';

const folderOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-control-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: JSON.
  readonly body: any;
}

const ask = (url: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const at = url.startsWith('unix:')
      ? { socketPath: url.slice(5) }
      : { host: new URL(url).hostname, port: new URL(url).port };
    const sent = request(
      {
        ...at,
        path,
        method: text === undefined ? 'GET' : 'POST',
        headers: {
          host: 'localhost',
          ...(text !== undefined && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(text)),
          }),
          ...headers,
        },
      },
      (response) => {
        let all = '';
        response.on('data', (part) => {
          all += part;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(all) }));
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });

const failing = () => {
  const box = createBreakerbox({ agent: 'a', tools: { search: {}, other: {} } });
  return { box };
};

test('A1, A2, A3: on a socket, a person sees a paused session and resumes it', async () => {
  const folder = folderOf();
  const { box } = failing();
  const control = await startControl({ boxes: [box], listen: { socket: join(folder, 'c.sock') } });
  onTestFinished(() => control.close());
  const session = box.session({ id: 'run-1', budget: { failures: 2 } });
  for (const tool of ['search', 'other']) {
    session.acquire(tool).settle({ outcome: 'failure', category: 'server' });
    session.acquire(tool).settle({ outcome: 'success' });
  }
  expect(statSync(join(folder, 'c.sock')).mode & 0o777).toBe(0o600);
  const { status, body } = await ask(control.url, '/v1/state');
  expect(status).toBe(200);
  const [seen] = body.boxes[0].sessions;
  const charges = ['search', 'other'].map((tool) => ({ tool, category: 'server', failures: 1 }));
  expect(seen).toMatchObject({ id: 'run-1', state: 'paused_budget', budget: { charges } });
  const stale = await ask(control.url, '/v1/actions', { action: 'resume', agent: 'a', session: 'run-1', cycle: 99 });
  expect(stale).toMatchObject({ status: 409, body: { result: 'stale' } });
  const done = await ask(
    control.url,
    '/v1/actions',
    { action: 'resume', agent: 'a', session: 'run-1', cycle: seen.budget.cycle },
    { 'breakerbox-user': 'ada' },
  );
  expect(done).toMatchObject({ status: 200, body: { result: 'done' } });
  const again = { action: 'resume', agent: 'a', session: 'run-1', cycle: seen.budget.cycle + 1 };
  expect(await ask(control.url, '/v1/actions', again)).toMatchObject({ status: 409 });
  const lines = readFileSync(join(folder, 'audit.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ phase, who, result }) => [phase, who ?? result])).toEqual([
    ['asked', 'unknown'],
    ['ended', 'stale'],
    ['asked', 'ada'],
    ['ended', 'done'],
    ['asked', 'unknown'],
    ['ended', 'stale'],
  ]);
});

test('A3, A4: modes by two operators, and what is stale is refused', async () => {
  const folder = folderOf();
  const { box } = failing();
  const control = await startControl({ boxes: [box], listen: { socket: join(folder, 'c.sock') } });
  onTestFinished(() => control.close());
  const force = { action: 'force_open', agent: 'a', tool: 'search', reason: 'maintenance' };
  const as = (who: string) => ({ 'breakerbox-user': who });
  const { version } = (await ask(control.url, '/v1/state')).body.boxes[0];
  expect((await ask(control.url, '/v1/actions', { ...force, version }, as('ada'))).status).toBe(200);
  expect((await ask(control.url, '/v1/actions', { ...force, version }, as('bob'))).status).toBe(409);
  expect(box.session().acquire('search').decision).toBe('skip');
  expect((await ask(control.url, '/v1/actions', { ...force, tool: 'serach' })).body.message).toContain(
    'no circuit of a tool or group serach',
  );
  expect((await ask(control.url, '/v1/actions', { ...force, reason: '' })).status).toBe(400);
  expect(
    (await ask(control.url, '/v1/actions', { action: 'release', agent: 'a', tool: 'search' }, as('ada'))).status,
  ).toBe(200);
  expect(box.session().acquire('search').decision).toBe('call');
});

const SCOPES = ['session', 'none'] as const;
test.each(SCOPES)('A3, L2: a model is shown, forced open and released in scope %s', async (scope) => {
  const box = createBreakerbox({ agent: 'a', scope });
  const { session, declare } = boxModels(box);
  declare({ name: 'openai/gpt-5', group: 'openai', hasFallback: false });
  const control = await startControl({ boxes: [box], listen: { socket: join(folderOf(), 'c.sock') } });
  onTestFinished(() => control.close());
  const tool = 'model:openai/gpt-5';
  session.acquire(tool).settle({ outcome: 'success' });
  expect((await ask(control.url, '/v1/state')).body.boxes[0].sessions).toMatchObject([{ id: 'models' }]);
  const act = { agent: 'a', tool, reason: 'costs' };
  expect((await ask(control.url, '/v1/actions', { ...act, action: 'force_open' })).status).toBe(200);
  expect(session.acquire(tool)).toMatchObject({ decision: 'skip', reason: 'forced_open' });
  expect((await ask(control.url, '/v1/actions', { agent: 'a', tool, action: 'release' })).status).toBe(200);
  expect(session.acquire(tool).decision).toBe('call');
});

test('A5: TCP needs a token with the role, a known host, and no other page', async () => {
  const folder = folderOf();
  const tokens = join(folder, 'tokens.json');
  const view = { authorization: `Bearer ${await createToken(tokens, 'grafana', 'view')}` };
  const operate = { authorization: `Bearer ${await createToken(tokens, 'ada', 'operate')}` };
  const { box } = failing();
  const control = await startControl({
    boxes: [box],
    listen: { port: 0, tokens, hosts: ['Agents.Example'] },
    audit: join(folder, 'audit.jsonl'),
  });
  onTestFinished(() => control.close());
  const force = { action: 'disable', agent: 'a', tool: 'search', reason: 'test' };
  const status = async (...args: Parameters<typeof ask> extends [string, ...infer Rest] ? Rest : never) =>
    (await ask(control.url, ...args)).status;
  expect(await status('/v1/state')).toBe(401);
  expect(await status('/v1/state', undefined, { authorization: 'Bearer bbx_wrong' })).toBe(401);
  expect(await status('/v1/state', undefined, view)).toBe(200);
  expect(await status('/v1/state', undefined, { ...view, host: 'evil.example' })).toBe(403);
  expect(await status('/v1/state', undefined, { ...view, host: 'agents.example:9470' })).toBe(200);
  expect(await status('/v1/actions', force, view)).toBe(403);
  expect(await status('/v1/actions', force, { ...operate, origin: 'http://evil.example' })).toBe(403);
  expect(await status('/v1/actions', { ...force, reason: 'x'.repeat(20_000) }, operate)).toBe(413);
  expect(await status('/v1/actions', force, operate)).toBe(200);
  expect(await revokeToken(tokens, 'ada')).toBe(true);
  expect(await status('/v1/actions', force, operate)).toBe(401);
});

test('A5: without a file of tokens that others cannot read, no request is answered', async () => {
  const folder = folderOf();
  const tokens = join(folder, 'tokens.json');
  const { box } = failing();
  const control = await startControl({ boxes: [box], listen: { port: 0, tokens }, audit: join(folder, 'audit.jsonl') });
  onTestFinished(() => control.close());
  const shown = { authorization: 'Bearer bbx_x' };
  const failed = {
    status: 500,
    body: { error: expect.stringContaining('cannot use its file of tokens') },
  };
  expect(await ask(control.url, '/v1/state', undefined, shown)).toEqual(failed);
  const operate = { authorization: `Bearer ${await createToken(tokens, 'ada', 'operate')}` };
  expect((await ask(control.url, '/v1/state', undefined, operate)).status).toBe(200);
  chmodSync(tokens, 0o644);
  expect(await ask(control.url, '/v1/state', undefined, operate)).toEqual(failed);
});

test('A6: what cannot be recorded is not done', async () => {
  const { box } = failing();
  const folder = folderOf();
  const control = await startControl({ boxes: [box], listen: { socket: join(folder, 'c.sock') }, audit: '/dev/full' });
  onTestFinished(() => control.close());
  const { status, body } = await ask(control.url, '/v1/actions', {
    action: 'force_open',
    agent: 'a',
    tool: 'search',
    reason: 'x',
  });
  expect([status, body.error]).toEqual([500, expect.stringContaining('was not done')]);
  expect(box.session().acquire('search').decision).toBe('call');
});

test('A2: changes are told as they happen, and the recent ones first', async () => {
  const { box } = failing();
  const folder = folderOf();
  const control = await startControl({ boxes: [box], listen: { socket: join(folder, 'c.sock') } });
  onTestFinished(() => control.close());
  const session = box.session({ id: 'run-1' });
  const trip = (tool: string) => {
    for (let call = 0; call < 3; call += 1) session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
  };
  trip('search');
  const seen = await new Promise<string>((resolve, reject) => {
    const sent = request(
      { socketPath: control.url.slice(5), path: '/v1/changes', headers: { host: 'localhost' } },
      (response) => {
        let all = '';
        response.on('data', (part) => {
          all += part;
          if (!all.includes('"tool":"other"')) return trip('other');
          resolve(all);
          sent.destroy();
        });
      },
    );
    sent.on('error', reject);
    sent.end();
  });
  const changes = seen
    .split('\n\n')
    .filter(Boolean)
    .map((one) => JSON.parse(one.slice(one.indexOf('{'))));
  expect(changes[0]).toMatchObject({
    kind: 'circuit.transition',
    tool: 'search',
    from: 'closed',
    to: 'open',
    category: 'network',
  });
});

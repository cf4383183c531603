import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startServer } from '../packages/instrumentation/src/test-support/http-server.ts';
import { parseExposition } from './exposition.ts';
import { CASES } from './newcomer/cases.ts';
import { readDocs } from './newcomer/documented.ts';
import { packAll, type Tarballs } from './newcomer/pack.ts';
import { runProgram } from './newcomer/program.ts';
import { makeProject, typecheck } from './newcomer/project.ts';
import { childrenOf } from './processes.ts';

let folder: string;
let tarballs: Tarballs;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-newcomer-'));
  tarballs = await packAll();
}, 180_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

test('each framework has a program in docs/frameworks.md, and each program is run here', () => {
  expect(readDocs().map(({ title }) => title)).toEqual(Object.keys(CASES));
});

describe('a newcomer who copies the program into a blank project with our tarballs has a working agent with metrics', () => {
  test.each(readDocs())('$title', async (docs) => {
    const what = CASES[docs.title] ?? expect.fail('no such case');
    const { provider, tool = 'fetch_page', input = (url) => ({ url }), killed } = what;
    const project = join(folder, docs.title.replaceAll(' ', '-'));
    await makeProject(project, docs, tarballs);
    expect(await typecheck(project)).toBe('');

    const web = await startServer();
    onTestFinished(() => web.stop());
    const read = (url: string) => [{ tool, input: input(url) }];
    const dead = ['a', 'b', 'c', 'd'].map((page) => read(`http://127.0.0.1:2/${page}`));
    const api = await provider.start([read(web.url('/the-news')), ...dead, 'Only the news could be read.']);
    onTestFinished(() => api.stop());

    const seen = await runProgram(project, docs, api, provider.variables, ({ pid, times }) => {
      if (killed && times === 2) for (const one of childrenOf(pid, killed)) process.kill(one, 'SIGKILL');
    });
    expect(seen).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Only the news could be read.'),
      stderr: '',
    });
    const [worked, ...failed] = api.heard();
    expect(worked).toContain('/the-news');
    const error = expect.not.stringContaining('is unavailable');
    const rejected = (what: string) => expect.stringContaining(`Tool '${tool}' is unavailable${what} failed (network)`);
    // C14: the pages of a dead host blame the host. C13: the group of a server whose connection ends opens at once. Three steps later a call probes it.
    const ofServer = rejected(": the tools of group 'mcp-servers/everything'");
    const [expected, decisions] = killed
      ? [[error, ofServer, ofServer, error], { call: 2, probe: 1, skip: 2 }]
      : [[error, error, error, rejected(' for this target: the last calls')], { call: 4, probe: 0, skip: 1 }];
    expect(failed).toEqual(expected);

    const decided = (decision: string): number => {
      const ofTool = [`gen_ai_tool_name="${tool}"`, `breakerbox_decision="${decision}"`];
      const { series } = parseExposition(seen.metrics);
      const counts = Object.entries(series).filter(([name]) => name.startsWith('breakerbox_decisions_total{'));
      return counts.reduce(
        (sum, [name, count]) => sum + (ofTool.every((label) => name.includes(label)) ? count : 0),
        0,
      );
    };
    expect({ call: decided('call'), probe: decided('probe'), skip: decided('skip') }).toEqual(decisions);
  });
});

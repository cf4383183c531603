/** The code that checks the snippets must fail if they do. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Fence, fencesOf, namedFiles } from './fences.ts';
import { faultIn as faultInData } from './others.ts';
import { type Program, shows, typecheck, writePrograms } from './programs.ts';
import { type EndedSnippet, runAll } from './running.ts';
import { serve } from './serving.ts';
import { commandsOf, faultIn, isRun, makeWorkplace, runCommand } from './shell.ts';

const PAGE = `# Page

## One

\`\`\`ts
console.log('a');
\`\`\`

It prints

\`\`\`text
a
\`\`\`

1. in a list

   \`\`\`yaml
   # map.yaml
   tools: {}
   \`\`\`

## Two

\`\`\`text
alone
\`\`\`
`;

const fence = (language: string, code: string): Fence => ({ file: 'page.md', line: 1, language, code, heading: '' });

/** Programs, as if each were a block of a page. */
const written = async (...codes: readonly string[]): Promise<{ folder: string; programs: readonly Program[] }> => {
  const made = await writePrograms(codes.map((code, index) => ({ ...fence('ts', `${code}\n`), line: index + 1 })));
  onTestFinished(() => rm(made.folder, { recursive: true }));
  return made;
};

const runCodes = async (...codes: readonly string[]): Promise<readonly EndedSnippet[]> => {
  const { programs } = await written(...codes);
  return Promise.all(programs.map(await runAll(programs, async () => folder)));
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-harness-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('blocks of a document', () => {
  const fences = fencesOf('page.md', PAGE);

  test('are found with their language, place and heading, in lists too', () => {
    expect(fences.map(({ language, line, heading }) => `${language} ${line} ${heading}`)).toEqual([
      'ts 6 One',
      'text 12 One',
      'yaml 18 One',
      'text 25 Two',
    ]);
    expect(namedFiles(fences)).toEqual(new Map([['map.yaml', '# map.yaml\ntools: {}\n']]));
  });

  test('one that is not closed is an error', () => {
    expect(() => fencesOf('page.md', '```ts\nlet a;\n')).toThrow("page.md:2: a fence that is opened here isn't closed");
  });

  test.each(['~~~ts\na\n~~~\n', '> ```ts\n> a\n> ```\n', '\t```ts\n\ta\n\t```\n', '- ```ts\n  a\n  ```\n'])(
    'one of another kind is an error: %j',
    (text) => {
      expect(() => fencesOf('page.md', text)).toThrow("page.md:1: a fence of a kind that isn't read");
    },
  );
});

test.each([
  ['a\nb\n', 'a\nb\n', true],
  ['a', 'a\nb\n', false],
  ['a … c', 'a (b) c', true],
  ['a\n…\nd', 'a\nb\nc\nd', true],
  ['a\n…', 'a', true],
  ['a.c', 'abc', false],
])('%j shows %j: %s', (expected, actual, answer) => {
  expect(shows(expected, actual)).toBe(answer);
});

describe('programs', () => {
  test('that throw or are wrong to the compiler are noticed', async () => {
    const made = await written("console.log('fine');", "throw new Error('thrown');", 'const wrong: number = `text`;');
    expect(await typecheck(made.folder)).toMatch(/page-3\.ts\(1,7\): error TS2322/);
    const ended = await Promise.all(made.programs.map(await runAll(made.programs, async () => folder)));
    expect(ended.map(({ stdout }) => stdout)).toEqual(['fine\n', '', '']);
    expect(ended.map(({ stderr }) => stderr.split('\n')[0])).toEqual(['', 'Error: thrown', '']);
  });

  test('are not sound because the compiler could not be started', async () => {
    expect(await typecheck(join(folder, 'nowhere'))).not.toBe('');
  });

  test('have to come to their end; one that is meant to leave there may', async () => {
    const ended = await runCodes(
      "process.exit(0);\nconsole.log('never');",
      "console.log('all');\nprocess.exit(0);",
      'await new Promise(() => {});',
    );
    expect(ended.map(({ reachedEnd }) => reachedEnd)).toEqual([false, true, false]);
    expect(ended[1]).toMatchObject({ code: 0, stdout: 'all\n', stderr: '' });
  });

  test('print what is theirs, at whatever time', async () => {
    const late = "setTimeout(() => console.log('late'), 20);\nprocess.nextTick(() => console.error('soon'));";
    const waits = "await new Promise((resolve) => setTimeout(resolve, 60));\nconsole.log('own');";
    const ended = await runCodes(late, waits);
    expect(ended.map(({ stdout }) => stdout)).toEqual(['late\n', 'own\n']);
    expect(ended.map(({ stderr }) => stderr)).toEqual(['soon\n', '']);
  });

  test('fail by a promise without a catch, also where they share a process', async () => {
    const left = "setImmediate(() => Promise.reject(new Error('left behind')));";
    const ended = await runCodes(left, "console.log('next');");
    expect(ended.map(({ code }) => code)).toEqual([1, 1]);
    expect(ended[0]?.stderr).toContain('left behind');
  });
});

describe('a program that goes on', () => {
  const goesOn = 'setInterval(() => {}, 60_000);';
  const start = async (code: string) => {
    const [program] = (await written(code)).programs;
    return serve(program ?? expect.fail('it was not written'), folder, 'up\n');
  };

  test('is noticed if it crashes behind what is shown', async () => {
    await expect(start(`${goesOn}\nconsole.log('up');\nthrow new Error('crashed');`)).rejects.toThrow('crashed');
  });

  test('is noticed if it crashes later, or says something on stderr', async () => {
    const crashes = await start(`console.log('up');\nsetTimeout(() => process.exit(3), 1);\n${goesOn}`);
    await expect.poll(() => crashes.hasEnded(), { timeout: 30_000 }).toBe(true);
    expect((await crashes.stop()).signal).toBeNull();
    const complains = await start(`console.error('oh');\nconsole.log('up');\n${goesOn}`);
    expect((await complains.stop()).stderr).toBe('oh\n');
  });
});

test.each([
  ['npm run dance', 'runs the script dance, and package.json has none of that name.'],
  ['npm install @breakerbox/core left-pad', "installs left-pad, which this workspace doesn't use."],
  ['OTEL_SERVICE_NAMES=a', 'sets OTEL_SERVICE_NAMES, which nothing here reads.'],
  ['npm run demo -- --four 90s', "error: unknown option '--four'\n(Did you mean --for?)"],
  ['npm test -- --nonsense', "gives --nonsense to test, which doesn't take it."],
  ['npm run preview -- --form 1h', "gives --form to preview, which doesn't take it."],
  ['docker compose banana', 'is no command that docs/snippets/shell.ts knows how to run or to check.'],
  ['npm install ../breakerbox/*.tgz', "installs ../breakerbox/*.tgz, which this workspace doesn't use."],
  ['npm run pack -- engine', 'packs engine, which no release publishes.'],
  ['npm run pack -- fleet', 'does not pack @breakerbox/core, which the others need.'],
  ['rm -rf /', 'is no command that docs/snippets/shell.ts knows how to run or to check.'],
])('the command %j: %s', async (command, fault) => {
  expect(isRun(command)).toBe(false);
  expect(await faultIn(command)).toBe(fault);
});

test('a command fails where any part of its pipe does', async () => {
  const place = await makeWorkplace(join(folder, 'place'), []);
  expect((await runCommand("node -e 'process.exit(3)' | cat", place)).code).toBe(3);
});

test('commands are read without comments, and over several lines', () => {
  expect(
    commandsOf(fence('sh', "# first\nnpm test   # all\nnode --import a \\\n  b.js\necho '# no comment'\n")),
  ).toEqual(['npm test', 'node --import a b.js', "echo '# no comment'"]);
});

test.each([
  ['promql', 'sum(rate(breakerbox_decision_total[5m]))', /breakerbox_decision_total, which nothing here exports/],
  ['promql', 'sum(rate(', /syntax error/],
  ['promql', 'sum by (gen_ai_tool) (breakerbox_circuits)', /label gen_ai_tool, which nothing here has/],
  ['promql', 'breakerbox_sessions{gen_ai_tool_name="a"}', /gen_ai_tool_name of breakerbox_sessions, which has none/],
  ['promql', 'breakerbox_outcomes_total{breakerbox_outcome=~"success|failed"}', /of failed, which it never is/],
  ['mermaid', 'flowchart LR\n  a -- "b --> c\n', /quote/],
  ['mermaid', 'flowchart LR\n  a{{"x"}] --> b\n', /bracket/],
  ['yaml', 'scrape_configs:\n  - job: a\n', /field job not found/],
  ['yaml', 'tools:\n  a: { falback: b }\n', /falback/],
  ['yaml', 'env:\n  - name: OTEL_SERVICE\n    value: a\n', /OTEL_SERVICE, which nothing here reads/],
  ['yaml', 'env:\n  - name: OTEL_TRACES_SAMPLER_ARG\n    value: 0.1\n', /needs a name, and a value/],
  ['yaml', 'replicas: 3\n', /doesn't know what they configure/],
  ['json', '{}', /doesn't know how to check/],
])('a block of %s that is wrong: %j', async (language, code, fault) => {
  expect(await faultInData(fence(language, code), folder)).toMatch(fault);
});

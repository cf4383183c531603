import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { AROUND } from './snippets/around.ts';
import { ELSEWHERE, isTold, ranElsewhere } from './snippets/elsewhere.ts';
import { allFences, type Fence, printedBy, printerOf } from './snippets/fences.ts';
import { faultIn as faultInData } from './snippets/others.ts';
import { type Program, shows, typecheck, writePrograms } from './snippets/programs.ts';
import { type Receiver, startReceiver } from './snippets/receiver.ts';
import { runAll } from './snippets/running.ts';
import { goesOn, serve } from './snippets/serving.ts';
import { commandsOf, faultIn, isRun, makeWorkplace, runCommand, type Workplace } from './snippets/shell.ts';

const fences = allFences();
const own = fences.filter((fence) => !ranElsewhere(fence));
const inLanguage = (...languages: readonly string[]) => own.filter(({ language }) => languages.includes(language));
/** Programs of frameworks that run elsewhere are type-checked there, with the packages that they need. */
const WITH_PACKAGES = ['docs/frameworks.md', 'docs/recipes.md'];
const checkedHere = fences.filter(
  (fence) => fence.language === 'ts' && (own.includes(fence) || !WITH_PACKAGES.includes(fence.file)),
);
const named = (some: readonly Fence[]) => some.map((fence) => ({ name: `${fence.file}:${fence.line}`, fence }));

let temporary: string;
let compiled: Awaited<ReturnType<typeof writePrograms>>;
const workplaces = new Map<string, Promise<Workplace>>();

/** Where nothing is shown, nothing may be printed: a reader would wonder. */
const expectShown = (fence: Fence, stdout: string): void => {
  const printed = printedBy(fence, fences) ?? '';
  if (!shows(printed, stdout)) expect(stdout).toBe(printed);
};

/** One for each document: its commands see its files. */
const workplaceOf = (file: string): Promise<Workplace> => {
  const folder = join(temporary, file.replaceAll(/\W/g, '-'));
  const made =
    workplaces.get(file) ??
    makeWorkplace(
      folder,
      fences.filter((one) => one.file === file),
    );
  workplaces.set(file, made);
  return made;
};

const programOf = (fence: Fence): Program =>
  compiled.programs.find((one) => one.fence === fence) ?? expect.fail(`${fence.file}:${fence.line} was not written`);

let receiver: Receiver;
let run: Awaited<ReturnType<typeof runAll>>;

beforeAll(async () => {
  receiver = await startReceiver();
  temporary = await mkdtemp(join(tmpdir(), 'breakerbox-docs-'));
  compiled = await writePrograms(checkedHere);
  const ending = compiled.programs.filter(({ fence }) => own.includes(fence) && !goesOn(fence.code));
  run = await runAll(ending, async ({ fence }) => (await workplaceOf(fence.file)).folder);
});
afterAll(async () => {
  await receiver.stop();
  await rm(compiled.folder, { recursive: true, force: true });
  await rm(temporary, { recursive: true, force: true });
});

test('every snippet in TypeScript is sound to the compiler', async () => {
  expect(await typecheck(compiled.folder)).toBe('');
}, 60_000);

describe.concurrent('every snippet in TypeScript runs to its end, and prints what is shown below it', () => {
  test.each(named(inLanguage('ts').filter(({ code }) => !goesOn(code))))('$name', async ({ fence }) => {
    const { stdout, ...ended } = await run(programOf(fence));
    expect(ended).toEqual({ code: 0, stderr: '', reachedEnd: true });
    expectShown(fence, stdout);
  });
});

describe('programs that go on print what is shown, and commands below them find them', () => {
  test.each(named(inLanguage('ts').filter(({ code }) => goesOn(code))))('$name', async ({ fence }) => {
    const { folder } = await workplaceOf(fence.file);
    const serving = await serve(programOf(fence), folder, printedBy(fence, fences) ?? '');
    onTestFinished(async () => void (await serving.stop()));
    for (const asking of asksFor(fence)) {
      for (const command of commandsOf(asking)) {
        const at = await workplaceOf(fence.file);
        const { code, stdout, stderr } = await runCommand(command.replaceAll('9464', serving.port), at);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        if (printedBy(asking, fences) !== undefined) expectShown(asking, stdout);
      }
    }
    expect(await serving.stop()).toEqual({ signal: 'SIGTERM', stderr: '' });
  });
});

/** Commands that ask a program for its metrics: in its section, and for the first of these programs in sections without one. */
function asksFor(fence: Fence): readonly Fence[] {
  const asking = inLanguage('sh').filter(({ code }) => code.includes('curl '));
  const here = (one: Fence, other: Fence): boolean => one.file === other.file && one.heading === other.heading;
  const serving = inLanguage('ts').filter(({ code }) => goesOn(code));
  const alone = asking.filter((one) => !serving.some((other) => here(one, other)));
  return [...asking.filter((one) => here(one, fence)), ...(fence === serving[0] ? alone : [])];
}

describe.concurrent('every command can be run', () => {
  const asking = new Set(
    inLanguage('ts')
      .filter(({ code }) => goesOn(code))
      .flatMap(asksFor),
  );
  const shell = inLanguage('sh').filter((fence) => !asking.has(fence));
  const commands = shell.flatMap((fence) => commandsOf(fence).map((command) => ({ fence, command })));

  test.each(commands)('$command', async ({ fence, command }) => {
    expect(await faultIn(command)).toBeUndefined();
    const isShown = printedBy(fence, fences) !== undefined && !ranElsewhere(fences[fences.indexOf(fence) + 1] ?? fence);
    if (!isRun(command)) return expect(isShown, 'output is shown for a command that is not run').toBe(false);
    const told = command.replaceAll('http://127.0.0.1:4318', receiver.url);
    const { code, stdout, stderr } = await runCommand(told, await workplaceOf(fence.file));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    if (told !== command) expect(receiver.paths).toContain('/v1/metrics');
    if (isShown) expectShown(fence, stdout);
  });
});

describe('data and diagrams are sound', () => {
  test.each(named(inLanguage('yaml', 'promql', 'mermaid')))('$name', async ({ fence }) => {
    expect(await faultInData(fence, temporary)).toBeUndefined();
  });
});

describe('nothing is left out', () => {
  test('every block is in a language that is run or checked here', () => {
    const known = ['ts', 'sh', 'text', 'yaml', 'promql', 'mermaid'];
    const unknown = own.filter(({ language }) => !known.includes(language));
    expect(named(unknown).map(({ name, fence }) => `${name} ${fence.language}`)).toEqual([]);
  });

  test('every block of text is what the block before it prints', () => {
    const alone = inLanguage('text').filter((fence) => printerOf(fence, fences) === undefined);
    expect(named(alone).map(({ name }) => name)).toEqual([]);
  });

  test.each(ELSEWHERE)('$file: "$has" is run by $by', (elsewhere) => {
    const meant = fences.filter((fence) => fence.file === elsewhere.file && fence.code.includes(elsewhere.has));
    expect(meant).toHaveLength(elsewhere.blocks ?? 1);
    expect(isTold(elsewhere)).toBe(true);
  });

  test.each(AROUND)('$file: "$has" is there', ({ file, has }) => {
    expect(fences.filter((fence) => fence.file === file && fence.code.includes(has)).length).toBeGreaterThan(0);
  });
});

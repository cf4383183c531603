import { execFile } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../packages/telemetry/src/test-support/free-port.ts';
import { AROUND } from './around.ts';
import { type Fence, ROOT } from './fences.ts';

/** A snippet as a file that runs. */
export interface Program {
  readonly fence: Fence;
  readonly path: string;
  /** The ports that stand in the snippet, and the free ones in their places. */
  readonly ports: ReadonlyMap<string, string>;
}

const TSCONFIG = {
  extends: '../../tsconfig.base.json',
  compilerOptions: {
    noEmit: true,
    customConditions: ['breakerbox-source'],
    // As strict as a project begins with, and no stricter; a snippet does not use everything around it.
    noUnusedLocals: false,
    noUnusedParameters: false,
    exactOptionalPropertyTypes: false,
    lib: ['es2023', 'dom'],
  },
  include: ['*.ts'],
};

/** Writes each as a file, in a folder within docs/, so that packages are found. */
export const writePrograms = async (
  fences: readonly Fence[],
): Promise<{ folder: string; programs: readonly Program[] }> => {
  const folder = await mkdtemp(join(ROOT, 'docs/.snippets-'));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  const programs = await Promise.all(
    fences.map(async (fence): Promise<Program> => {
      const program = { fence, path: join(folder, `${nameOf(fence)}.ts`), ports: await portsOf(fence) };
      await writeFile(program.path, await complete(program));
      return program;
    }),
  );
  return { folder, programs };
};

/** Of the reader's machine nothing is known: a port that is fixed may be taken there. */
const portsOf = async ({ code }: Fence): Promise<ReadonlyMap<string, string>> => {
  const fixed = [...code.matchAll(/(?:\bport: |\.listen\()(\d{2,5})\b/g)].map(([, port = '']) => port);
  return new Map(
    await Promise.all(
      [...new Set(fixed)].map(async (port): Promise<[string, string]> => [port, `${await freePort()}`]),
    ),
  );
};

/** What a program prints at its end. Without it, an early `process.exit(0)` would pass unseen. */
const END = '\u0003end\n';
const SAY_END = "process.stdout.write('\\u0003end\\n');\n";
/** A snippet may end with this: then that is its end. */
const LAST = /(?:process\.exit\(0\);\n)?$/;

/** What a program printed, as its document has it, and whether it came to its end. */
export const asShown = (
  { ports }: Pick<Program, 'ports'>,
  stdout: string,
): { readonly stdout: string; readonly reachedEnd: boolean } => {
  const own = stdout.replace(END, '');
  return {
    stdout: [...ports].reduce((text, [written, free]) => text.replaceAll(free, written), own),
    reachedEnd: stdout.includes(END),
  };
};

const nameOf = ({ file, line }: Fence): string => `${file.replace(/\.md$/, '').replaceAll(/\W+/g, '-')}-${line}`;

/** The snippet, behind an import of what its reader has already. */
const complete = async ({ fence: { file, code: written }, ports }: Program): Promise<string> => {
  const moved = [...ports].reduce(
    (text, [port, free]) => text.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), free),
    written,
  );
  const code = moved.replace(LAST, (last) => SAY_END + last);
  const around = AROUND.find((one) => one.file === file && code.includes(one.has));
  if (!around) return `${code}export {};\n`;
  const source = await readFile(join(ROOT, 'docs/snippets/around', `${around.gives}.ts`), 'utf8');
  const own = new Set([...code.matchAll(BOUND)].flatMap(([, names = '']) => listed(names)));
  const names = [...source.matchAll(EXPORTED)].flatMap(([, one = '', several = '']) => (one ? [one] : listed(several)));
  const given = names.filter((name) => !own.has(name));
  return `import { ${given.join(', ')} } from '../snippets/around/${around.gives}.ts';\n${code}export {};\n`;
};

const EXPORTED = /^export (?:(?:const|function) (\w+)|\{ ([^}]+) \})/gm;
const BOUND = /^(?:import|const|let) (\w+|\{[^}]+\})/gm;

/** Names between braces, or one without. */
const listed = (names: string): readonly string[] =>
  names
    .replaceAll(/[{}]/g, '')
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter(Boolean);

/** What the compiler has against them, all at once; empty where nothing. */
export const typecheck = async (folder: string): Promise<string> => {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  return promisify(execFile)(process.execPath, [tsc, '-p', folder], { cwd: folder }).then(
    () => '',
    (error: { stdout?: string }) => error.stdout || String(error),
  );
};

/** Whether a text is what a document shows: `…` matches anything in a line, and on a line of its own for any lines. */
export const shows = (expected: string, actual: string): boolean => {
  const lines = expected.trim().split('\n');
  const pattern = lines.map((line) =>
    line.trim() === '…' ? '(?:.*\\n)*?' : `${line.trimEnd().split('…').map(quoted).join('.*')} *\\n`,
  );
  return new RegExp(`^${pattern.join('')}$`).test(`${actual.trim()}\n`);
};

const quoted = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

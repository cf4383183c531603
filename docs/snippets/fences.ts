import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced block of a document. */
export interface Fence {
  /** From the root of the repository. */
  readonly file: string;
  /** Of its first line of code, from 1. */
  readonly line: number;
  /** As written behind the fence: `ts`, `sh`; empty if there is no language. */
  readonly language: string;
  readonly code: string;
  /** The heading above it, without its signs. */
  readonly heading: string;
}

/** Every document that shows code to users. Runbooks have tests of their own (alerts/runbooks.test.ts). */
const DOCUMENTS = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'RELEASING.md',
  'llms.txt',
  'docs/*.md',
  'packages/*/README.md',
  '{examples,alerts,dashboards,dashboards/preview,stack,bench}/README.md',
];

export const documents = (): readonly string[] =>
  globSync(DOCUMENTS, { cwd: ROOT })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();

/** A fence as GitHub reads it, too: of tildes, in a quotation, behind a tab or a list's sign. */
const FENCE = /`{3}|~{3}/;

/** All blocks of a document. It rejects fences of other kinds, because no test would run their code. */
export const fencesOf = (file: string, text = readFileSync(`${ROOT}/${file}`, 'utf8')): readonly Fence[] => {
  const fences: Fence[] = [];
  let heading = '';
  let open: { readonly indent: string; readonly language: string; readonly line: number } | undefined;
  let code: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const [, indent = '', language] = /^( *)```(.*)$/.exec(line) ?? [];
    if (open) {
      if (language === '' && indent === open.indent) {
        fences.push({ ...open, file, code: `${code.join('\n')}\n`, heading });
        open = undefined;
      } else code.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
      continue;
    }
    if (language !== undefined) {
      open = { indent, language: language.trim(), line: index + 2 };
      code = [];
      continue;
    }
    if (FENCE.test(line)) {
      throw new Error(
        `${file}:${index + 1}: a fence of a kind that isn't read: ${line.trim()}. Write three backticks, behind spaces alone.`,
      );
    }
    const [, title] = /^#+ (.*)$/.exec(line) ?? [];
    heading = title ?? heading;
  }
  if (open) throw new Error(`${file}:${open.line}: a fence that is opened here isn't closed. Close it with \`\`\`.`);
  return fences;
};

/** The output of a block, from the text block below it under the same heading; undefined if none is shown. */
export const printedBy = (fence: Fence, fences: readonly Fence[]): string | undefined => {
  const next = fences[fences.indexOf(fence) + 1];
  return next?.language === 'text' && next.file === fence.file && next.heading === fence.heading
    ? next.code
    : undefined;
};

/** The block that prints what a block of text shows. */
export const printerOf = (text: Fence, fences: readonly Fence[]): Fence | undefined => {
  const before = fences[fences.indexOf(text) - 1];
  return before?.file === text.file && before.heading === text.heading && ['ts', 'sh'].includes(before.language)
    ? before
    : undefined;
};

/** Blocks that begin with a file's name in a comment, as files. */
export const namedFiles = (fences: readonly Fence[]): ReadonlyMap<string, string> =>
  new Map(
    fences.flatMap(({ code }) => {
      const [, name] = /^(?:\/\/|#) ([\w.-]+\.\w+)\n/.exec(code) ?? [];
      return name === undefined ? [] : [[name, code]];
    }),
  );

export const allFences = (): readonly Fence[] => documents().flatMap((file) => fencesOf(file));

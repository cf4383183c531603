import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A regular expression of the source, or one that `new RegExp` makes. */
export interface Found {
  readonly file: string;
  /** Undefined for `new RegExp`, whose pattern is only known at run time. */
  readonly regex: { readonly pattern: string; readonly flags: string } | undefined;
}

/** Every RegExp literal and every `new RegExp` of the source files, tests left out. */
export const findRegexes = (): readonly Found[] =>
  globSync(['packages/*/src/**/*.ts', 'alerts/src/**/*.ts', 'dashboards/src/**/*.ts'], { cwd: ROOT })
    .filter((file) => !/\.test\.ts$|test-support|\/proof\//.test(file))
    .toSorted()
    .flatMap((file) => regexesIn(file, parseAst(readFileSync(`${ROOT}${file}`, 'utf8'), { lang: 'ts' })));

export const sourceOf = (file: string): string => readFileSync(`${ROOT}${file}`, 'utf8');

const regexesIn = (file: string, node: unknown): readonly Found[] => {
  if (typeof node !== 'object' || node === null) return [];
  const { type, regex, callee } = node as { type?: unknown; regex?: Found['regex']; callee?: { name?: unknown } };
  if (regex) return [{ file, regex }];
  const made = (type === 'NewExpression' || type === 'CallExpression') && callee?.name === 'RegExp';
  return [
    ...(made ? [{ file, regex: undefined }] : []),
    ...Object.values(node).flatMap((part) => regexesIn(file, part)),
  ];
};

/** The patterns that a module makes with `new RegExp` while it is loaded. */
export const patternsMadeBy = async (file: string): Promise<readonly NonNullable<Found['regex']>[]> => {
  const made: NonNullable<Found['regex']>[] = [];
  const own = globalThis.RegExp;
  globalThis.RegExp = new Proxy(own, {
    construct: (target, [pattern, flags = ''], self) => {
      made.push({ pattern: String(pattern), flags });
      return Reflect.construct(target, [pattern, flags], self) as object;
    },
  });
  try {
    await import(`${ROOT}${file}?patterns`);
  } finally {
    globalThis.RegExp = own;
  }
  return made;
};

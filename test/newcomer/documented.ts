import { readFileSync } from 'node:fs';

/** What docs/frameworks.md asks the users of one framework to do. */
export interface Documented {
  readonly title: string;
  /** The arguments of `npm install`. */
  readonly packages: readonly string[];
  /** The complete program: the block that begins with its file's name. */
  readonly program: string;
  /** How it is to be run: variables, and Node's flags. */
  readonly variables: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
}

const DOCS = readFileSync(new URL('../../docs/frameworks.md', import.meta.url), 'utf8');

/** One for each section that has a complete program. */
export const readDocs = (text = DOCS): readonly Documented[] =>
  text.split(/^## /m).flatMap((section) => {
    const [, program] = /^```ts\n\/\/ agent\.ts\n(.*?)^```$/ms.exec(section) ?? [];
    if (program === undefined) return [];
    const [title = ''] = section.split('\n');
    const [, packages = ''] = /^npm install (.*)$/m.exec(section) ?? [];
    const [, assignments = '', flags = ''] = /^((?:\w+=\S+ )*)node (.*)agent\.ts$/m.exec(section) ?? [];
    const variables = words(assignments).map((one) => one.split('=') as [string, string]);
    return [
      {
        title,
        packages: words(packages),
        program,
        variables: Object.fromEntries(variables),
        flags: words(flags),
      },
    ];
  });

const words = (line: string): readonly string[] => line.split(' ').filter(Boolean);

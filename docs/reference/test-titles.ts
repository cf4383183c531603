import ts from 'typescript-api';

/** What of a test file can be cited. */
export interface Titles {
  /** Of tests that run, as they stand in the source: `%s` is a case's text. */
  readonly tests: readonly string[];
  /** Texts and names of properties, of which tables of cases are made. */
  readonly texts: ReadonlySet<string>;
}

/** What may stand behind `test`, `it` and `describe` where they still run, all of them and always. */
const RUNNING = ['each', 'for', 'concurrent', 'sequential'];

/** By the grammar: what stands in a comment or in another call is no test. */
export const titlesIn = (source: string): Titles => {
  const tests: string[] = [];
  const texts = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || (ts.isIdentifier(node) && ts.isPropertyAssignment(node.parent)))
      texts.add(node.text);
    if (ts.isCallExpression(node)) {
      const [name = '', ...modifiers] = namesOf(node.expression);
      const [title] = node.arguments;
      const isTest = ['test', 'it'].includes(name);
      if ((isTest || name === 'describe') && !modifiers.every((one) => RUNNING.includes(one))) return;
      if (isTest && title && ts.isStringLiteralLike(title)) tests.push(title.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('file.ts', source, ts.ScriptTarget.Latest, true));
  return { tests, texts };
};

/** `test.concurrent.each(…)`: test, concurrent, each. */
const namesOf = (node: ts.Expression): readonly string[] => {
  if (ts.isIdentifier(node)) return [node.text];
  if (ts.isPropertyAccessExpression(node)) return [...namesOf(node.expression), node.name.text];
  if (ts.isCallExpression(node)) return namesOf(node.expression);
  return ts.isTaggedTemplateExpression(node) ? namesOf(node.tag) : [];
};

/** Whether a test of that title runs there: to the letter, or a case of a table, by its own text in the place of `%s`. */
export const hasTest = ({ tests, texts }: Titles, title: string): boolean =>
  tests.some((one) => {
    if (one === title) return !one.includes('%s');
    const parts = one.split('%s').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const [, ...cases] = new RegExp(`^${parts.join('(.+)')}$`).exec(title) ?? [];
    return cases.length > 0 && cases.every((text) => texts.has(text));
  });

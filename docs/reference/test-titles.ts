import ts from 'typescript-api';

/** Modifiers of `test`, `it` and `describe` with which all tests still run. */
const RUNNING = ['each', 'for', 'concurrent', 'sequential'];

/**
 * Titles of the tests that run, as written in the source: `%s` is a placeholder of `each`. It reads the syntax tree, so a comment or
 * another call is not a test.
 */
export const titlesIn = (source: string): readonly string[] => {
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [name = '', ...modifiers] = namesOf(node.expression);
      const [title] = node.arguments;
      const isTest = ['test', 'it'].includes(name);
      if ((isTest || name === 'describe') && !modifiers.every((one) => RUNNING.includes(one))) return;
      if (isTest && title && ts.isStringLiteralLike(title)) titles.push(title.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('file.ts', source, ts.ScriptTarget.Latest, true));
  return titles;
};

/** `test.concurrent.each(…)`: test, concurrent, each. */
const namesOf = (node: ts.Expression): readonly string[] => {
  if (ts.isIdentifier(node)) return [node.text];
  if (ts.isPropertyAccessExpression(node)) return [...namesOf(node.expression), node.name.text];
  if (ts.isCallExpression(node)) return namesOf(node.expression);
  return ts.isTaggedTemplateExpression(node) ? namesOf(node.tag) : [];
};

/** The kind of a tool, where it changes how errors are read. */
export type ToolKind = 'runner' | 'fetch' | 'browser';

/** Patterns in the order of their precedence. Each matches a whole name, or the verb and its object. */
const KINDS: Readonly<Record<ToolKind, RegExp>> = {
  browser: /\b(?:browser|playwright|puppeteer|selenium|chromium)\b/,
  runner:
    /^(?:runner|bash|shell|terminal|powershell|repl|jupyter|sandbox|python)(?: tool)?$|\b(?:code|python|js|javascript|bash|shell) (?:interpreter|runner|repl|executor|sandbox)\b|\b(?:run|execute|exec|eval) (?:(?:python|js|javascript|node|bash|shell|terminal|user|the) )?(?:code|commands?|cmd|python|javascript|js|scripts?|program|cell|shell|bash)\b|\b(?:run|execute|exec) (?:(?:the|all|unit|integration|e2e|npm|go|cargo) )*(?:tests?|specs?|pytest|jest|vitest|rspec|build|lint(?:er)?)\b|^(?:pytest|jest|vitest|mocha|rspec|phpunit|(?:npm|go|cargo) test|test runner)$/,
  fetch:
    /\b(?:fetch(?:$| (?:urls?|page|web|webpage|website|html|markdown|txt|json)\b)|scrape|crawl|http (?:request|get)|(?:read|get|open|visit) (?:url|web ?page|website)|web ?fetch)\b/,
};

/** All kinds, in the order of their precedence. */
export const TOOL_KINDS = Object.keys(KINDS) as readonly ToolKind[];

/** The words of a name in lower case: `executeCode`, `execute-code` and `execute_code` are 'execute code'. */
export const spaced = (name: string): string =>
  name
    .replace(/([a-z\d])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .replace(/[^a-z\d]+/g, ' ')
    .trim();

/** The kind that a tool's name means, or the title in its MCP annotations if there is one; undefined in doubt. */
export const kindOf = (tool: string, annotations?: { readonly title?: string | undefined }): ToolKind | undefined => {
  const words = [tool, `${annotations?.title}`].map(spaced);
  return TOOL_KINDS.find((kind) => words.some((name) => KINDS[kind].test(name)));
};

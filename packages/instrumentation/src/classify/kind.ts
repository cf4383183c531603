/** The kind of a tool, where it changes how errors are read. */
export type ToolKind = 'runner' | 'fetch' | 'browser';

/** Patterns in the order of their precedence. Each matches a whole name, or the verb and its object. */
const KINDS: Readonly<Record<ToolKind, RegExp>> = {
  browser: /\b(?:browser|playwright|puppeteer|selenium|chromium)\b/,
  runner:
    /^(?:runner|bash|shell|terminal|powershell|repl|jupyter|sandbox|python)(?: tool)?$|\b(?:code|python|js|javascript|bash|shell) (?:interpreter|runner|repl|executor|sandbox)\b|\b(?:run|execute|exec|eval) (?:(?:python|js|javascript|node|bash|shell|terminal|user|the) )?(?:code|commands?|cmd|python|javascript|js|scripts?|program|cell|shell|bash)\b/,
  fetch:
    /\b(?:fetch(?:$| (?:urls?|page|web|webpage|website|html|markdown|txt|json)\b)|scrape|crawl|http (?:request|get)|(?:read|get|open|visit) (?:url|web ?page|website)|web ?fetch)\b/,
};

/** The kind that a tool's name means, or the title in its MCP annotations if there is one; undefined in doubt. */
export const kindOf = (tool: string, annotations?: { readonly title?: string | undefined }): ToolKind | undefined => {
  const names = [tool, annotations?.title ?? ''].map((name) => name.replace(/([a-z\d])(?=[A-Z])/g, '$1 '));
  const words = names.map((name) => name.toLowerCase().replace(/[^a-z\d]+/g, ' ')).map((name) => name.trim());
  return (['browser', 'runner', 'fetch'] as const).find((kind) => words.some((name) => KINDS[kind].test(name)));
};

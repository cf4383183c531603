/** What kind of tool it is, where that changes how its errors are read. */
export type ToolKind = 'runner' | 'fetch' | 'browser';

/** In order. A whole name, or the verb and its object. */
const KINDS: Readonly<Record<ToolKind, RegExp>> = {
  browser: /\b(?:browser|playwright|puppeteer|selenium|chromium)\b/,
  runner:
    /^(?:runner|bash|shell|terminal|powershell|repl|jupyter|sandbox|python)(?: tool)?$|\b(?:code|python|js|javascript|bash|shell) (?:interpreter|runner|repl|executor|sandbox)\b|\b(?:run|execute|exec|eval) (?:(?:python|js|javascript|node|bash|shell|terminal|user|the) )?(?:code|commands?|cmd|python|javascript|js|scripts?|program|cell|shell|bash)\b/,
  fetch:
    /\b(?:fetch(?:$| (?:urls?|page|web|webpage|website|html|markdown|txt|json)\b)|scrape|crawl|http (?:request|get)|(?:read|get|open|visit) (?:url|web ?page|website)|web ?fetch)\b/,
};

/** What kind of tool a name stands for, with the title of MCP's annotations where it has any; undefined in doubt. */
export const kindOf = (tool: string, annotations?: { readonly title?: string | undefined }): ToolKind | undefined => {
  const names = [tool, annotations?.title ?? ''].map((name) => name.replace(/([a-z\d])(?=[A-Z])/g, '$1 '));
  const words = names.map((name) => name.toLowerCase().replace(/[^a-z\d]+/g, ' ')).map((name) => name.trim());
  return (['browser', 'runner', 'fetch'] as const).find((kind) => words.some((name) => KINDS[kind].test(name)));
};

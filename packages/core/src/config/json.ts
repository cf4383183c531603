import type { ConfigIssue } from './checks.ts';

/** Reads JSON. The issue has line and column if they are known. `least`: the shortest text that would do. */
export const readJson = (
  text: string,
  least: string,
): { readonly value: unknown; readonly issue?: ConfigIssue | undefined } => {
  const json = text.replace(/^\uFEFF/, ''); // Some editors begin a file with this mark, which is not JSON.
  try {
    return { value: JSON.parse(json) };
  } catch (error) {
    return { value: undefined, issue: notJson(json, (error as SyntaxError).message, least) }; // JSON.parse throws nothing else.
  }
};

const notJson = (json: string, why: string, least: string): ConfigIssue => {
  const position = /at position (\d+)/.exec(why)?.[1];
  const reason = why.replace(/ \(line \d+ column \d+\)/, '').replace(/ at position \d+/, '');
  // The engine's message may quote the text over several lines.
  const message = `is not valid JSON (${reason.replace(/\s+/g, ' ')}). Correct the text.`;
  if (json.trim() === '') return { path: 'text', message: `is empty. Give at least ${least}.` };
  return { path: position === undefined ? 'text' : placeOf(json, Number(position)), message };
};

const placeOf = (json: string, position: number): string => {
  const before = json.slice(0, position);
  const column = position - Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r'));
  return `line ${before.split(/\r\n|\n|\r/).length}, column ${column}`;
};

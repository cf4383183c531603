import { OTHER_TOOL } from '../index.ts';
import type { Ended, ModelBox, ModelPermit, Mystery } from './model.ts';

/** O8: what a call of a declared tool came to, after all that its tool has done in this box. */
export const afterHistory = ({ session, tool, series, input = '' }: ModelPermit, ended: Ended): Ended => {
  const { unexplained, ...rest } = ended;
  const { box, id } = session;
  if (series === OTHER_TOOL) return rest;
  if (ended.outcome === 'success') succeeded(box, tool);
  if (unexplained === undefined || box.succeeded.has(tool)) return rest;
  const { digest: text, ofTool = false } = unexplained;
  const all = box.unexplained.get(tool) ?? [];
  const alike = all.filter((one) => one.text === text);
  if (isProven(all)) return alike.length === 0 ? rest : unusable(rest);
  const next = [...alike, { text, ofTool, input: `${id} ${input}` }];
  box.unexplained.set(tool, next);
  return isProven(next) ? unusable(rest) : rest;
};

/** It lasts until a success. */
const isProven = (alike: readonly Mystery[]): boolean =>
  new Set(alike.map((one) => one.input)).size >= (alike.at(-1)?.ofTool ? 4 : 6);

const unusable = (ended: Ended): Ended => ({ ...ended, outcome: 'failure', category: 'unusable' });

/** O8, C11: once is enough, for good. */
export const succeeded = (box: ModelBox, tool: string): void => {
  box.succeeded.add(tool);
  box.unexplained.delete(tool);
};

import { OTHER_TOOL } from '../index.ts';
import type { Ended, ModelBox, ModelPermit } from './model.ts';

/** O8: what a call of a declared tool came to, after all that its tool has done in this box. */
export const afterHistory = ({ session, tool, series, input = '' }: ModelPermit, ended: Ended): Ended => {
  const { unexplained: text, ...rest } = ended;
  const { box, id } = session;
  if (series === OTHER_TOOL) return rest;
  if (ended.outcome === 'success') succeeded(box, tool);
  if (text === undefined || box.succeeded.has(tool)) return rest;
  const all = box.unexplained.get(tool) ?? [];
  const alike = all.filter((one) => one.text === text);
  const isKnown = new Set(all.map((one) => one.input)).size >= 4; // It lasts until a success.
  if (isKnown) return alike.length === 0 ? rest : unusable(rest);
  const next = [...alike, { text, input: `${id} ${input}` }];
  box.unexplained.set(tool, next);
  return new Set(next.map((one) => one.input)).size >= 4 ? unusable(rest) : rest;
};

const unusable = (ended: Ended): Ended => ({ ...ended, outcome: 'failure', category: 'unusable' });

/** O8, C11: once is enough, for good. */
export const succeeded = (box: ModelBox, tool: string): void => {
  box.succeeded.add(tool);
  box.unexplained.delete(tool);
};

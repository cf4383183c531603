import type { Circle } from '../loop-guard/circles.ts';
import { quoteTool } from './wording.ts';

/** D5: what the model reads once it goes in circles. It is advice: to wait for something by asking again is legitimate. */
export const circleText = ({ tools }: Pick<Circle, 'tools'>): string => {
  const [one = '', ...others] = tools;
  const what =
    others.length === 0
      ? `${quoteTool(one)} was called with the same arguments and gave the same result, 3 times in a row.`
      : `The same ${tools.length} calls (${tools.map(quoteTool).join(', ')}) were made with the same results, 3 times over.`;
  return `${what} If you wait for a change, wait longer before you ask again. Otherwise try something else, or finish with what you have.`;
};

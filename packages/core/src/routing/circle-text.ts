import type { Circle } from '../loop-guard/circles.ts';
import { quoteTool } from './wording.ts';

/** D5: what the model reads once it goes in circles. It is advice: to wait for something by asking again is legitimate. */
export const circleText = ({ tools }: Pick<Circle, 'tools'>): string => {
  const calls = tools.length === 1 ? 'The same call was' : `The same ${tools.length} calls were`;
  return `${calls} made 3 times over, with the same arguments and results: ${tools.map(quoteTool).join(', ')}. If you wait for a change, wait longer before you ask again. Otherwise try something else, or finish with what you have.`;
};

import { describe, expect, it } from 'vitest';
import { classifyError, classifyResult } from './classify.ts';
import { DEFAULT_JUDGEMENT, ERROR_CATEGORIES } from './taxonomy.ts';
import { neverThrows } from './test-support.nasty.ts';

neverThrows(classifyError, classifyResult);

describe('O1: the taxonomy', () => {
  it('judges each category, once, and cannot be changed', () => {
    expect(Object.keys(DEFAULT_JUDGEMENT)).toEqual([...ERROR_CATEGORIES]);
    expect(Object.isFrozen(DEFAULT_JUDGEMENT)).toBe(true);
  });

  it('outages are failures; the model, people and business errors are ignored', () => {
    const ignored = ERROR_CATEGORIES.filter((category) => DEFAULT_JUDGEMENT[category] === 'ignored');
    expect(ignored).toEqual(['invalid_input', 'denied', 'cancelled', 'tool_error']);
  });
});

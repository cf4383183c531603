import { expect, test } from 'vitest';
import { classifyError, classifyResult } from '../test-support/classify/verdicts.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const failed = { isError: true, content: [{ type: 'text', text: '503 Service Unavailable' }] };

test.each([undefined, null, {}, 5, 'now', { unixMs: 'now' }])(
  'O2: with %j as context, the category changes',
  (context) => {
    expect(classifyError(refused, context as never)).toEqual({ category: 'network' });
    expect(classifyResult(failed, context as never)).toEqual({ category: 'server' });
  },
);

import { expect, test } from 'vitest';
import { classifyError, classifyResult } from './classify.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const failed = { isError: true, status: 503 };

test.each([undefined, null, {}, 5, 'now', { unixMs: 'now' }])('O2: with %j as context it is now', (context) => {
  expect(classifyError(refused, context as never)).toEqual({ category: 'network' });
  expect(classifyResult(failed, context as never)).toEqual({ category: 'server' });
});

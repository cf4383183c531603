import { expect, it } from 'vitest';
import { withMarked } from './marked.ts';

it('puts a text between its markers, and leaves the rest as it is', () => {
  const page = 'a\n<!-- x:begin -->\nold\n<!-- x:end -->\n<!-- y:begin -->\n<!-- y:end -->\n';
  const made = withMarked(page, 'x', 'new $& text', 'PAGE.md');
  expect(made).toBe(page.replace('old', () => 'new $& text'));
  expect(withMarked(made, 'x', 'old', 'PAGE.md')).toBe(page);
});

it.each(['nothing', '<!-- x:begin -->', '<!-- x:end -->', '<!-- x:end --><!-- x:begin -->'])(
  'rejects a document that has only %j',
  (page) => {
    expect(() => withMarked(page, 'x', 'new', 'PAGE.md')).toThrow(
      'PAGE.md has no <!-- x:begin --> with a <!-- x:end --> after it',
    );
  },
);

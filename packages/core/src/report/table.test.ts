import { describe, expect, test } from 'vitest';
import { type Column, type Paint, table } from './table.ts';

interface Row {
  readonly name: string;
  readonly times: number;
  readonly note: string;
}

const columns: readonly Column<Row>[] = [
  { head: 'tool', cell: ({ name }) => name, least: 6 },
  { head: 'n', cell: ({ times }) => String(times), align: 'right', tone: () => 'bad' },
  { head: 'note', cell: ({ note }) => note },
];

const plain: Paint = (text) => text;

const drawn = (rows: readonly Row[], width = 80, paint = plain) => table(columns, rows, { width, paint });

describe('Q1: tables', () => {
  test('Q1: columns line up by what is seen, figures to the right', () => {
    const rows = [
      { name: 'a', times: 5, note: 'x' },
      { name: '検索', times: 120, note: '' },
    ];
    expect(drawn(rows)).toEqual(['tool    n  note', 'a       5  x', '検索  120']);
  });

  test('Q1: a column with nothing in it is left out, and so is a table', () => {
    expect(drawn([{ name: 'a', times: 5, note: '' }])).toEqual(['tool  n', 'a     5']);
    expect(drawn([])).toEqual([]);
  });

  test('Q1: a name that does not fit is folded at a joint', () => {
    expect(drawn([{ name: 'find_customer', times: 5, note: 'seen' }], 20)).toEqual([
      'tool         n  note',
      'find_        5  seen',
      'customer',
    ]);
  });

  test('Q1: where there is no room for columns each row is a sentence', () => {
    expect(drawn([{ name: 'find_customer', times: 5, note: 'a note of some length' }], 20)).toEqual([
      'find_customer: n 5,',
      '  note a note of',
      '  some length',
    ]);
  });

  test('Q1: a tone colours the text, not the blanks beside it', () => {
    const marking: Paint = (text, tone) => (tone === undefined ? text : `<${tone}:${text}>`);
    expect(drawn([{ name: 'a', times: 10, note: '' }], 80, marking)).toEqual([
      '<quiet:tool>   <quiet:n>',
      'a     <bad:10>',
    ]);
  });
});

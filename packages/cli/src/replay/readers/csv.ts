import { parse } from 'csv-parse';
import { inOrder } from '../in-order.ts';
import type { RecordedEvent, RecordingReader } from '../recording.ts';
import { eventsOf, type Row } from './jsonl.ts';

/** The documented format as CSV: a header with the names of the fields, and one row per call, start, end or step. */
export const csvReader: RecordingReader = {
  name: 'csv',
  description: 'CSV with the fields of jsonl in its first row',
  recognizes: (head, path) => {
    const header = head.split('\n', 1)[0] ?? '';
    return /\.csv$/i.test(path) || (/\bsession\b/.test(header) && /\bat\b/.test(header) && !header.startsWith('{'));
  },
  async *read(file, notes) {
    const order = inOrder();
    let number = 1;
    const parser = parse({ columns: true, bom: true, relax_column_count: true, skip_empty_lines: true });
    const rows: Row[] = [];
    parser.on('data', (row: Row) => rows.push(row));
    let fault: Error | undefined;
    parser.on('error', (error) => {
      fault = error;
    });
    const taken = (): readonly RecordedEvent[] => {
      const events: RecordedEvent[] = [];
      for (const row of rows.splice(0)) {
        number += 1;
        for (const event of eventsOf(filled(row), number, notes)) order.add(event, events);
      }
      return events;
    };
    for await (const lines of file.lines()) {
      parser.write(`${lines.join('\n')}\n`);
      yield taken();
    }
    parser.end();
    await new Promise((resolve) => parser.once('end', resolve).once('error', resolve));
    if (fault) throw fault;
    yield taken();
    yield order.rest();
  },
};

/** An empty cell is a field that is left out. */
const filled = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== ''));

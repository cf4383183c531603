import { pipeline, Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { inOrder } from '../in-order.ts';
import type { ReadNotes, RecordedEvent, RecordingFile, RecordingReader } from '../recording.ts';
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
    for await (const row of rowsOf(file, notes)) {
      number += 1;
      const events: RecordedEvent[] = [];
      for (const event of eventsOf(filled(row), number, notes)) order.add(event, events);
      yield events;
    }
    yield order.rest();
  },
};

/** The rows of a file. What the file or the parser throws, the iteration throws. */
const rowsOf = (file: RecordingFile, notes: ReadNotes): AsyncIterable<Row> =>
  pipeline(
    Readable.from(textsOf(file)),
    parse({
      bom: true,
      columns: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      skip_records_with_error: true,
      on_skip: () => {
        notes.skipped('rows that are not CSV');
        return undefined;
      },
    }),
    () => undefined,
  );

const textsOf = async function* (file: RecordingFile): AsyncIterable<string> {
  for await (const lines of file.lines()) yield `${lines.join('\n')}\n`;
};

/** An empty cell is a field that is left out. */
const filled = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== ''));

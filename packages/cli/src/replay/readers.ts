import { claudeCodeReader } from './readers/claude-code.ts';
import { csvReader } from './readers/csv.ts';
import { jsonlReader } from './readers/jsonl.ts';
import { otlpReader } from './readers/otlp.ts';
import { tauBenchReader } from './readers/tau-bench.ts';
import type { RecordingReader } from './recording.ts';
import { headOf } from './recording-file.ts';

/** All formats. The first that recognizes a file reads it. To add one, write a file in `readers/` and list it here. */
export const READERS: readonly RecordingReader[] = [
  otlpReader,
  claudeCodeReader,
  tauBenchReader,
  jsonlReader,
  csvReader,
];

/**
 * The reader of a file: the one that is named, or the first that recognizes it.
 *
 * @throws Error if the file cannot be looked at, or is not text.
 */
export const readerOf = async (path: string, format: string | undefined): Promise<RecordingReader | undefined> => {
  if (format !== undefined) return READERS.find(({ name }) => name === format);
  const head = await headOf(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ESPIPE') throw error;
    throw new Error('it is a pipe, which can be read only once. Name its format with --format.');
  });
  if (head === '') throw new Error('it is empty.');
  if (/\uFFFD\uFFFD|\0/.test(head.slice(0, LOOKED_AT))) {
    throw new Error('it is not text in UTF-8. Unpack it if it is compressed, or save it as UTF-8.');
  }
  return READERS.find((reader) => reader.recognizes(head, path));
};

/** Characters in which a file that is not text shows it. */
const LOOKED_AT = 1000;

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

/** The reader of a file: the one that is named, or the first that recognizes it. */
export const readerOf = async (path: string, format: string | undefined): Promise<RecordingReader | undefined> => {
  if (format !== undefined) return READERS.find(({ name }) => name === format);
  const head = await headOf(path);
  return READERS.find((reader) => reader.recognizes(head, path));
};

import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import type { RecordingFile } from './recording.ts';

const HEAD_BYTES = 65_536;
const CHUNK_BYTES = 65_536;
const MAX_TEXT_BYTES = 512 * 1_048_576;
/** A longer line is cut off, so that a file without line ends cannot fill the memory. */
const MAX_LINE_CHARS = 64 * 1_048_576;

/** A file on disk that is read as a stream. */
export const recordingFile = (path: string): RecordingFile => ({
  path,
  lines: () => linesOf(createReadStream(path, { encoding: 'utf8', highWaterMark: CHUNK_BYTES })),
  text: async () => {
    const { size } = await stat(path);
    if (size > MAX_TEXT_BYTES) {
      throw new Error(
        `it has ${size} bytes, but a file of this format can have at most ${MAX_TEXT_BYTES}. Split it into several files.`,
      );
    }
    return readFile(path, 'utf8');
  },
  isPipe: async () => !(await stat(path)).isFile(),
});

/** The first 64 KiB of a file, as text. */
export const headOf = async (path: string): Promise<string> => {
  const handle = await open(path);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead).replace(/^\uFEFF/, '');
  } finally {
    await handle.close();
  }
};

/** The lines of a text that comes in chunks, without empty ones. */
export const linesOf = async function* (chunks: AsyncIterable<string>): AsyncIterable<readonly string[]> {
  let rest: string[] = [];
  let length = 0;
  let isFirst = true;
  for await (const chunk of chunks) {
    const text = isFirst ? chunk.replace(/^\uFEFF/, '') : chunk;
    isFirst = false;
    const lines = text.split('\n');
    const last = lines.pop() ?? '';
    if (lines.length > 0) {
      lines[0] = rest.join('') + lines[0];
      yield lines.filter(isFilled);
      [rest, length] = [[], 0];
    }
    // The parts of a long line are joined once, at its end.
    if (length < MAX_LINE_CHARS) rest.push(last);
    length += last.length;
  }
  const line = rest.join('');
  if (isFilled(line)) yield [line];
};

const isFilled = (line: string): boolean => line !== '' && line !== '\r';

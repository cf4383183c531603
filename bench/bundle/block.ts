import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Chunk, uvarint, varint } from './chunks.ts';
import type { Labels } from './shape.ts';

/*
 * A block of Prometheus' storage, written by hand. Series with the same samples share their chunks, so that a day of a million
 * series takes seconds. A query reads as much as from a block of Prometheus.
 */

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0x82f63b78 : rest >>> 1;
  return rest >>> 0;
});

const crc32c = (bytes: Buffer): Buffer => {
  let rest = 0xffffffff;
  for (const byte of bytes) rest = (rest >>> 8) ^ (CRC[(rest ^ byte) & 0xff] ?? 0);
  return uint32(~rest >>> 0);
};

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const uint64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};

/** With its length before and its checksum behind. */
const section = (content: Buffer): Buffer => Buffer.concat([uint32(content.length), content, crc32c(content)]);

/** The parts of a file, and how long it is by now. */
const file = () => {
  const parts: Buffer[] = [];
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(bytes: Buffer): number {
      const at = length;
      parts.push(bytes);
      length += bytes.length;
      return at;
    },
    pad(to: number): void {
      this.add(Buffer.alloc((to - (length % to)) % to));
    },
    bytes: () => Buffer.concat(parts, length),
  };
};

/** A series of a block. Series with the same `chunks` share them. */
export interface BlockSeries {
  readonly labels: Labels;
  readonly chunks: readonly Chunk[];
}

const ENCODING_XOR = Buffer.from([1]);
const SERIES_UNIT = 16;

/** Writes chunks, and returns what the index says about each list of chunks. */
const writeChunks = (folder: string, series: readonly BlockSeries[]): Map<readonly Chunk[], Buffer> => {
  const out = file();
  out.add(Buffer.from([0x85, 0xbd, 0x40, 0xdd, 1, 0, 0, 0]));
  const found = new Map<readonly Chunk[], Buffer>();
  for (const { chunks } of series) {
    if (found.has(chunks)) continue;
    const about: Buffer[] = [uvarint(chunks.length)];
    let before: { to: number; ref: number } | undefined;
    for (const { from, to, data } of chunks) {
      const body = Buffer.concat([ENCODING_XOR, data]);
      const ref = out.add(Buffer.concat([uvarint(data.length), body, crc32c(body)]));
      about.push(
        ...(before === undefined
          ? [varint(from), uvarint(to - from), uvarint(ref)]
          : [uvarint(from - before.to), uvarint(to - from), varint(ref - before.ref)]),
      );
      before = { to, ref };
    }
    found.set(chunks, Buffer.concat(about));
  }
  mkdirSync(join(folder, 'chunks'), { recursive: true });
  writeFileSync(join(folder, 'chunks', '000001'), out.bytes());
  return found;
};

const counted = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  return Buffer.concat([uvarint(bytes.length), bytes]);
};

/** By the order of Prometheus: label by label, the name before the value. */
const keyOf = (labels: Labels): string => labels.map(([name, value]) => `${name}\0${value}`).join('\0');
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const writeIndex = (folder: string, series: readonly BlockSeries[], chunks: Map<readonly Chunk[], Buffer>): void => {
  const out = file();
  out.add(Buffer.from([0xba, 0xaa, 0xd7, 0, 2]));
  const texts = [...new Set(series.flatMap(({ labels }) => labels.flat()))].toSorted(byText);
  const symbols = out.add(section(Buffer.concat([uint32(texts.length), ...texts.map(counted)])));
  const symbolOf = new Map(texts.map((text, index) => [text, uvarint(index)]));
  const postings = new Map<string, Map<string, number[]>>([['', new Map([['', []]])]]);
  const note = (name: string, value: string, ref: number): void => {
    const values = postings.get(name) ?? new Map<string, number[]>();
    postings.set(name, values);
    const refs = values.get(value) ?? [];
    values.set(value, refs);
    refs.push(ref);
  };
  out.pad(SERIES_UNIT);
  const seriesFrom = out.length;
  const ordered = series.map((one) => ({ one, key: keyOf(one.labels) })).sort((a, b) => byText(a.key, b.key));
  for (const { one } of ordered) {
    out.pad(SERIES_UNIT);
    const ref = out.length / SERIES_UNIT;
    note('', '', ref);
    const parts = [uvarint(one.labels.length)];
    for (const [name, value] of one.labels) {
      parts.push(symbolOf.get(name) as Buffer, symbolOf.get(value) as Buffer);
      note(name, value, ref);
    }
    const content = Buffer.concat([...parts, chunks.get(one.chunks) as Buffer]);
    out.add(Buffer.concat([uvarint(content.length), content, crc32c(content)]));
  }
  out.pad(4);
  const labelIndices = out.length;
  const offsets: Buffer[] = [];
  for (const [name, values] of [...postings].toSorted(([a], [b]) => byText(a, b))) {
    for (const [value, refs] of [...values].toSorted(([a], [b]) => byText(a, b))) {
      out.pad(4);
      const at = out.add(section(Buffer.concat([uint32(refs.length), ...refs.map(uint32)])));
      offsets.push(Buffer.concat([uvarint(2), counted(name), counted(value), uvarint(at)]));
    }
  }
  const labelTable = out.add(section(uint32(0)));
  const postingsTable = out.add(section(Buffer.concat([uint32(offsets.length), ...offsets])));
  const contents = [symbols, seriesFrom, labelIndices, labelTable, labelIndices, postingsTable].map(uint64);
  const toc = Buffer.concat(contents);
  out.add(toc);
  out.add(crc32c(toc));
  writeFileSync(join(folder, 'index'), out.bytes());
};

/**
 * Writes a block into the folder of a Prometheus that does not run.
 * @param number 0 to 9, other for each block
 */
export const writeBlock = (data: string, number: number, series: readonly BlockSeries[]): void => {
  const ulid = `0000000000000000000000000${number}`;
  const folder = join(data, ulid);
  mkdirSync(folder, { recursive: true });
  writeIndex(folder, series, writeChunks(folder, series));
  let [minTime, maxTime] = [Number.POSITIVE_INFINITY, 0];
  for (const chunks of new Set(series.map((one) => one.chunks))) {
    minTime = Math.min(minTime, chunks[0]?.from ?? minTime);
    maxTime = Math.max(maxTime, (chunks.at(-1)?.to ?? 0) + 1);
  }
  const compaction = { level: 1, sources: [ulid] };
  writeFileSync(
    join(folder, 'meta.json'),
    JSON.stringify({ ulid, minTime, maxTime, stats: {}, compaction, version: 1 }),
  );
};

import { uvarint } from './chunks.ts';
import type { Stored } from './history.ts';
import type { Labels } from './shape.ts';

/*
 * Prometheus' remote write, protocol 1: a message of protobuf, compressed with snappy.
 */

const LITERAL = 0xf4;
const LONGEST_LITERAL = 65_536;

/** Snappy allows text that is not compressed. */
const snappy = (bytes: Buffer): Buffer => {
  const parts = [uvarint(bytes.length)];
  for (let at = 0; at < bytes.length; at += LONGEST_LITERAL) {
    const part = bytes.subarray(at, at + LONGEST_LITERAL);
    parts.push(Buffer.from([LITERAL, (part.length - 1) & 0xff, (part.length - 1) >> 8]), part);
  }
  return Buffer.concat(parts);
};

/** A field of protobuf that has a length. */
export const field = (number: number, bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2]), uvarint(bytes.length), bytes]);

export const labelsOf = (labels: Labels): Buffer =>
  Buffer.concat(
    labels.map(([name, value]) => field(1, Buffer.concat([field(1, Buffer.from(name)), field(2, Buffer.from(value))]))),
  );

const sample = (at: number, value: number): Buffer => {
  const double = Buffer.alloc(9);
  double[0] = (1 << 3) | 1;
  double.writeDoubleLE(value, 1);
  return field(2, Buffer.concat([double, Buffer.from([2 << 3]), uvarint(at)]));
};

/** Sends one message, with the time series that `field(1, …)` has each.
 * @throws Error with the answer of Prometheus if it rejects it
 */
export const sent = async (url: string, message: Buffer): Promise<void> => {
  const response = await fetch(`${url}/api/v1/write`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
      'x-prometheus-remote-write-version': '0.1.0',
    },
    body: new Uint8Array(snappy(message)),
  });
  if (!response.ok) throw new Error(`Prometheus rejected the newest samples: ${await response.text()}`);
};

const SERIES_PER_REQUEST = 5_000;

/**
 * Sends the samples after `from` up to `to` (milliseconds).
 * @throws Error with the answer of Prometheus if it rejects a request
 */
export const remoteWrite = async (url: string, stored: readonly Stored[], from: number, to: number): Promise<void> => {
  const samples = new Map<string, Buffer>();
  const ids = new Map<Stored['value'], number>();
  const samplesOf = ({ value, step }: Stored): Buffer => {
    const id = ids.get(value) ?? ids.size;
    ids.set(value, id);
    const known = samples.get(`${id}/${step}`);
    if (known !== undefined) return known;
    const parts: Buffer[] = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) parts.push(sample(at, value(at)));
    const bytes = Buffer.concat(parts);
    samples.set(`${id}/${step}`, bytes);
    return bytes;
  };
  for (let at = 0; at < stored.length; at += SERIES_PER_REQUEST) {
    const message = stored
      .slice(at, at + SERIES_PER_REQUEST)
      .filter((one) => samplesOf(one).length > 0)
      .map((one) => field(1, Buffer.concat([labelsOf(one.labels), samplesOf(one)])));
    await sent(url, Buffer.concat(message));
  }
};

/** Prometheus' XOR chunks: 120 samples each, regular times. */
const SAMPLES = 120;

/** Writes bits, the highest first. */
class Bits {
  readonly #bytes: number[] = [];
  #free = 0;

  write(value: bigint, count: number): void {
    for (let left = count - 1; left >= 0; left -= 1) {
      if (this.#free === 0) {
        this.#bytes.push(0);
        this.#free = 8;
      }
      this.#free -= 1;
      const last = this.#bytes.length - 1;
      this.#bytes[last] = (this.#bytes[last] ?? 0) | (Number((value >> BigInt(left)) & 1n) << this.#free);
    }
  }

  bytes(): Buffer {
    return Buffer.from(this.#bytes);
  }
}

/** An unsigned integer in Go's `uvarint`. */
export const uvarint = (value: number | bigint): Buffer => {
  if (typeof value === 'number' && value < 0x80) return Buffer.from([value]);
  const bytes: number[] = [];
  let left = BigInt(value);
  while (left >= 0x80n) {
    bytes.push(Number(left & 0x7fn) | 0x80);
    left >>= 7n;
  }
  bytes.push(Number(left));
  return Buffer.from(bytes);
};

/** A signed integer in Go's `varint`. */
export const varint = (value: number | bigint): Buffer => {
  const big = BigInt(value);
  return uvarint(big < 0n ? (-big << 1n) - 1n : big << 1n);
};

const view = new DataView(new ArrayBuffer(8));
const bitsOf = (value: number): bigint => {
  view.setFloat64(0, value);
  return view.getBigUint64(0);
};

const writeAll = (bits: Bits, bytes: Buffer): void => {
  for (const byte of bytes) bits.write(BigInt(byte), 8);
};

const leadingZeros = (value: bigint): number => 64 - value.toString(2).length;
const trailingZeros = (value: bigint): number => value.toString(2).match(/0*$/)?.[0].length ?? 0;

const encoded = (first: number, step: number, values: readonly number[]): Buffer => {
  const bits = new Bits();
  bits.write(BigInt(values.length), 16);
  let window: { leading: number; trailing: number } | undefined;
  let before = 0n;
  for (const [index, value] of values.entries()) {
    const now = bitsOf(value);
    if (index === 0) {
      writeAll(bits, varint(first));
      bits.write(now, 64);
      before = now;
      continue;
    }
    // The difference of the differences of times is zero from the third sample on.
    if (index === 1) writeAll(bits, uvarint(step));
    else bits.write(0n, 1);
    const xor = now ^ before;
    before = now;
    if (xor === 0n) {
      bits.write(0n, 1);
      continue;
    }
    const leading = Math.min(leadingZeros(xor), 31);
    const trailing = trailingZeros(xor);
    if (window !== undefined && leading >= window.leading && trailing >= window.trailing) {
      bits.write(0b10n, 2);
      bits.write(xor >> BigInt(window.trailing), 64 - window.leading - window.trailing);
      continue;
    }
    window = { leading, trailing };
    const significant = 64 - leading - trailing;
    bits.write(0b11n, 2);
    bits.write(BigInt(leading), 5);
    bits.write(BigInt(significant % 64), 6);
    bits.write(xor >> BigInt(trailing), significant);
  }
  return bits.bytes();
};

/** A chunk: first and last time in milliseconds, and its bytes. */
export interface Chunk {
  readonly from: number;
  readonly to: number;
  readonly data: Buffer;
}

/** The samples from `from` to `to` (milliseconds, both included) in chunks. */
export const chunksOf = (value: (at: number) => number, from: number, to: number, step: number): readonly Chunk[] => {
  const chunks: Chunk[] = [];
  for (let first = from; first <= to; first += SAMPLES * step) {
    const last = Math.min(first + (SAMPLES - 1) * step, to);
    const values: number[] = [];
    for (let at = first; at <= last; at += step) values.push(value(at));
    chunks.push({ from: first, to: first + (values.length - 1) * step, data: encoded(first, step, values) });
  }
  return chunks;
};

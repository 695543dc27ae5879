/** Number of Y, Cb and Cr bytes of a macroblock of 16 × 16 pixels. */
const macroblockBytes = 384;
const side = 16;
/** Constrained Baseline; level 5 covers every phone's screen. */
const [profile, constraints, level] = [66, 0xc0, 50];
/** Share of changed macroblocks above which a picture is a key frame, which then costs no more. */
const keyShare = 0.5;
const frameNumbers = 16;
const nalType = { slice: 1, keySlice: 5, sequence: 7, picture: 8 } as const;
const sliceType = { p: 5, i: 7 } as const;
/** Types of raw macroblocks (I_PCM, whose bytes follow) by kind of slice. */
const rawMacroblock = { p: 30, i: 25 } as const;
/**
 * Types of I_16x16 macroblocks without coefficients, which equal their prediction. The mode of the prediction is
 * added.
 */
const predictedMacroblock = { p: 6, i: 1 } as const;
/** Offset of each plane in a macroblock, with its width and height. */
const planes = [
  [0, 16],
  [256, 8],
  [320, 8],
] as const;
/**
 * Prediction modes of luma and chroma, which repeat the last row of the macroblock above, or the last column of the
 * one on the left.
 */
const predictions = { above: [0, 2], left: [1, 1] } as const;

type Prediction = keyof typeof predictions;

export interface EncodedFrame {
  readonly isKey: boolean;
  readonly data: Buffer;
}

/**
 * Lossless H.264 encoder without motion compensation: an unchanged macroblock is skipped, one that continues a
 * neighbor, as on blank parts of a screen, is predicted, and any other is sent raw.
 */
export class H264Encoder {
  readonly width: number;
  readonly height: number;
  readonly #columns: number;
  readonly #rows: number;
  #last: Buffer | undefined;
  #frameNumber = 0;
  #keyNumber = 0;

  /** Creates an encoder. Width and height are even numbers of pixels. */
  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.#columns = Math.ceil(width / side);
    this.#rows = Math.ceil(height / side);
  }

  /** Returns the parameters that a decoder needs first, in Annex B format. */
  configuration(): Buffer {
    const sequence = new BitWriter();
    for (const byte of [profile, constraints, level]) sequence.bits(byte, 8);
    // ID, frame numbers of four bits, output in decoding order, one reference frame.
    for (const value of [0, 0, 2, 1]) sequence.number(value);
    sequence.bits(0, 1);
    sequence.number(this.#columns - 1);
    sequence.number(this.#rows - 1);
    sequence.bits(0b11, 2);
    const cropped = [this.#columns * side - this.width, this.#rows * side - this.height] as const;
    sequence.bits(1, 1);
    for (const pixels of [0, cropped[0], 0, cropped[1]]) sequence.number(pixels / 2);
    sequence.bits(0, 1);
    const picture = new BitWriter();
    picture.number(0);
    picture.number(0);
    picture.bits(0, 2);
    for (const value of [0, 0, 0]) picture.number(value);
    picture.bits(0, 3);
    for (const value of [0, 0, 0]) picture.number(value);
    // Enables control of the deblocking filter, which the slices turn off.
    picture.bits(0b100, 3);
    return Buffer.concat([
      nalUnit(nalType.sequence, sequence.finish()),
      nalUnit(nalType.picture, picture.finish()),
    ]);
  }

  /** Encodes RGB pixels. `mustBeKey`: decoders may start with this frame. */
  encode(rgb: Buffer, mustBeKey: boolean): EncodedFrame {
    const blocks = this.#toMacroblocks(rgb);
    const changed = this.#changedSince(this.#last, blocks);
    const isKey = mustBeKey || changed.length > keyShare * this.#columns * this.#rows;
    const sent = isKey ? Array.from({ length: this.#columns * this.#rows }, (_, at) => at) : changed;
    this.#last = blocks;
    this.#frameNumber = isKey ? 0 : (this.#frameNumber + 1) % frameNumbers;
    const slice = this.#sliceHead(isKey);
    const kind = isKey ? 'i' : 'p';
    const raw = new Set<number>();
    let next = 0;
    for (const at of sent) {
      if (!isKey) slice.number(at - next);
      next = at + 1;
      const prediction = this.#predictionOf(blocks, at);
      if (prediction === undefined) {
        raw.add(at);
        slice.number(rawMacroblock[kind]);
        slice.bytes(blocks.subarray(at * macroblockBytes, next * macroblockBytes));
        continue;
      }
      const [luma, chroma] = predictions[prediction];
      for (const value of [predictedMacroblock[kind] + luma, chroma, 0]) slice.number(value);
      // Code (coeff_token) for no coefficients, which depends on the neighbors' coefficients: raw macroblocks count
      // as full.
      const hasRawNeighbour = Object.values(this.#neighboursOf(at)).some((neighbour) => raw.has(neighbour));
      slice.bits(hasRawNeighbour ? 0b000011 : 1, hasRawNeighbour ? 6 : 1);
    }
    const skippedAtEnd = this.#columns * this.#rows - next;
    if (skippedAtEnd > 0) slice.number(skippedAtEnd);
    return { isKey, data: nalUnit(isKey ? nalType.keySlice : nalType.slice, slice.finish()) };
  }

  #changedSince(last: Buffer | undefined, blocks: Buffer): number[] {
    const changed: number[] = [];
    for (let from = 0; from < blocks.length; from += macroblockBytes) {
      const to = from + macroblockBytes;
      if (last === undefined || blocks.compare(last, from, to, from, to) !== 0)
        changed.push(from / macroblockBytes);
    }
    return changed;
  }

  #sliceHead(isKey: boolean): BitWriter {
    const head = new BitWriter();
    head.number(0);
    head.number(isKey ? sliceType.i : sliceType.p);
    head.number(0);
    head.bits(this.#frameNumber, 4);
    // Consecutive key frames differ in this ID.
    if (isKey) head.number((this.#keyNumber = 1 - this.#keyNumber));
    head.bits(0, isKey ? 2 : 3);
    head.number(0);
    head.number(1);
    return head;
  }

  #neighboursOf(at: number): Partial<Record<Prediction, number>> {
    return {
      ...(at < this.#columns ? {} : { above: at - this.#columns }),
      ...(at % this.#columns === 0 ? {} : { left: at - 1 }),
    };
  }

  /** Returns a prediction that matches the whole macroblock; undefined if no neighbor predicts it. */
  #predictionOf(blocks: Buffer, at: number): Prediction | undefined {
    const { above, left } = this.#neighboursOf(at);
    if (above !== undefined && continues(blocks, at, { neighbour: above, prediction: 'above' }))
      return 'above';
    if (left !== undefined && continues(blocks, at, { neighbour: left, prediction: 'left' })) return 'left';
    return undefined;
  }

  /** Converts pixels to Y, Cb and Cr in the limited range, block by block; pixels beyond the edge are black. */
  #toMacroblocks(rgb: Buffer): Buffer {
    const blocks = Buffer.alloc(this.#columns * this.#rows * macroblockBytes, 128);
    let from = 0;
    for (let y = 0; y < this.height; y += 1) {
      const row = (y >> 4) * this.#columns;
      for (let x = 0; x < this.width; x += 1) {
        const r = rgb[from++] ?? 0;
        const g = rgb[from++] ?? 0;
        const b = rgb[from++] ?? 0;
        const block = (row + (x >> 4)) * macroblockBytes;
        blocks[block + (y & 15) * side + (x & 15)] = 16 + ((66 * r + 129 * g + 25 * b) >> 8);
        if (((x | y) & 1) !== 0) continue;
        const chroma = block + side * side + ((y & 15) >> 1) * 8 + ((x & 15) >> 1);
        blocks[chroma] = 128 + ((-38 * r - 74 * g + 112 * b) >> 8);
        blocks[chroma + 64] = 128 + ((112 * r - 94 * g - 18 * b) >> 8);
      }
    }
    return blocks;
  }
}

/** Whether each pixel equals the prediction from that neighbor. */
function continues(
  blocks: Buffer,
  at: number,
  { neighbour, prediction }: { neighbour: number; prediction: Prediction },
): boolean {
  const [to, from] = [at * macroblockBytes, neighbour * macroblockBytes];
  for (const [plane, width] of planes)
    for (let y = 0; y < width; y += 1)
      for (let x = 0; x < width; x += 1) {
        const source = prediction === 'above' ? width * (width - 1) + x : y * width + width - 1;
        if (blocks[to + plane + y * width + x] !== blocks[from + plane + source]) return false;
      }
  return true;
}

/** Writes bits, and numbers in Exp-Golomb codes. */
class BitWriter {
  readonly #parts: Buffer[] = [];
  #bytes: number[] = [];
  #current = 0;
  #filled = 0;

  bits(value: number, count: number): void {
    for (let bit = count - 1; bit >= 0; bit -= 1) {
      this.#current = (this.#current << 1) | ((value >>> bit) & 1);
      this.#filled += 1;
      if (this.#filled < 8) continue;
      this.#bytes.push(this.#current);
      this.#current = 0;
      this.#filled = 0;
    }
  }

  /** Writes a number; zero has the same code signed and unsigned. */
  number(value: number): void {
    const length = 32 - Math.clz32(value + 1);
    this.bits(0, length - 1);
    this.bits(value + 1, length);
  }

  /** Writes bytes, aligned to a whole byte. */
  bytes(data: Buffer): void {
    this.#fill();
    this.#parts.push(Buffer.from(this.#bytes), data);
    this.#bytes = [];
  }

  finish(): Buffer {
    this.bits(1, 1);
    this.#fill();
    return Buffer.concat([...this.#parts, Buffer.from(this.#bytes)]);
  }

  #fill(): void {
    if (this.#filled > 0) this.bits(0, 8 - this.#filled);
  }
}

const startCode = Buffer.from([0, 0, 0, 1]);
const twoZeros = Buffer.alloc(2);
const escape = Buffer.from([3]);

/** Returns a unit in Annex B format, escaped so that it contains no start code. */
function nalUnit(type: number, payload: Buffer): Buffer {
  const parts: Buffer[] = [startCode, Buffer.from([0x60 | type])];
  let from = 0;
  for (let at = payload.indexOf(twoZeros); at >= 0; at = payload.indexOf(twoZeros, at)) {
    at += 2;
    if ((payload[at] ?? 4) > 3) continue;
    parts.push(payload.subarray(from, at), escape);
    from = at;
  }
  return Buffer.concat([...parts, payload.subarray(from)]);
}

/** Smaller parts are copied, because each would keep everything that has arrived together with it. */
const SMALL_BYTES = 1024;
/** So many small parts are kept without a copy, because nearly all bodies arrive in a few parts. */
const FEW_PARTS = 16;
const BLOCK_BYTES = 65_536;

/** The parts of a body that is read into memory. They take about as much memory as the body, however small they are. */
export class BodyParts {
  readonly #parts: Buffer[] = [];
  #length = 0;
  /** The memory of the last part, if it consists of copies, and how much of it is used. */
  #block: Buffer | undefined;
  #used = 0;

  /** The size of the body so far, in bytes. */
  get length(): number {
    return this.#length;
  }

  add(part: Buffer): void {
    this.#length += part.length;
    if (part.length >= SMALL_BYTES || this.#parts.length < FEW_PARTS) {
      this.#block = undefined;
      this.#parts.push(part);
      return;
    }
    if (this.#block === undefined || this.#used + part.length > BLOCK_BYTES) {
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#used = 0;
      this.#parts.push(this.#block);
    }
    part.copy(this.#block, this.#used);
    this.#used += part.length;
    this.#parts[this.#parts.length - 1] = this.#block.subarray(0, this.#used);
  }

  /** Returns the body so far. A single part is not copied. */
  whole(): Buffer {
    const [first] = this.#parts;
    return this.#parts.length === 1 && first ? first : Buffer.concat(this.#parts, this.#length);
  }
}

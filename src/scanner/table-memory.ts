import { TABLES } from './table-layout.ts';

const PAGE = 65_536;

/** The memory of a WebAssembly module. */
export interface ModuleMemory {
  /** The current buffer. It is replaced whenever the memory grows. */
  readonly buffer: ArrayBuffer;
  readonly grow: (pages: number) => number;
}

/** The part of the module's memory that contains tables. Tables are never removed, and their addresses never change. */
export interface TableMemory {
  /** Allocates `size` zeroed bytes and returns their address, which is a multiple of 16. */
  readonly allocate: (size: number) => number;
  /** Returns a view of the whole memory. It is valid until the next allocation. */
  readonly view: () => DataView;
  /** Copies bytes to an address. */
  readonly write: (address: number, bytes: Uint8Array) => void;
  /** The address after the last table. */
  readonly end: number;
}

/** Creates a `TableMemory` in the memory of a module. */
export function createTableMemory(memory: ModuleMemory): TableMemory {
  const tables = {
    end: TABLES,
    allocate(size: number) {
      const address = tables.end;
      tables.end += Math.ceil(size / 16) * 16;
      growTo(memory, tables.end);
      // Bodies are stored after the last table, so this part of the memory may still contain bytes from an earlier
      // body.
      new Uint8Array(memory.buffer).fill(0, address, tables.end);
      return address;
    },
    view: () => new DataView(memory.buffer),
    write: (address: number, bytes: Uint8Array) => new Uint8Array(memory.buffer).set(bytes, address),
  };
  return tables;
}

/** Grows a memory to at least this number of bytes. Existing views of the memory become invalid. */
export function growTo(memory: ModuleMemory, bytes: number): void {
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
}

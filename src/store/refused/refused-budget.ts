import { MiB } from '../../base/size.ts';
/** Why a refused view is not kept. */
export type Dropped = 'dayFull' | 'projectFull';

const UNLISTED_BYTES_MAX = MiB;
/** Ids beyond share one allowance: whoever makes ids up shall not fill the memory either. */
const IDS_MAX = 4096;

/**
 * How many bytes of refused views a day may bring, so that strangers fill neither the disk nor the
 * listed projects' half. What is in today's file at a start counts as the strangers', so that the
 * half stays kept; a single stranger's count starts from zero.
 */
export class RefusedBudget {
  readonly #maxBytes: number;
  #bytes: number;
  #unlistedBytes: number;
  readonly #bytesById = new Map<string, number>();

  constructor(maxBytes: number, bytesInFile: number) {
    this.#maxBytes = maxBytes;
    this.#bytes = bytesInFile;
    this.#unlistedBytes = bytesInFile;
  }

  /** Spends `bytes` for a listed project (`undefined`) or an unlisted id, or says why not. */
  spend(bytes: number, unlistedId: string | undefined): Dropped | undefined {
    if (this.#bytes + bytes > this.#maxBytes) return 'dayFull';
    if (unlistedId !== undefined) {
      const known = this.#bytesById.has(unlistedId) || this.#bytesById.size < IDS_MAX;
      const id = known ? unlistedId : 'others';
      const used = this.#bytesById.get(id) ?? 0;
      if (used + bytes > UNLISTED_BYTES_MAX) return 'projectFull';
      if (this.#unlistedBytes + bytes > this.#maxBytes / 2) return 'dayFull';
      this.#bytesById.set(id, used + bytes);
      this.#unlistedBytes += bytes;
    }
    this.#bytes += bytes;
    return undefined;
  }
}

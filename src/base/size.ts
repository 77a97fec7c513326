// Sizes in bytes, as people write and read them.

export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;
export const TiB = 1024 * GiB;

const UNITS: Record<string, number> = { '': 1, kib: KiB, mib: MiB, gib: GiB, tib: TiB };

/** Bytes, or a whole number with KiB, MiB, GiB or TiB; `NaN` for any other text. */
export function parseSize(text: string): number {
  const match = /^(\d{1,15}) ?([kmgt]ib)?$/i.exec(text);
  return match ? Number(match[1]) * UNITS[(match[2] ?? '').toLowerCase()]! : Number.NaN;
}

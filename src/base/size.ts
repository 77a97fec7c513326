// Sizes in bytes, and how people write them.

export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;
export const TiB = 1024 * GiB;

const UNITS: Record<string, number> = { b: 1, kib: KiB, mib: MiB, gib: GiB, tib: TiB };

/** Returns the bytes of a whole number with its unit, or of `0`; `NaN` for any other text. */
export function parseSize(text: string): number {
  const [, count, unit] = /^(\d{1,15}) ?(b|[kmgt]ib)$/i.exec(text) ?? [];
  if (unit === undefined) return text === '0' ? 0 : Number.NaN;
  return Number(count) * UNITS[unit.toLowerCase()]!;
}

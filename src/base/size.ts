// Sizes in bytes, and how people write them.

export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;
export const TiB = 1024 * GiB;

/** The largest first. */
export const UNITS = Object.entries({ TiB, GiB, MiB, KiB });

/** Returns the bytes of a whole number with its unit, or of `0`; `NaN` for any other text. */
export function parseSize(text: string): number {
  if (text === '0') return 0;
  const [, count, name = ''] = /^(\d{1,15}) ?([kmgt]i)?b$/i.exec(text) ?? [];
  const unit = UNITS.find(([one]) => one.toLowerCase() === `${name}b`.toLowerCase());
  return Number(count) * (unit?.[1] ?? 1);
}

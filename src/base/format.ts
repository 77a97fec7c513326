// Writes and reads numbers, sizes and durations for people. Every count, plural, size and duration
// that viewlog prints comes from here.

/** Sizes in bytes. */
export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;
export const TiB = 1024 * GiB;

/** The largest first. */
const UNITS = Object.entries({ TiB, GiB, MiB, KiB });

/** Parses a size such as `16KiB`, or `0`, into bytes; `NaN` for any other text. */
export function parseSize(text: string): number {
  if (text === '0') return 0;
  const [, count, name = ''] = /^(\d{1,15}) ?([kmgt]i)?b$/i.exec(text) ?? [];
  const unit = UNITS.find(([one]) => one.toLowerCase() === `${name}b`.toLowerCase());
  return Number(count) * (unit?.[1] ?? 1);
}

/**
 * Returns a whole number with its thousands separated: `12,345`. Not by `toLocaleString`, because
 * the first call loads ICU's data, which takes a tenth of a command's time.
 */
export const formatCount = (count: number): string =>
  String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');

/** Returns a count with its noun: `1 view`, `12,345 views`. */
export const plural = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

/** Returns milliseconds as `3 s`, `12 min`, `5 h 3 min` or `2 d 4 h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (seconds < 60) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min`;
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Returns whether `version`, such as `2.10.0-preview`, is `oldest` or later. */
export const isAtLeast = (oldest: string, version: string): boolean =>
  version.localeCompare(oldest, 'en', { numeric: true }) >= 0;

/** Returns bytes in the largest unit that is exact: `16 KiB`, `64 MiB`, `1025 bytes`. */
export function formatSize(bytes: number): string {
  const unit = UNITS.find(([, factor]) => bytes >= factor && bytes % factor === 0);
  return unit === undefined ? `${bytes} bytes` : `${bytes / unit[1]} ${unit[0]}`;
}

/** Returns bytes as the value of an option: `16KiB`, `1025B`. */
export const formatSizeOption = (bytes: number): string =>
  formatSize(bytes).replace(' bytes', 'B').replace(' ', '');

/** Returns bytes rounded, for a measured size: `1.5 GiB`, `12 MiB`, `87 bytes`. */
export function formatRoundedSize(bytes: number): string {
  const unit = UNITS.find(([, factor]) => bytes >= factor);
  if (unit === undefined) return plural(Math.round(bytes), 'byte');
  const amount = bytes / unit[1];
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${unit[0]}`;
}

// Figures as an operator reads them on the status page, there and where its facts are made.

/** `12,345` */
export const number = (count: number): string => count.toLocaleString('en');

/** `1 view`, `12,345 views` */
export const countOf = (count: number, noun: string): string =>
  `${number(count)} ${noun}${count === 1 ? '' : 's'}`;

/** `3 s`, `12 min`, `5 h 3 min`, `2 d 4 h` */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (seconds < 60) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min`;
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `1.5 GiB` */
export function roundedSize(bytes: number): string {
  let rest = bytes;
  for (const unit of ['bytes', 'KiB', 'MiB', 'GiB']) {
    if (rest < 1024)
      return `${rest < 10 && unit !== 'bytes' ? rest.toFixed(1) : Math.round(rest)} ${unit}`;
    rest /= 1024;
  }
  return `${rest < 10 ? rest.toFixed(1) : Math.round(rest)} TiB`;
}

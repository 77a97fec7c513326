import * as path from 'node:path';
import { dayOfFileName, type FileKind } from './names.ts';

export const baseName = (file: string): string => path.basename(file);

/** The day of a daily file's name, packed (`.gz`) or not. */
export const dayOfName = (kind: FileKind, name: string): string | undefined =>
  dayOfFileName(kind, name.replace(/\.gz$/, ''));

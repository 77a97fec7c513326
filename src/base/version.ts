import packageJson from '../../package.json' with { type: 'json' };

/** Put here by build.mjs: the commit that it builds from; empty if git doesn't know. */
declare const COMMIT: string;

export const VERSION = packageJson.version;

const commit = typeof COMMIT === 'undefined' ? '' : COMMIT;

/** `0.1.0 (4d80159)` */
export const BUILD = commit === '' ? VERSION : `${VERSION} (${commit})`;

import { unpacked } from '../base/packed.ts';

// The manual: a page a topic, read on the web as they are and printed by `viewlog help TOPIC`.

/** The topics, sorted by who reads them. None has the name of a command. */
export const READERS = {
  'For everybody': {
    start: 'from nothing to a line in a file, and installing it for real',
    trouble: 'what to do about it, by symptom',
    guarantees: 'what a 201 and a 503 mean; crashes, full disks, clocks, locks',
    privacy: 'what is stored about visitors, and erasing it',
  },
  'For who builds the pages': {
    send: 'sending views from a page',
    fields: 'what a page puts into the fields of a view',
    api: 'POST /view: fields, answers, codes',
  },
  'For who runs it': {
    'projects-file': 'which projects may send, from where, and how much',
    operating: 'status page, health, metrics, logs, systemd, updates, backups',
    proxies: 'Caddy or nginx in front of it',
    containers: 'an image, a compose file',
    runtimes: 'Node, Deno, Bun, the single executable',
    speed: 'what it was measured to do',
    cluster: 'views in a replicated NATS stream, and the archive',
  },
  'For who uses the views': {
    files: 'the lines, checking them, sending refused views again',
    looking: 'reports, jq, DuckDB',
    shipping: 'to ClickHouse, Elasticsearch and others',
  },
} as const satisfies Record<string, Record<string, string>>;

/** The pages' Markdown by topic; put here by build.mjs. */
declare const MANUAL: string;

/** @returns the Markdown of a topic's page; `undefined` where there is no such topic. */
export function manualPage(topic: string): string | undefined {
  if (!TOPICS.includes(topic)) return undefined;
  if (typeof MANUAL === 'undefined') return 'Only the built viewlog has its manual.';
  return unpacked(MANUAL)[topic];
}

export const TOPICS: readonly string[] = Object.values(READERS).flatMap(Object.keys);

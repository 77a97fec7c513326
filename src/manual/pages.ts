import { unpacked } from '../base/built.ts';

// The manual: a page a topic, read on the web as they are and printed by `viewlog help TOPIC`.

/** The topics by reader. None has the name of a command. */
export const READERS = {
  'For everybody': {
    start: 'try viewlog, then install it as a service',
    trouble: 'every symptom, refusal code and exit code, and what to do',
    guarantees: 'what a 201 and a 503 mean; crashes, full disks, locks, clocks',
    security: 'what is exposed, the token, permissions, reporting a vulnerability',
    privacy: 'what is stored about visitors, and how to delete it',
    glossary: 'the words of this manual',
  },
  'For page developers': {
    send: 'send views from a page',
    fields: 'what a page puts into the fields of a view',
    api: 'POST /view: an exchange, fields, refusals',
  },
  'For operators': {
    'status-page': "whether your sites' views are arriving",
    running: 'systemd, restarts, updates, backups, retention, alerts, the log',
    reference: 'commands, options, variables, signals, exit codes, metrics',
    'projects-file': 'which projects may send, from where, and how much',
    proxies: 'Caddy, nginx or another proxy in front',
    containers: 'Docker and podman',
    runtimes: 'Node, Deno, Bun, the single executable',
    speed: 'measurements beside nginx and bare servers',
    cluster: 'views in a replicated NATS stream',
    archiving: "from a cluster's stream to view files",
  },
  'For readers of the views': {
    files: 'the lines, checking them, sending refused views again',
    looking: 'reports, tail, jq, DuckDB',
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

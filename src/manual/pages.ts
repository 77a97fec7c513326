// The manual: one page per topic, read on the web, and printed by `viewlog help TOPIC`.

/**
 * The topics by reader, with their summaries. No topic has the name of a command.
 */
export const READERS = {
  'For everyone': {
    start: 'try viewlog, then install it as a service',
    trouble: 'symptoms, refusal codes and exit codes, with fixes',
    guarantees: 'what a 201 and a 503 mean; crashes, full disks, locks, clocks',
    security: 'what is exposed, the token, permissions, reporting a vulnerability',
    privacy: 'what is stored about visitors, deletion, the GDPR',
    glossary: 'terms used here',
  },
  'For page developers': {
    send: 'send views from a page',
    fields: 'what a page puts into the fields of a view',
    api: 'POST /view: an example request, fields, refusals',
  },
  'For operators': {
    'status-page': "whether your sites' views are arriving",
    running: 'systemd, restarts, updates, backups, retention, alerts, the log',
    reference: 'commands, options, variables, signals, exit codes, metrics',
    'projects-file': 'which projects may send, from where, and how much',
    proxies: 'Caddy, nginx or another proxy in front',
    containers: 'Docker, podman, Kubernetes',
    runtimes: 'Node, Deno, Bun, the single executable',
    speed: 'benchmarks, compared with nginx and bare servers',
    cluster: 'views in a replicated NATS stream',
    archiving: "view files from a cluster's stream",
  },
  'For readers of the views': {
    files: 'the format of view files, checks, sending refused views again',
    looking: 'reports, tail, jq, DuckDB',
    shipping: 'to ClickHouse, Elasticsearch and others',
  },
} as const satisfies Record<string, Record<string, string>>;

export const TOPICS: readonly string[] = Object.values(READERS).flatMap(Object.keys);

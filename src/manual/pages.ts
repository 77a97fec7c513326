import { builtTexts } from '../base/built.ts';

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
    api: 'POST /view: an exchange, fields, refusals',
  },
  'For operators': {
    'status-page': "whether your sites' views are arriving",
    running: 'systemd, restarts, updates, backups, retention, alerts, the log',
    reference: 'commands, options, variables, signals, exit codes, metrics',
    'projects-file': 'which projects may send, from where, and how much',
    proxies: 'Caddy, nginx or another proxy in front',
    containers: 'Docker, podman, Kubernetes',
    runtimes: 'Node, Deno, Bun, the single executable',
    speed: 'benchmarks beside nginx and bare servers',
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

/** Texts by file name. */
type Texts = Readonly<Record<string, string>>;

/**
 * Returns the topic, or the word in a heading, that another word of an operator leads to. Each line
 * of `synonyms.txt` has one, with such words.
 */
function synonymOf(word: string, texts: Texts): string | undefined {
  const lines = texts['synonyms.txt']!.split('\n').map((line) => line.split(/[:,] /));
  return lines.find(([, ...words]) => words.includes(word))?.[0];
}

/**
 * Returns the Markdown of a topic's page. Any other word finds the section that has the word in its
 * heading, or else most often in its text. `undefined` if no section has it.
 */
export function findText(asked: string, texts: Texts = builtTexts()): string | undefined {
  const page = (topic: string): string | undefined => texts[`${topic}.md`];
  const word = synonymOf(asked, texts) ?? synonymOf(asked.replace(/s$/, ''), texts) ?? asked;
  if (TOPICS.includes(word)) return page(word);
  if (!/^[\w .-]+$/.test(word)) return undefined;
  // `config` finds `configuration`, and `updates` finds `update`.
  const stem = word.replace(/(?<=..)s$/, '').replaceAll('.', '\\.');
  const pattern = new RegExp(`\\b${stem}`, 'gi');
  const whole = new RegExp(`^#+ ${stem}s?$`, 'im');
  const count = (text: string): number => text.match(pattern)?.length ?? 0;
  const sections = TOPICS.flatMap((topic) =>
    page(topic)!
      .split(/^(?=## )/m)
      .map((text) => {
        const headings = text.match(/^#+ .*$/gm)!.join('\n');
        const named = count(headings) + Number(whole.test(headings));
        return { topic, text, score: count(text) + HEADING_SCORE * named };
      }),
  );
  const best = sections.reduce((a, b) => (b.score > a.score ? b : a));
  if (best.score === 0) return undefined;
  return `${best.text.trim()}\n\nThe whole page: \`viewlog help ${best.topic}\`\n`;
}

/** A section about a word has the word in its heading, or the word is the heading. */
const HEADING_SCORE = 100;

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

/** Words that say nothing about what is asked. */
const FILLERS = new Set(
  (
    'a about after an and any are at be can could did do does for from get has have how i if in ' +
    'is it its many me much my of on or see should so that the there this to was we what when ' +
    'where who why will with would you your'
  ).split(' '),
);

/**
 * Returns the words that say what is asked, without the plural's `s` and the possessive's `'s`.
 * `not`, `can't` and the like become `no`.
 */
const wordsOf = (phrase: string): string[] =>
  (phrase.match(/\w(?:[\w.'-]*\w)?/g) ?? [])
    .map((word) => (/^(?:not|cannot|\w+n't)$/.test(word) ? 'no' : word.replace(/'s$/, '')))
    .filter((word) => !FILLERS.has(word))
    .map(singular);

const singular = (word: string): string => word.replace(/(?<=..)s$/, '');

interface Synonym {
  readonly words: readonly string[];
  /** A topic, or words of a heading. */
  readonly target: string;
}

/**
 * Returns the phrases of `synonyms.txt`, those with most words first. Each line has a topic, or
 * words of a heading, and then the phrases that lead there.
 */
const synonymsIn = (texts: Texts): Synonym[] =>
  texts['synonyms.txt']!.trimEnd()
    .split('\n')
    .flatMap((line) => {
      const phrases = line.split(/[:,] /);
      return phrases.map((phrase) => ({ words: wordsOf(phrase), target: phrases[0]! }));
    })
    .sort((a, b) => b.words.length - a.words.length);

/** Returns what to count in the sections: for each thing asked, a pattern of its spellings. */
function termsOf(words: readonly string[], synonyms: readonly Synonym[]): RegExp[] {
  let rest = words;
  const terms: RegExp[] = [];
  for (const { words: known, target } of synonyms) {
    if (!known.every((word) => rest.includes(word))) continue;
    terms.push(patternOf(target, known.join(' ')));
    rest = rest.filter((word) => !known.includes(word));
  }
  return [...terms, ...rest.filter((word) => word !== 'no').map((word) => patternOf(word))];
}

/** `config` finds `configuration`, and `updates` finds `update`. */
const patternOf = (...phrases: string[]): RegExp =>
  new RegExp(`\\b(?:${phrases.map(escaped).join('|')})`, 'gi');

const escaped = (phrase: string): string => singular(phrase).replaceAll(/[^\w ]/g, '\\$&');

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

interface Section {
  readonly topic: string;
  readonly text: string;
  readonly headings: string;
  /** The page's topic and title. */
  readonly page: string;
}

const sectionsOf = (topic: string, markdown: string): Section[] =>
  markdown.split(/^(?=## )/m).map((text) => ({
    topic,
    text,
    headings: text.match(/^#+ .*$/gm)!.join('\n'),
    page: `${topic} ${/^# (.*)/.exec(markdown)![1]!}`,
  }));

/** Points for each occurrence in a heading. */
const HEADING_SCORE = 100;
/** Points for each occurrence in the page's topic or title. */
const PAGE_SCORE = 30;
/** Points for a section that has all words. */
const ALL_SCORE = 1e6;

/** Returns the section that has a phrase in its heading. */
function sectionNamed(phrase: string, sections: readonly Section[]): Section | undefined {
  const pattern = patternOf(phrase);
  const whole = new RegExp(`^#+ ${escaped(phrase)}s?$`, 'im');
  const named = sections.filter(({ headings }) => count(headings, pattern) > 0);
  return best(named, ({ text, headings }) => {
    const score = count(headings, pattern) + Number(whole.test(headings));
    return HEADING_SCORE * score + count(text, pattern);
  });
}

/** Returns the section that has most of what is asked. A rare word counts more than a common one. */
function sectionAbout(terms: readonly RegExp[], sections: readonly Section[]): Section | undefined {
  const scores = terms.map((term) =>
    sections.map(
      ({ text, headings, page }) =>
        count(text, term) + HEADING_SCORE * count(headings, term) + PAGE_SCORE * count(page, term),
    ),
  );
  const found = scores.map((score) => score.filter(Boolean).length);
  const totals = sections.map((section, i) => {
    const hasAll = scores.every((score, term) => found[term] === 0 || score[i]! > 0);
    const total = scores.reduce((sum, score, term) => sum + score[i]! / (found[term]! || 1), 0);
    return { section, total: total === 0 ? 0 : total + (hasAll ? ALL_SCORE : 0) };
  });
  return best(totals, ({ total }) => total)?.section;
}

/** Returns the first item with the highest score; `undefined` if every score is 0. */
function best<T>(items: readonly T[], scoreOf: (item: T) => number): T | undefined {
  const scores = items.map(scoreOf);
  const highest = Math.max(0, ...scores);
  return highest === 0 ? undefined : items[scores.indexOf(highest)];
}

interface Found {
  readonly text: string;
  /** Whether a topic, a synonym or a heading has the whole phrase. */
  readonly isNamed: boolean;
}

function find(question: string, texts: Texts): Found | undefined {
  const asked = question.replaceAll('’', "'");
  const page = (topic: string): string => texts[`${topic}.md`]!;
  const words = wordsOf(asked);
  const key = (of: readonly string[]): string => of.toSorted().join(' ');
  const synonyms = synonymsIn(texts);
  const synonym = synonyms.find((known) => key(known.words) === key(words))?.target;
  const phrase = TOPICS.includes(asked) ? asked : (synonym ?? asked);
  if (TOPICS.includes(phrase)) return { text: page(phrase), isNamed: true };
  if (words.length === 0) return undefined;
  const sections = TOPICS.flatMap((topic) => sectionsOf(topic, page(topic)));
  const named = sectionNamed(phrase, sections);
  const section = named ?? sectionAbout(termsOf(words, synonyms), sections);
  if (section === undefined) return undefined;
  const text = `${section.text.trim()}\n\nThe whole page: \`viewlog help ${section.topic}\`\n`;
  return { text, isNamed: named !== undefined };
}

/**
 * Returns the Markdown of a topic's page, or the section that has the phrase, or a synonym of it,
 * in its heading; or else the section that has most of the words. `undefined` if none has any.
 */
export const findText = (asked: string, texts: Texts = builtTexts()): string | undefined =>
  find(asked, texts)?.text;

/** Returns whether a topic, a synonym or a heading has the whole phrase. */
export const isNamed = (asked: string, texts: Texts = builtTexts()): boolean =>
  find(asked, texts)?.isNamed ?? false;

/** Returns the topics and the phrases of `synonyms.txt`. */
export const knownPhrases = (texts: Texts = builtTexts()): string[] => [
  ...TOPICS,
  ...texts['synonyms.txt']!.trimEnd().split(/[:,] |\n/),
];

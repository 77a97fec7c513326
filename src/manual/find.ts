import { builtTexts } from '../base/built.ts';
import { nearest } from '../base/text.ts';
import { TOPICS } from './pages.ts';

// Finds the page or the sections of the manual that `viewlog help WORDS` asks for.

/** Texts by file name. */
type Texts = Readonly<Record<string, string>>;

/** Words that say nothing about what is asked. */
const FILLERS = new Set(
  (
    'a about after an and any anything are at be been by can could did do does for from get has have ' +
    'happen happens how i if in is it its many me mean means much my of on or see should so ' +
    'still that the there this to viewlog was we what when where who why will with would you your'
  ).split(' '),
);

/**
 * Returns the stems of the words that say what a text is about, in order. `keep-days` is two words,
 * and `not`, `can't` and the like become `no`.
 */
const wordsOf = (text: string): string[] =>
  (
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}\d]+(?:'[a-z]+)?/gu) ?? []
  )
    // Numbers of an error message, such as ports, say nothing.
    .filter((word) => !/^\d{4,}$/.test(word))
    .map((word) => (/^(?:not|cannot|\w+n't)$/.test(word) ? 'no' : word.replace(/'s$/, '')))
    .filter((word) => !FILLERS.has(word))
    .map(stem);

/** `updates`, `updated` and `updating` have the stem of `update`. */
const stem = (word: string): string => word.replace(/(?<=...)(?:ing|ed|es|e)$|(?<=..)(?<!s)s$/, '');

/** Words before the subject of a question: `set up viewlog behind nginx` asks about nginx. */
const DOING =
  /^(?:how (?:do i|can i|to) )?(?:set ?up|install|configure|run|use|change|import|load)(?: viewlog| the| views)?(?: (?:behind|in|into|on|under|with))? (?=.)/;

/** Words that can follow any subject: `vector config` asks about Vector. */
const GENERIC =
  /(?<!\S)(?:configs?|configuration|docs?|examples?|guide|integration|setup|support|tutorial|upload)(?!\S)/g;

/** The text before a message in the journal or in a browser's console. */
const PREFIX =
  /^.* viewlog\[\d+\]: |^failed to load resource: .* status of |^(?:error|warning): |^post https?:\S+ /;

/**
 * Returns what a question or a pasted message is about: leaves out the message's prefix, its paths
 * and addresses, and what is in parentheses.
 */
const subjectOf = (asked: string): string =>
  asked
    .replace(PREFIX, '')
    .replace(/^\{.*"code":"([\w-]+)".*/, '$1')
    .replace(/ in front of (?:it|viewlog)$/, '')
    .replace(/\S*\.json:\d+:\d+:/, 'invalid projects file')
    .replace(/\([^()]*\)|(?<=directory )"[^"]*"|https?:\S+|"?\/[^\s"]+\/[^\s"]*"?/g, '')
    .replace(DOING, '');

interface Section {
  readonly topic: string;
  /** Its first heading; empty for the section under the page's title. */
  readonly heading: string;
  readonly text: string;
  /** Its headings, and the phrases of `synonyms.txt` that lead to it, the shortest first. */
  readonly names: readonly Name[];
  /** Its words, by field: headings, the page's topic and title, marked text, the whole text. */
  readonly fields: readonly string[];
}

interface Name {
  readonly text: string;
  readonly words: readonly string[];
  /** Its words in alphabetical order. */
  readonly sorted: string;
  /** A synonym leads to its section or to the whole page. */
  readonly to: 'heading' | 'section' | 'page';
}

function nameOf(text: string, to: Name['to']): Name {
  const words = wordsOf(text);
  return { text, words, sorted: sorted(words), to };
}

const sorted = (words: readonly string[]): string => words.toSorted().join(' ');

/** Returns the sections of a page, each with its headings as names. */
function sectionsOf(topic: string, markdown: string): Section[] {
  const page = `${topic} ${/^# (.*)/.exec(markdown)![1]!}`;
  return markdown.split(/^(?=## )/m).map((text, at) => {
    const prose = text.replace(/^```.*?^```$/gms, '');
    const headings = Array.from(prose.matchAll(/^#+ (.*)$/gm), ([, heading]) => heading!);
    // Its first paragraph, code, bold text and the first column of tables.
    const marked = text.match(/(?<=^#+ [^\n]*\n\n)[^|\n]+|`[^`\n]+`|\*\*.+?\*\*|^\|[^|]+/gms) ?? [];
    const fields = [headings.join(' '), page, marked.join(' '), text];
    const heading = at === 0 ? '' : headings[0]!;
    return {
      topic,
      heading,
      text,
      names: [...headings, `${topic} ${heading}`].map((name) => nameOf(name, 'heading')),
      fields: fields.map((field) => joined(wordsOf(field))),
    };
  });
}

/**
 * Returns the sections with the names that `synonyms.txt` adds. Each of its lines has a topic, or
 * words of a heading, and then the phrases that lead there.
 */
function withSynonyms(sections: readonly Section[], synonyms: readonly string[]): Section[] {
  const added = synonyms.map((line) => {
    const [target = '', ...phrases] = line.split(/[:,] /);
    const isPage = TOPICS.includes(target);
    const section = best(sections, ({ topic, names }) => {
      const parts = names.map(({ text }) => {
        const heading = text.toLowerCase();
        return Number(heading === target) + Number(heading.includes(target));
      });
      return isPage ? Number(topic === target) : Math.max(...parts);
    });
    return {
      section,
      names: [target, ...phrases].map((phrase) => nameOf(phrase, isPage ? 'page' : 'section')),
    };
  });
  return sections.map((section) => {
    const names = added.filter((one) => one.section === section).flatMap((one) => one.names);
    const all = [...names, ...section.names];
    return { ...section, names: all.toSorted((a, b) => a.words.length - b.words.length) };
  });
}

/** Words with a space on both sides of each. */
const joined = (words: readonly string[]): string => ` ${words.join('  ')} `;

/** Points for words in each of a section's fields. */
const FIELD_POINTS = [3, 1, 1, 1];
/** Points for each word of a name of the section. */
const NAME_POINTS = 5;
/** Caps a weight, so that a rare word doesn't outvote all others. */
const WEIGHT_MAX = 3;
/** The weight of a word that the manual doesn't have. */
const UNKNOWN_WEIGHT = 2;
/** The part of a question's weight that a section must have to be listed, and to be the answer. */
const PART_MIN = { listed: 0.35, answer: 0.75 };
/** An answer must score this many times as high as the next section. */
const CLEAR = 1.25;
const LISTED_MAX = 5;
/** In a question of up to three words, only a word above this weight can name the subject. */
const RARE_MIN = 1;
/** The factor if the question begins with a name of several words. */
const BEGINS_FACTOR = 2;

/** @param phrase neighbouring words, with a space on both sides of each. */
function pointsOf(phrase: string, { fields }: Section): number {
  const counts = fields.map((field) => field.split(phrase).length - 1);
  // Each further mention counts less.
  return sum(counts.map((count, i) => (FIELD_POINTS[i]! * count) / (count + 1)));
}

/**
 * Returns, for each word, the length in words of the longest name of the section that contains it;
 * 0 if none does.
 */
function namedLengths(words: readonly string[], { names }: Section): number[] {
  const lengths = words.map(() => 0);
  for (const { words: name } of names) {
    const at = words.findIndex((_, i) => name.every((word, j) => word === words[i + j]));
    if (at >= 0) lengths.fill(name.length, at, at + name.length);
  }
  return lengths;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Returns the first item with the highest score; `undefined` if every score is 0. */
function best<T>(items: readonly T[], scoreOf: (item: T) => number): T | undefined {
  const scores = items.map(scoreOf);
  const highest = Math.max(0, ...scores);
  return highest === 0 ? undefined : items[scores.indexOf(highest)];
}

export interface Answer {
  /** The Markdown of the page or the section that answers the question, if one clearly does. */
  readonly text?: string;
  /** Sections with words of the question, the likeliest first: topics and headings. */
  readonly listed: readonly (readonly string[])[];
}

/** The manual, to be searched. */
export class Manual {
  readonly #texts: Texts;
  readonly #sections: readonly Section[];
  readonly #points = new Map<string, readonly number[]>();

  constructor(texts: Texts = builtTexts()) {
    this.#texts = texts;
    const sections = TOPICS.flatMap((topic) => sectionsOf(topic, this.#page(topic)));
    this.#sections = withSynonyms(sections, lines(texts));
  }

  /** Returns the page or the section that answers the question, and others about it. */
  find(asked: string): Answer {
    const subject = subjectOf(asked);
    const named =
      this.findNamed(asked) ??
      this.findNamed(subject) ??
      this.findNamed(subject.replaceAll(GENERIC, ''));
    if (named !== undefined) return { text: named, listed: [] };
    const corrected = this.#withoutTypos(subject);
    if (corrected !== subject) return this.find(corrected);
    const words = wordsOf(subject);
    const ranked = this.#rank(words.length > 0 ? words : wordsOf(asked));
    const [first, second] = ranked;
    const isClear =
      first !== undefined &&
      (first.isAbout || second === undefined) &&
      first.part >= PART_MIN.answer &&
      first.score > CLEAR * (second?.score ?? 0);
    const text = isClear ? answer(first.section) : this.#onlyNamed(words);
    return {
      ...(text !== undefined && { text }),
      listed: ranked.slice(0, LISTED_MAX).map(({ section }) => pathOf(section)),
    };
  }

  /**
   * Returns the sections that name an option, sorted by how often they name it relative to their
   * length.
   * @param names the option's flag, and its variable, if it has one.
   */
  sectionsWith(names: readonly string[]): string[][] {
    const mentions = new RegExp(`(?:${names.join('|')})(?![\\w-])`, 'g');
    const partOf = ({ text }: Section): number =>
      (text.match(mentions)?.length ?? 0) / (1_000 + text.length);
    return this.#sections
      .filter((section) => partOf(section) > 0)
      .toSorted((a, b) => partOf(b) - partOf(a))
      .slice(0, LISTED_MAX)
      .map(pathOf);
  }

  /** Returns the page or the section with this name: a topic, a heading or a synonym. */
  findNamed(asked: string): string | undefined {
    if (TOPICS.includes(asked)) return this.#page(asked);
    const words = sorted(wordsOf(asked));
    if (words === '') return undefined;
    const same = this.#sections.flatMap((section) =>
      section.names.filter((one) => one.sorted === words).map(({ to }) => ({ section, to })),
    );
    // A synonym is more specific than a heading that several sections share.
    const { section, to } = same.find((one) => one.to !== 'heading') ?? same[0] ?? {};
    return section && (to === 'page' ? this.#page(section.topic) : answer(section));
  }

  /** Returns the page or section that is the only one with a name among a few words. */
  #onlyNamed(words: readonly string[]): string | undefined {
    if (words.length > 3) return undefined;
    const rare = words.filter((word) => this.#weightOf([word]) > RARE_MIN);
    const named = new Set(rare.map((word) => this.findNamed(word)));
    named.delete(undefined);
    return named.size === 1 ? [...named][0] : undefined;
  }

  /** Replaces each unknown word that is a typo of a word in a section's names. */
  #withoutTypos(asked: string): string {
    const known = new Set(
      this.#sections.flatMap(({ names }) =>
        names.flatMap(({ text }) => text.toLowerCase().split(' ')),
      ),
    );
    return asked
      .split(' ')
      .map((word) => {
        const isKnown = !/^[a-z]{5,}$/.test(word) || this.hasExactly(word);
        if (isKnown) return word;
        // A typo rarely changes the first letter.
        const alike = [...known].filter((one) => one[0] === word[0]);
        return nearest(word, alike, word.length < 8 ? 1 : 2) ?? word;
      })
      .join(' ');
  }

  /** Returns the sections that are about enough of the question, the likeliest first. */
  #rank(words: readonly string[]) {
    const parts = words.flatMap((word, i) => [[word], words.slice(i, i + 2)]);
    const weights = new Map(parts.map((part) => [part.join(' '), this.#weightOf(part)]));
    const weightOf = (...part: string[]): number => weights.get(part.join(' '))!;
    const whole = sum(words.map((word) => weightOf(word)));
    const ranked = this.#sections.map((section, at) => {
      const pointsHere = (part: readonly string[]): number => this.#pointsOf(part)[at]!;
      const lengths = namedLengths(words, section);
      const points = words.map((word, i) => pointsHere([word]) + NAME_POINTS * lengths[i]!);
      // A question that contains a name of several words is about that section.
      const isNamed = lengths.some((length) => length > 1);
      const found = words.filter((_, i) => points[i]! > 0).map((word) => weightOf(word));
      const pairs = words.slice(1).map((word, i) => [words[i]!, word]);
      const score =
        sum(words.map((word, i) => points[i]! * weightOf(word))) +
        sum(pairs.map((pair) => pointsHere(pair) * weightOf(...pair)));
      // A section that only mentions the words in passing isn't about them.
      const isAbout = points.some((point) => point >= 1);
      // A pasted message begins with the words that a section's name quotes.
      const factor = lengths[0]! > 1 ? BEGINS_FACTOR : 1;
      return { section, score: factor * score, isAbout, part: isNamed ? 1 : sum(found) / whole };
    });
    return ranked
      .filter(({ part }) => part >= PART_MIN.listed)
      .toSorted((a, b) => b.score - a.score);
  }

  /** Returns how much each section is about these neighbouring words. */
  #pointsOf(words: readonly string[]): readonly number[] {
    const phrase = joined(words);
    let points = this.#points.get(phrase);
    if (points === undefined) {
      points = this.#sections.map((section) => pointsOf(phrase, section));
      this.#points.set(phrase, points);
    }
    return points;
  }

  /** Returns the weight of a word or phrase. The fewer sections have it, the greater the weight. */
  #weightOf(words: readonly string[]): number {
    const points = this.#pointsOf(words);
    const found = this.#sections.filter(
      (section, at) => points[at]! > 0 || namedLengths(words, section)[0]! > 0,
    ).length;
    const weight = Math.log((this.#sections.length + 1) / found);
    return found === 0 ? UNKNOWN_WEIGHT : Math.min(weight, WEIGHT_MAX);
  }

  /**
   * Returns whether the manual or its synonyms contain exactly these words, or with a final `s`.
   */
  hasExactly(asked: string): boolean {
    const exactly = new RegExp(`(?<!\\w)${asked.replace(/[^\w ]/g, '\\$&')}s?(?!\\w)`, 'i');
    return Object.values(this.#texts).some((text) => exactly.test(text));
  }

  /** The topics and the phrases of `synonyms.txt`. */
  get phrases(): string[] {
    return [...TOPICS, ...lines(this.#texts).flatMap((line) => line.split(/[:,] /))];
  }

  #page(topic: string): string {
    return this.#texts[`${topic}.md`]!;
  }
}

/** The words for `viewlog help` that print the section. */
const pathOf = ({ topic, heading }: Section): string[] => [topic, heading].filter(Boolean);

const lines = (texts: Texts): string[] => texts['synonyms.txt']!.trimEnd().split('\n');

const answer = ({ topic, text }: Section): string =>
  `${text.trim()}\n\nThe whole page: \`viewlog help ${topic}\`\n`;

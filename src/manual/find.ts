import { builtTexts } from '../base/built.ts';
import { TOPICS } from './pages.ts';

// Finds the page or the section of the manual that `viewlog help WORDS` asks for.

/** Texts by file name. */
type Texts = Readonly<Record<string, string>>;

/** Words that say nothing about what is asked. */
const FILLERS = new Set(
  (
    'a about after an and any are at be been by can could did do does for from get has have how i ' +
    'if in is it its many me much my of on or see should so that the there this to was we what ' +
    'when where who why will with would you your'
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

interface Section {
  readonly topic: string;
  readonly text: string;
  readonly headings: readonly string[];
  /** All its words, as `count` reads them. */
  readonly words: string;
  /** Those of the headings, of the page's topic and title, and of what tells what it is about. */
  readonly fields: readonly string[];
}

function sectionsOf(topic: string, markdown: string): Section[] {
  const page = `${topic} ${/^# (.*)/.exec(markdown)![1]!}`;
  return markdown.split(/^(?=## )/m).map((text) => {
    const prose = text.replace(/^```.*?^```$/gms, '');
    const headings = Array.from(prose.matchAll(/^#+ (.*)$/gm), ([, heading]) => heading!);
    // Its first paragraph, code, bold text and the first column of tables.
    const marked = text.match(/(?<=^#+ [^\n]*\n\n)[^|\n]+|`[^`\n]+`|\*\*.+?\*\*|^\|[^|]+/gms) ?? [];
    const fields = [headings.join(' '), page, marked.join(' ')].map((field) =>
      joined(wordsOf(field)),
    );
    return { topic, text, headings, words: joined(wordsOf(text)), fields };
  });
}

/** A heading, or a phrase of `synonyms.txt`, that a question can name. */
interface Phrase {
  readonly text: string;
  readonly words: readonly string[];
  readonly section: Section;
  /** Whether it leads to the whole page. */
  readonly isPage: boolean;
  readonly isHeading: boolean;
}

/**
 * Returns the headings and the phrases of `synonyms.txt`. Each line has a topic, or words of a
 * heading, and then the phrases that lead there.
 */
function phrasesIn(texts: Texts, sections: readonly Section[]): Phrase[] {
  const phraseOf = (text: string, section: Section, of: Partial<Phrase>): Phrase => ({
    text: text.toLowerCase(),
    words: wordsOf(text),
    section,
    isPage: false,
    isHeading: false,
    ...of,
  });
  const headings = sections.flatMap((section) =>
    section.headings.map((heading) => phraseOf(heading, section, { isHeading: true })),
  );
  const synonyms = lines(texts).flatMap((line) => {
    const [target = '', ...phrases] = line.split(/[:,] /);
    const isPage = TOPICS.includes(target);
    const section = isPage
      ? sections.find(({ topic }) => topic === target)
      : best(headings, ({ text }) => Number(text === target) + Number(text.includes(target)))
          ?.section;
    return [target, ...phrases].map((phrase) => phraseOf(phrase, section!, { isPage }));
  });
  return [...synonyms, ...headings];
}

const lines = (texts: Texts): string[] => texts['synonyms.txt']!.trimEnd().split('\n');

/** Words as `count` reads them. */
const joined = (words: readonly string[]): string => ` ${words.join('  ')} `;

/** Returns how often these words contain a part, as neighbours in order. */
const count = (words: string, part: readonly string[]): number =>
  words.split(joined(part)).length - 1;

const hasPart = (words: readonly string[], part: readonly string[]): boolean =>
  joined(words).includes(joined(part));

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.toSorted().join(' ') === b.toSorted().join(' ');

/** Returns whether a question that contains the phrase is about it: two words, or a status. */
const isSpecific = ({ words }: Phrase): boolean => words.length > 1 || /^\d{3}$/.test(words[0]!);

/** Returns the section that has the words in its heading, and most often in its text. */
function sectionNamed(words: readonly string[], phrases: readonly Phrase[]): Section | undefined {
  const named = phrases.filter((phrase) => phrase.isHeading && hasPart(phrase.words, words));
  return best(named, (phrase) => {
    const isWhole = phrase.words.length === words.length;
    return (isWhole ? 1000 : 1) + count(phrase.section.words, words);
  })?.section;
}

/** Points for a word that is a whole heading or a synonym. */
const NAMED_POINTS = 4;
/** How much of a question's weight its answer must have, if a word names the section, and if not. */
const PART_MIN = { named: 0.45, other: 0.62 };
/** A word by itself that is in few sections is answered by one that only mentions it. */
const RARE_WEIGHT = 3;
/** The weight of a word that the manual doesn't have. */
const UNKNOWN_WEIGHT = 3;

interface Term {
  /** By section: whether the word is a whole heading or a synonym. */
  readonly isNamed: readonly boolean[];
  /** By section: how much the section is about the word. */
  readonly points: readonly number[];
  /** A word weighs more the fewer sections have it. */
  readonly weight: number;
}

/**
 * Returns the section that has most of what is asked. It must be about the word with most weight,
 * because a section that has only the common words isn't an answer.
 */
function sectionAbout(
  words: readonly string[],
  phrases: readonly Phrase[],
  sections: readonly Section[],
): Section | undefined {
  const terms = words.map((word): Term => {
    const named = phrases.filter((phrase) => isSame(phrase.words, [word]));
    const isNamed = sections.map((section) => named.some((phrase) => phrase.section === section));
    const points = sections.map(
      (section, i) => pointsOf([word], section) + (isNamed[i] ? NAMED_POINTS : 0),
    );
    const found = points.filter(Boolean).length;
    const weight = found === 0 ? UNKNOWN_WEIGHT : Math.log((sections.length + 1) / found);
    return { isNamed, points, weight };
  });
  const sum = (valueOf: (term: Term) => number): number =>
    terms.reduce((total, term) => total + valueOf(term), 0);
  const whole = sum(({ weight }) => weight);
  const heaviest = best(terms, ({ points, weight }) => (points.some(Boolean) ? weight : 0));
  const isRare = words.length === 1 && (heaviest?.weight ?? 0) > RARE_WEIGHT;
  const answers = sections.map((section, i) => {
    const part = sum(({ points, weight }) => (points[i]! > 0 ? weight : 0)) / whole;
    const total = sum(({ points, weight }) => points[i]! * weight);
    const asPhrase = pointsOf(words, section);
    const isNamed = terms.some((term) => term.isNamed[i]);
    const isAbout = isNamed || terms.every(({ points }) => points[i]! >= 1);
    const isAnswer =
      isRare ||
      (words.length > 1 && asPhrase > 0) ||
      (isNamed && part >= PART_MIN.named) ||
      (isAbout && heaviest!.points[i]! >= 1 && part >= PART_MIN.other);
    return { section, total: isAnswer ? total * (1 + 2 * asPhrase) : 0 };
  });
  return best(answers, ({ total }) => total)?.section;
}

/** Returns how much a section is about neighbouring words; below 1 if it only mentions them. */
function pointsOf(asked: readonly string[], { words, fields }: Section): number {
  const mentions = count(words, asked);
  const [heading, page, marked] = fields.map((field) => Number(field.includes(joined(asked))));
  return 3 * heading! + page! + marked! + mentions / (mentions + 1);
}

/** Returns the first item with the highest score; `undefined` if every score is 0. */
function best<T>(items: readonly T[], scoreOf: (item: T) => number): T | undefined {
  const scores = items.map(scoreOf);
  const highest = Math.max(0, ...scores);
  return highest === 0 ? undefined : items[scores.indexOf(highest)];
}

/** The manual, to be searched. */
export class Manual {
  readonly #texts: Texts;
  readonly #sections: readonly Section[];
  readonly #phrases: readonly Phrase[];

  constructor(texts: Texts = builtTexts()) {
    this.#texts = texts;
    this.#sections = TOPICS.flatMap((topic) => sectionsOf(topic, this.#page(topic)));
    this.#phrases = phrasesIn(texts, this.#sections);
  }

  /**
   * Returns the Markdown of a topic's page, or the section that the words name: by a synonym or a
   * heading, a phrase among the words, or most of the words. `undefined` if there is none.
   */
  find(asked: string): string | undefined {
    const named = this.findNamed(asked);
    const words = wordsOf(asked);
    if (named !== undefined || words.length === 0) return named;
    const parts = this.#phrases.filter((one) => isSpecific(one) && hasPart(words, one.words));
    const part = best(parts, (phrase) => phrase.words.length);
    if (part !== undefined) return this.#answerTo(part);
    const about = sectionAbout(words, this.#phrases, this.#sections);
    return about && answer(about);
  }

  /** Like `find`, but only if a topic, a synonym or a heading has the whole phrase. */
  findNamed(asked: string): string | undefined {
    if (TOPICS.includes(asked)) return this.#page(asked);
    const words = wordsOf(asked);
    if (words.length === 0) return undefined;
    const same = this.#phrases.find((phrase) => isSame(phrase.words, words));
    if (same !== undefined) return this.#answerTo(same);
    const named = sectionNamed(words, this.#phrases);
    return named && answer(named);
  }

  /** Returns whether the manual or its synonyms have the words exactly so, or with an `s`. */
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

  #answerTo({ isPage, section }: Phrase): string {
    return isPage ? this.#page(section.topic) : answer(section);
  }
}

const answer = ({ topic, text }: Section): string =>
  `${text.trim()}\n\nThe whole page: \`viewlog help ${topic}\`\n`;

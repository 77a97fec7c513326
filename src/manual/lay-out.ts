const BOLD = '\u001b[1m';
const BOLD_OFF = '\u001b[22m';

/** Where a page is printed. */
export interface Paper {
  /** Columns that a paragraph may take. */
  readonly columns: number;
  /** A terminal shows headings and what is marked as strong in bold; elsewhere marks stay. */
  readonly isTerminal: boolean;
}

/**
 * A page of Markdown for reading as text: paragraphs and lists wrapped, the columns of tables
 * aligned, links told as what to type; code as it is.
 */
export function layOut(markdown: string, { columns, isTerminal }: Paper): string {
  const blocks = markdown.trim().split(/(^```\w*\n.*?^```$)/ms);
  const texts = blocks.map((block) => {
    if (block.startsWith('```')) return isTerminal ? indented(block) : block;
    const text = alignTables(wrapLines(tellLinks(block), columns));
    return isTerminal ? embolden(text) : text;
  });
  return texts.join('');
}

/** A block of code without its fence. */
const indented = (block: string): string =>
  block
    .split('\n')
    .slice(1, -1)
    .map((line) => (line === '' ? '' : `    ${line}`))
    .join('\n');

const embolden = (text: string): string =>
  text
    .replace(/^#+ (.*)$/gm, `${BOLD}$1${BOLD_OFF}`)
    .replace(/\*\*([^*]+)\*\*/g, `${BOLD}$1${BOLD_OFF}`);

/** A link to a page becomes the command that prints it, one within the page its text alone. */
const tellLinks = (text: string): string =>
  text.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, label: string, target: string) => {
    const [, topic] = /^([a-z-]+)\.md(#.*)?$/.exec(target) ?? [];
    if (topic !== undefined) return `${label} (\`viewlog help ${topic}\`)`;
    return /^https?:/.test(target) ? `${label} (${target})` : label;
  });

const wrapLines = (text: string, columns: number): string =>
  text
    .split('\n')
    .map((line) => (/^(\||#)/.test(line) ? line : wrap(line, columns)))
    .join('\n');

/** One line of Markdown; the lines after the first of an item of a list hang below its text. */
function wrap(line: string, columns: number): string {
  const [mark = ''] = /^(- |\d+\. )?/.exec(line)!;
  const hang = ' '.repeat(mark.length);
  const lines: string[] = [];
  let last = mark;
  // What stands in backticks is to be typed, and kept whole.
  for (const word of line.slice(mark.length).match(/(`[^`]*`|[^\s`])+/g) ?? []) {
    const longer = last === mark || last === hang ? last + word : `${last} ${word}`;
    if (longer.length <= columns || last === mark || last === hang) last = longer;
    else {
      lines.push(last);
      last = hang + word;
    }
  }
  return [...lines, last].join('\n');
}

const alignTables = (text: string): string =>
  text.replace(/(^\|.*\n?)+/gm, (table) => {
    const rows = table.trimEnd().split('\n').map(cellsOf);
    const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
    const lines = rows
      .filter((_, i) => i !== 1)
      .map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '));
    return (
      lines.map((line) => `  ${line}`.trimEnd()).join('\n') + (table.endsWith('\n') ? '\n' : '')
    );
  });

/** `| a | b |`; a bar in a cell is written `\|`. */
const cellsOf = (row: string): string[] =>
  row
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|').replace(/^-+$/, ''));

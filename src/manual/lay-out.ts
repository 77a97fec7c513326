const BOLD = '\u001b[1m';
const BOLD_OFF = '\u001b[22m';

/**
 * Returns a page of Markdown for reading as text: paragraphs, lists and wide tables wrapped, links
 * to pages replaced with commands, code unchanged.
 * @param columns the width of the widest paragraph.
 * @param isTerminal true: headings and strong text are bold; otherwise the Markdown stays.
 */
export function layOut(markdown: string, columns: number, isTerminal: boolean): string {
  const blocks = markdown.trim().split(/(^```\w*\n.*?^```$)/ms);
  const texts = blocks.map((block) => {
    const isCode = block.startsWith('```');
    const text = isCode ? block : alignTables(wrapLines(nameLinks(block), columns), columns);
    if (!isTerminal) return text;
    if (isCode) return text.replace(/^```\w*\n|\n```$/g, '').replace(/^(?=.)/gm, '    ');
    return text.replace(/^#+ (.*)$|\*\*([^*]+)\*\*/gm, (_, heading?: string, strong?: string) => {
      return `${BOLD}${heading ?? strong}${BOLD_OFF}`;
    });
  });
  return texts.join('');
}

/**
 * Adds, after each link to a page, the command that prints that page. A link within the page gets
 * none.
 */
const nameLinks = (text: string): string =>
  text.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, label: string, target: string) => {
    const [, topic] = /^([a-z-]+)\.md(#.*)?$/.exec(target) ?? [];
    if (topic !== undefined) return `${label} (\`viewlog help ${topic}\`)`;
    return /^https?:/.test(target) ? `${label} (${target})` : label;
  });

const wrapLines = (text: string, columns: number): string =>
  text.replace(/^(?![|#]).+$/gm, (line) => wrap(line, columns));

/** Wraps one line of Markdown. A list item's later lines are indented like its text. */
function wrap(line: string, columns: number): string {
  const [mark = ''] = /^ *(- |\d+\. )?/.exec(line)!;
  // Commands in backticks stay on one line.
  const text = line
    .slice(mark.length)
    .replace(/`[^`]*`/g, (code) => code.replaceAll(' ', NO_BREAK));
  const room = columns - mark.length - 1;
  const lines = text.match(new RegExp(`[^ ].{0,${room}}(?= |$)|[^ ]+`, 'g')) ?? [];
  return (mark + lines.join(`\n${' '.repeat(mark.length)}`)).replaceAll(NO_BREAK, ' ');
}

/** A space where no line is wrapped. */
export const NO_BREAK = '\u00a0';

/** Wraps the widest columns if a table is too wide. */
export const alignTables = (text: string, columns: number): string =>
  text.replace(/(^\|.*\n?)+/gm, (table) => {
    const rows = table.trimEnd().split('\n').map(cellsOf).toSpliced(1, 1);
    const widths = widthsOf(rows, columns);
    const lines = rows.flatMap((row) => {
      const cells = row.map((cell, i) => wrap(cell, widths[i]!).split('\n'));
      return Array.from({ length: Math.max(...cells.map((parts) => parts.length)) }, (_, n) =>
        cells
          .map((parts, i) => `  ${(parts[n] ?? '').padEnd(widths[i]!)}`)
          .join('')
          .trimEnd(),
      );
    });
    return lines.join('\n') + (table.endsWith('\n') ? '\n' : '');
  });

/**
 * Returns the widths of a table's columns. If the table is too wide, the widest columns shrink,
 * each as far as its longest word.
 */
function widthsOf(rows: readonly (readonly string[])[], columns: number): number[] {
  const longest = (i: number, partsOf: (cell: string) => string[]): number =>
    Math.max(...rows.flatMap((row) => partsOf(row[i] ?? '')).map((part) => part.length));
  const widths = rows[0]!.map((_, i) => longest(i, (cell) => [cell]));
  const words = rows[0]!.map((_, i) => longest(i, (cell) => wrap(cell, 1).split('\n')));
  let excess = widths.reduce((sum, width) => sum + width + 2, -columns);
  for (; excess > 0; excess--) {
    const most = Math.max(...widths.filter((width, i) => width > words[i]!));
    const widest = widths.findIndex((width, i) => width === most && width > words[i]!);
    if (widest < 0) break;
    widths[widest]! -= 1;
  }
  return widths;
}

/** `| a | b |`; a bar in a cell is written `\|`. */
const cellsOf = (row: string): string[] =>
  row
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

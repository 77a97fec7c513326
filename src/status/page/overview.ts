import type { Snapshot } from '../snapshot.ts';
import { chart } from './chart.ts';
import { element, setText, type View } from './dom.ts';
import { number, size } from './format.ts';

/** All projects together, and the disk. */
export function overview(): View<Snapshot> {
  const views = chart();
  const facts = element('dl');
  const fact = (name: string): Element => {
    const value = element('dd');
    facts.append(element('div', {}, element('dt', {}, name), value));
    return value;
  };
  // Of those before a restart only the file knows.
  const today = fact('Views today, since the start');
  const file = fact('File');
  const free = fact('Free disk');
  const lasts = fact('Lasts for');
  const queue = fact('Under way');
  const kept = fact('Refused, kept');
  return {
    node: element('article', {}, views.node, facts),
    update({ total, storage }, nowMs) {
      const { acceptedByMinute: accepted, refusedByMinute: refused } = total;
      views.update({ accepted, refused }, nowMs);
      setText(today, number(storage.acceptedToday));
      setText(file, fileOf(storage));
      setText(free, storage.freeBytes === undefined ? 'not known' : size(storage.freeBytes));
      setText(lasts, daysOf(storage.daysLeft));
      setText(queue, `${size(storage.queueBytes)} of ${size(storage.queueBytesMax)}`);
      setText(kept, number(storage.refusedKept));
    },
  };
}

const fileOf = ({ path, fileBytes }: Snapshot['storage']): string =>
  path === undefined ? 'none yet' : `${path.slice(path.lastIndexOf('/') + 1)}, ${size(fileBytes)}`;

function daysOf(days: number | undefined): string {
  if (days === undefined) return 'not known yet';
  if (days > 3650) return 'more than 10 years';
  return days < 1 ? 'less than a day' : `${number(Math.floor(days))} days at this rate`;
}

import type { ShownFiles, Snapshot } from '../snapshot.ts';
import { chart } from './chart.ts';
import { element, list, setText, type View } from './dom.ts';
import { duration, number, plural, size } from './format.ts';

type Storage = Snapshot['storage'];

type Fact = readonly [name: string, value: string];

/** All projects together, and where their views go. */
export function overview(): View<Snapshot> {
  const views = chart();
  const facts = element('dl');
  const showFacts = list<Fact>(facts, ([name]) => name, factItem);
  return {
    node: element('article', {}, views.node, facts),
    update({ total, storage }, nowMs) {
      const { acceptedByMinute: accepted, refusedByMinute: refused } = total;
      views.update({ accepted, refused }, nowMs);
      const { files, stream, acceptedToday, queueBytes, queueBytesMax, refusedKept } = storage;
      showFacts(
        [
          // Of those before a restart only the file knows.
          ['Views today, since the start', number(acceptedToday)],
          ...(files === undefined ? [] : factsOfFiles(files)),
          ...(stream === undefined ? [] : factsOfStream(stream, nowMs)),
          ['Under way', `${size(queueBytes)} of ${size(queueBytesMax)}`],
          ['Refused, kept', number(refusedKept)],
        ],
        nowMs,
      );
    },
  };
}

function factItem(): View<Fact> {
  const name = element('dt');
  const value = element('dd');
  return {
    node: element('div', {}, name, value),
    update([key, text]) {
      setText(name, key);
      setText(value, text);
    },
  };
}

const factsOfFiles = ({ path, fileBytes, freeBytes, daysLeft }: ShownFiles): Fact[] => [
  [
    'File',
    path === undefined
      ? 'none yet'
      : `${path.slice(path.lastIndexOf('/') + 1)}, ${size(fileBytes)}`,
  ],
  ['Free disk', freeBytes === undefined ? 'not known' : size(freeBytes)],
  ['Lasts for', daysOf(daysLeft)],
];

function factsOfStream(stream: NonNullable<Storage['stream']>, nowMs: number): Fact[] {
  const { name, server, disconnectedSinceMs = nowMs, seen } = stream;
  const { messages, bytes, leader, replicas, lagging } = seen;
  return [
    ['Stream', `${name}, ${plural(messages, 'message')}, ${size(bytes)}`],
    ['NATS server', server ?? `none for ${duration(nowMs - disconnectedSinceMs)}`],
    ['Led by', leader ?? 'none'],
    ['Up to date', `${replicas - lagging.length} of ${plural(replicas, 'server')}`],
  ];
}

function daysOf(days: number | undefined): string {
  if (days === undefined) return 'not known yet';
  if (days > 3650) return 'more than 10 years';
  return days < 1 ? 'less than a day' : `${number(Math.floor(days))} days at this rate`;
}

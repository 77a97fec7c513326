// The same view, spelt as JSON.stringify does not, or in another order: each beside the usual one.
import { inRounds, ratios } from './rounds.mjs';
import { SUBJECTS } from './subjects.mjs';
import { atLeast } from './target.mjs';
import { measure, row } from './throughput.mjs';
import { SPELLINGS } from './view.mjs';

export async function spelling() {
  const spelt = ['nodeOs', 'nodeDisk'].flatMap((key) =>
    Object.keys(SPELLINGS).map((spelling) => ({ ...SUBJECTS[key], spelling })),
  );
  const title = ({ name, spelling }) => `${name}, ${spelling}`;
  const subjects = new Map(spelt.map((subject) => [title(subject), subject]));
  const results = await inRounds([...subjects.keys()], (key) => measure(subjects.get(key)));
  console.log('Other spellings');
  console.table(Object.fromEntries(Array.from(results, ([key, rounds]) => [key, row(rounds)])));
  return spelt
    .filter(({ spelling }) => spelling !== 'usual')
    .map((subject) => {
      const usual = title({ ...subject, spelling: 'usual' });
      const values = ratios(results, title(subject), usual, 'perSecond');
      return atLeast(0.85, `${title(subject)} / usual`, values);
    });
}

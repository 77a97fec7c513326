import { describe, expect, it } from 'vitest';
import { startWatched } from '../support/status.ts';
import { dataDirectory } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// What the status page says, as plain text.

describe('the status as plain text', () => {
  it('has the headline, what is in trouble and what mends it, a line a project, unknown ids', async () => {
    const projects = [
      { id: '1', name: 'Mine\u202e\u001b[31m', origins: ['https://www.example.com'] },
      { id: '2', name: 'Other' },
    ];
    const viewlog = await startWatched({ data: dataDirectory({ projects }) });
    const { data, statusUrl } = viewlog;
    const text = async (): Promise<string> => (await fetch(`${statusUrl}/status.txt`)).text();
    expect(await text()).toMatch(/^Waiting for the first view\n\nNow: 0 a minute\n/);
    expect(await text()).toMatch(
      /\n\nNo unknown project has sent views since (.*, )?\d\d:\d\d\.\n$/,
    );
    await viewlog.post({ ...MINIMAL_VIEW, p: '2' });
    for (let i = 0; i < 3; i++) {
      await viewlog.post({ ...MINIMAL_VIEW, p: '1' }, { origin: 'https://shop.example.com' });
    }
    await viewlog.post({ ...MINIMAL_VIEW, p: '1', url: 'x' });
    await viewlog.post({ ...MINIMAL_VIEW, p: '77' });
    const name = String.raw`Mine\u202e\u001b[31m`;
    const given = `--projects ${data}/projects.json`;
    const told = (await text())
      .replaceAll(/\d\d:\d\d/g, '14:15')
      .replaceAll(/ \d+ \w{3}( \d{4})?,/g, '');
    expect(told.split('\n')).toMatchObject([
      `Views are refused: origin not allowed for ${name}`,
      '',
      `${name}: refused since about 14:15, all 4 views of the last hour.`,
      '  3 × origin not allowed, sent from https://shop.example.com.',
      `  $ viewlog activate 1 --origin https://shop.example.com ${given}`,
      expect.stringMatching(
        /^ {2}1 × invalid view, such as: url must .* in the page that sends it\.$/,
      ),
      '',
      expect.stringMatching(/^Now: \d a minute$/),
      'Last hour: 1 taken, 5 refused',
      ...expectedFacts,
      '',
      'state            last hour     today    by now   refused id         name',
      `all refused              0         0         0         4 1          ${name}`,
      expect.stringMatching(/^arriving +1 +[01] +0 +0 2 +Other$/),
      '',
      '77 is not in the projects file: 1 refused',
      `  $ viewlog activate 77 ${given}`,
      '',
    ]);
  });
});

const expectedFacts = [
  expect.stringMatching(/^Today: /),
  expect.stringMatching(/^Yesterday by now: /),
  expect.stringMatching(/^Free disk: /),
  expect.stringMatching(/^File: views-.*\.ndjson, \d+ bytes$/),
  expect.stringMatching(/^Times are in UTC/),
];

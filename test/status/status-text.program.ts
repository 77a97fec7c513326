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
    expect(await text()).toMatch(
      /^Waiting for the first view\nNo view yet\. .*\n\nLast hour: 0 taken, 0 refused\n/,
    );
    expect(await text()).toMatch(
      /\n\nNo unknown id has sent views since (.*, )?\d\d:\d\d\.\n\nTimes are in UTC.*\n$/,
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
      .replaceAll(/(about )?\d\d:\d\d/g, '14:15')
      .replaceAll(/ \d+ \w{3}( \d{4})?,/g, '');
    expect(told.split('\n')).toMatchObject([
      `Views are refused: ${name}, for 2 reasons`,
      expect.stringMatching(/^Last view of any project \d+ s ago\. /),
      '1 unknown id sends: 1 view refused in the last hour; id 77.',
      '',
      `${name}: refused since 14:15, all 4 views of the last hour, for 2 reasons.`,
      '  3 × origin not allowed, sent from https://shop.example.com. If that is one of its sites, add it:',
      `  $ viewlog activate 1 --origin https://shop.example.com ${given}`,
      expect.stringMatching(
        /^ {2}1 × invalid view, such as: url must .* in the page that sends it\. The latest came from x$/,
      ),
      '',
      'Last hour: 1 taken, 5 refused',
      'Last 10 minutes: 1 taken, 5 refused',
      expect.stringMatching(/^Today: [01]: .*yesterday by now/),
      expect.stringMatching(/^Free disk: /),
      '',
      'state            last hour     today    by now   refused id         name',
      `all refused              0         0         0         4 1          ${name}`,
      expect.stringMatching(/^arriving +1 +[01] +0 +0 2 +Other$/),
      '',
      expect.stringMatching(
        /^77 is not in the projects file: 1 view without Origin in 24 hours, last \d+ s ago\.$/,
      ),
      '  If it is a site of yours:',
      `  $ viewlog activate 77 ${given}`,
      '',
      expect.stringMatching(/^Times are in UTC/),
      '',
    ]);
  });

  it('says of a slip first what to change, and tells all that is in trouble', async () => {
    const origins = ['https://www.example.com'];
    const projects = Array.from({ length: 5 }, (_, i) => ({ id: `100000${i + 1}`, origins }));
    const viewlog = await startWatched({ data: dataDirectory({ projects }) });
    const headers = { origin: 'https://shop.example.com' };
    for (const { id } of projects) await viewlog.post({ ...MINIMAL_VIEW, p: id }, headers);
    await viewlog.post({ ...MINIMAL_VIEW, p: '1000010' }, headers);
    const text = await (await fetch(`${viewlog.statusUrl}/status.txt`)).text();
    expect(text.match(/\$ viewlog activate \d+ --origin/g)).toHaveLength(6);
    expect(text).toMatch(
      /\n {2}Perhaps 1000001 is meant: then change it in the page of https:\/\/shop\.example\.com\. If it is another site of yours:\n {2}\$ viewlog activate 1000010 /,
    );
  });
});

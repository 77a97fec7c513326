import { clockOf } from './charts.ts';
import { escapeHtml } from './escape.ts';
import { byHour, type Summary } from './summary.ts';
import { changeOf, dayInWords, grouped } from './words.ts';

/** The numbers at the head of the page. */
export function figures(summary: Summary): string {
  const { views, days, pages, before, today } = summary;
  const busiest = days.reduce((a, b) => (b.views > a.views ? b : a), { day: '', views: 0 });
  const hours = byHour(days);
  const hour = hours.indexOf(Math.max(...hours));
  const items = [
    figure(
      grouped(views),
      views === 1 ? 'view' : 'views',
      before && changed(views, before.views, 'before'),
    ),
    ...(today === undefined
      ? []
      : [
          figure(
            grouped(today.views),
            'today so far',
            changed(today.views, today.yesterday, 'yesterday by now'),
          ),
        ]),
    figure(grouped(Math.round(viewsADay(summary))), 'views a day'),
    figure(busiest.views === 0 ? '–' : dayInWords(busiest.day), 'busiest day'),
    figure(busiest.views === 0 ? '–' : clockOf(hour), 'busiest hour'),
    figure(`${pages.isExact ? '' : '> '}${grouped(pages.distinct)}`, 'different pages'),
  ];
  return `<ul class="figures">${items.join('')}</ul>`;
}

const figure = (number: string, what: string, remark = ''): string =>
  `<li><b>${escapeHtml(number)}</b><span>${what}</span>` +
  `${remark === '' ? '' : `<small>${remark}</small>`}</li>`;

function changed(count: number, before: number, when: string): string {
  const [number, part] = changeOf(count, before);
  return `${number} (${part})<br>${grouped(before)} ${when}`;
}

/** Of whole days, where there are any. */
function viewsADay({ days, today }: Summary): number {
  const whole = days.filter(({ day }) => day !== today?.day);
  const counted = whole.length > 0 ? whole : days;
  return counted.reduce((sum, { views }) => sum + views, 0) / Math.max(1, counted.length);
}

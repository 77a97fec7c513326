/** The page's look, in light and dark. Nothing is loaded from anywhere. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1c2430; --faint: #5c6779; --line: #dfe4eb; --soft: #f3f5f8;
  --bar: #2f6fde; --wash: #e3ecfb; --link: #1d57bd;
  /* Tiles, which are sharp in print too. */
  --partial: linear-gradient(135deg, var(--bar) 25%, var(--wash) 25% 50%, var(--bar) 50% 75%,
    var(--wash) 75%) 0 0 / 8px 8px;
  --gap: linear-gradient(45deg, var(--faint) 10%, transparent 10% 45%, var(--faint) 45% 55%,
    transparent 55% 90%, var(--faint) 90%) 0 0 / 7px 7px;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #14181f; --ink: #e4e8ee; --faint: #98a2b3; --line: #2c3440; --soft: #1d232c;
    --bar: #6ea1ff; --wash: #233453; --link: #8db5ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 960px; margin: 0 auto; padding: 40px 24px 56px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 40px 0 12px; }
h2 small, header p, footer { color: var(--faint); font-weight: normal; font-size: 13px; }
h2 small { display: block; }
header p { margin: 0; }
nav { display: flex; flex-wrap: wrap; gap: 0 16px; margin-top: 8px; font-size: 14px; }
nav a { color: var(--link); line-height: 28px; }
.figures { display: grid; grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); gap: 12px;
  margin: 12px 0 0; padding: 0; list-style: none; }
.figures.compared { display: flex; flex-wrap: wrap; margin-top: 24px; }
.figures.compared li { flex: 1 1 300px; }
.figures.rows li:last-child:nth-child(odd) { grid-column: span 2; }
.figures li { background: var(--soft); border: 1px solid var(--soft);
  border-radius: 8px; padding: 12px 14px; }
.figures p { margin: 0; }
.figures b { display: block; font-size: 20px; line-height: 1.35; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.figures.compared li { display: grid; grid-template-columns: fit-content(150px) 1fr; gap: 10px 20px;
  align-content: start; }
.figures.compared b { font-size: 28px; line-height: 1.2; }
.figures.compared .also b { font-size: 20px; }
.figures.compared p { grid-column: 1; }
.figures.compared .change { grid-column: 2; }
.figures.compared small { grid-column: 1 / -1; color: var(--ink); }
.figures p > span, .figures small { display: block; color: var(--faint); font-size: 13px; }
.figures .name { font-size: 18px; line-height: 1.5; white-space: normal; overflow-wrap: anywhere; }
figure { margin: 0; font-size: 11px; color: var(--faint); font-variant-numeric: tabular-nums; }
figure p { margin: 0; }
.columns, .ticks { display: grid; grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); }
.ticks span { display: flex; justify-content: center; white-space: nowrap; width: 100%;
  overflow: visible; }
.bars { padding: 8px 0 0 48px; }
.numbered { padding-top: 20px; }
.plot { position: relative; height: 190px; }
.plot p { position: absolute; left: 0; right: 0; border-bottom: 1px solid var(--line); }
.plot p span { position: absolute; right: calc(100% + 8px); transform: translateY(-50%); }
.plot .columns { position: relative; height: 100%; }
.plot .columns span { position: relative; background: linear-gradient(var(--bar) 0 0) bottom /
  min(80%, 64px) var(--part) no-repeat; }
.plot .columns .partial, .plot .columns .gap { background: none; }
.plot .columns .partial::before, .plot .columns .gap::before { content: ""; position: absolute; bottom: 0;
  left: 50%; transform: translateX(-50%); width: min(80%, 64px); height: var(--part);
  background: var(--partial); }
.plot .columns .gap { --part: 7px; }
.plot .columns .gap::before { background: var(--gap); opacity: .6; }
.plot .columns .gap small { color: var(--faint); }
.dense .columns .gap small { writing-mode: vertical-rl; transform: translateX(-50%) rotate(180deg); }
.plot .columns small { position: absolute; left: 50%; bottom: calc(var(--part) + 2px);
  transform: translateX(-50%); font-size: 11px; line-height: 1.3; color: var(--ink);
  background: var(--paper); }
.bars .ticks { margin-top: 4px; }
.weekdays { color: var(--ink); }
.weekdays small, .weekdays + .ticks { font-size: 11px; }
.bars .weekdays + .ticks { margin-top: 0; }
.week { display: grid; grid-template-columns: 28px 1fr auto; gap: 2px 8px; align-items: center; }
.week > p { text-align: right; }
.week .columns { gap: 2px; }
.week .columns span, .key span { height: 22px; border-radius: 3px;
  background: color-mix(in srgb, var(--bar) var(--part, 0%), var(--soft)); }
.week .columns .never, .key .never { background: none; border: 1px dashed var(--faint); opacity: .55; }
.week .ticks { margin-top: 4px; }
.key { grid-column: 2 / -1; display: flex; flex-wrap: wrap; gap: 4px 16px; margin-top: 8px; }
.key p { display: flex; gap: 6px; align-items: center; }
.key span { width: 18px; height: 14px; }
.key .partial { background: var(--partial); }
.key .gap { height: 7px; background: var(--gap); opacity: .6; }
.key .shades { width: 96px; background: linear-gradient(90deg,
  color-mix(in srgb, var(--bar) 8%, var(--soft)), var(--bar)); }
.silent ul { margin: 0; padding: 0; list-style: none; }
.silent span, .faint { color: var(--faint); }
.lists { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(400px, 100%), 1fr));
  gap: 0 36px; }
.wide { grid-column: 1 / -1; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
td, th { padding: 5px 8px; text-align: left; font-weight: normal; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; vertical-align: top; }
tr > :first-child { padding-left: 0; }
tr > :last-child { padding-right: 0; }
thead td { width: auto; }
thead th { width: 76px; padding: 0 8px 4px; color: var(--faint); font-size: 12px; }
thead small { display: block; font-size: 11px; line-height: 1.2; }
table { --track: 56px; }
.wide table { --track: 120px; }
thead .share { width: calc(var(--track) + 72px); }
.share small { display: inline-flex; justify-content: space-between; width: var(--track);
  margin-left: 8px; }
tbody .share::after { content: ""; display: inline-block; width: var(--track); height: 8px;
  margin-left: 8px; background: linear-gradient(var(--bar) 0 0) no-repeat 0 0 / var(--part) 100%
  var(--line); }
thead .change { width: 150px; }
thead th, tbody td { text-align: right; }
tbody td { font-variant-numeric: tabular-nums; white-space: nowrap; overflow-wrap: normal; }
td + td { color: var(--faint); }
footer { margin-top: 48px; }
@media (max-width: 900px) {
  .dense .weekdays small { display: none; }
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .figures li:last-child:nth-child(odd) { grid-column: span 2; }
}
@media (max-width: 560px) {
  main { padding: 24px 16px 40px; }
  .wide-only { visibility: hidden; }
  .figures { gap: 8px; margin-top: 8px; }
  .figures b { font-size: 18px; }
  .figures .name { font-size: 17px; }
  .figures.compared b { font-size: 24px; }
  .figures.compared .also b { font-size: 19px; }
  .bars { padding-left: 40px; }
  .plot { height: 150px; }
  .many.numbered { padding-top: 40px; }
  .many .columns small { writing-mode: vertical-rl; transform: translateX(-50%) rotate(180deg); }
  .many .weekdays small { display: none; }
  .week .columns { gap: 1px; }
  .week .columns span { border-radius: 1px; }
  .dense .columns .gap small { display: none; }
  td, th { padding-left: 4px; padding-right: 4px; font-size: 14px; }
  thead th { width: 60px; font-size: 11px; }
  .page { display: flex; flex-direction: column; }
  .page .faint { display: contents; }
  .page bdi { overflow: hidden; white-space: nowrap; text-overflow: ellipsis; font-size: 12px;
    color: var(--faint); }
  .page .title { order: -1; display: -webkit-box; -webkit-box-orient: vertical;
    -webkit-line-clamp: 2; white-space: normal; font-size: 14px; color: var(--ink); }
  .page .faint span { display: none; }
  thead .share { width: 48px; }
  .share small, tbody .share::after { display: none; }
  thead .change { width: 80px; }
}
@media print {
  main { padding: 0 1px; }
  nav { display: none; }
  .figures li { border-color: var(--line); }
  .lists { display: block; }
  section, tr, .figures { break-inside: avoid; }
  h2 { break-after: avoid; }
  .share::after, .columns span, .key span { print-color-adjust: exact; }
}
`;

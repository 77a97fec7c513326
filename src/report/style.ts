/** The page's look, in light and dark. Nothing is loaded from anywhere. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1c2430; --faint: #5c6779; --line: #dfe4eb; --soft: #f3f5f8;
  --bar: #2f6fde; --wash: #e3ecfb;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #14181f; --ink: #e4e8ee; --faint: #98a2b3; --line: #2c3440; --soft: #1d232c;
    --bar: #6ea1ff; --wash: #233453;
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
h2 small { margin-left: 8px; }
header p { margin: 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(142px, 1fr)); gap: 12px;
  margin: 24px 0 0; padding: 0; list-style: none; }
.figures li { background: var(--soft); border-radius: 8px; padding: 12px 14px; }
.figures b { display: block; font-size: 20px; line-height: 1.35; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.figures span, .figures small { display: block; color: var(--faint); font-size: 13px; }
.figures small { margin-top: 6px; color: var(--ink); font-size: 12px; line-height: 1.4; }
figure { margin: 0; font-size: 11px; color: var(--faint); font-variant-numeric: tabular-nums; }
figure p { margin: 0; }
.columns, .ticks { display: grid; grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); }
.ticks span { display: flex; justify-content: center; white-space: nowrap; width: 100%;
  overflow: visible; }
.bars { padding: 8px 0 0 48px; }
.plot { position: relative; height: 190px; }
.plot p { position: absolute; left: 0; right: 0; border-bottom: 1px solid var(--line); }
.plot p span { position: absolute; right: calc(100% + 8px); transform: translateY(-50%); }
.plot .columns { position: relative; height: 100%; }
.plot .columns span { background: linear-gradient(var(--bar) 0 0) bottom / min(80%, 64px)
  var(--part) no-repeat; }
.bars .ticks { margin-top: 6px; }
.week { display: grid; grid-template-columns: 36px 1fr; gap: 2px 12px; align-items: center; }
.week > p { text-align: right; }
.week .columns { gap: 2px; }
.week .columns span { height: 22px; border-radius: 3px;
  background: color-mix(in srgb, var(--bar) var(--part), var(--soft)); }
.week .ticks { margin-top: 4px; }
.silent ul { margin: 0; padding: 0; list-style: none; }
.silent span, .faint { color: var(--faint); }
.lists { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(400px, 100%), 1fr));
  gap: 0 36px; }
.wide { grid-column: 1 / -1; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
td, th { padding: 5px 8px; text-align: left; font-weight: normal; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; vertical-align: top; }
thead td { width: auto; }
thead th { width: 76px; padding: 0 8px 4px; color: var(--faint); font-size: 12px; }
thead th:nth-child(3) { width: 68px; }
thead th:nth-child(4) { width: 140px; }
thead th, tbody td { text-align: right; }
tbody td { font-variant-numeric: tabular-nums; white-space: nowrap; overflow-wrap: normal; }
td + td { color: var(--faint); }
.change span { display: inline-block; min-width: 52px; }
tbody tr { background: linear-gradient(var(--wash), var(--wash)) no-repeat 0 0 / var(--part) 100%; }
footer { margin-top: 48px; }
@media (max-width: 560px) {
  main { padding: 24px 16px 40px; }
  .wide-only { visibility: hidden; }
  .bars { padding-left: 40px; }
  .plot { height: 150px; }
  .week { grid-template-columns: 28px 1fr; column-gap: 8px; }
  .week .columns { gap: 1px; }
  .week .columns span { border-radius: 1px; }
  .compared tr { display: flex; flex-wrap: wrap; justify-content: flex-end;
    border-bottom: 1px solid var(--line); }
  .compared td, .compared th { width: 72px; border: 0; }
  .compared thead td { display: none; }
  .compared tbody th { width: 100%; padding-bottom: 0; }
  .compared tbody td { padding-top: 0; }
  .compared td:nth-child(4), .compared th:nth-child(4) { width: 140px; }
}
@media print {
  main { padding: 0; }
  section, figure, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  tbody tr, .columns span { print-color-adjust: exact; }
}
`;

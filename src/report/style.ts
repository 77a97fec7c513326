/** The page's look, in light and dark. Nothing is loaded from anywhere. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1c2430; --faint: #657083; --line: #dfe4eb; --soft: #f3f5f8;
  --bar: #2f6fde; --wash: #e3ecfb;
}
@media (prefers-color-scheme: dark) {
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
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 4px; }
h2 { font-size: 17px; margin: 36px 0 10px; }
h2 small, header p, footer { color: var(--faint); font-weight: normal; font-size: 13px; }
header p { margin: 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(158px, 1fr)); gap: 12px;
  margin: 24px 0 0; padding: 0; list-style: none; }
.figures li { background: var(--soft); border-radius: 8px; padding: 12px 16px; }
.figures b { display: block; font-size: 22px; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.figures span { color: var(--faint); font-size: 13px; }
section { overflow-x: auto; }
svg { display: block; width: 100%; min-width: 600px; height: auto; }
svg text { fill: var(--faint); font-size: 11px; }
.grid { stroke: var(--line); }
.bar { fill: var(--bar); }
.cell { fill: var(--soft); }
.target { fill: transparent; }
.lists { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(400px, 100%), 1fr));
  gap: 0 36px; }
.wide { grid-column: 1 / -1; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
td, th { padding: 5px 8px; text-align: left; font-weight: normal; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; vertical-align: top; }
td { width: 84px; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap;
  overflow-wrap: normal; }
td + td { width: 72px; color: var(--faint); }
th span { color: var(--faint); }
tr { background: linear-gradient(var(--wash), var(--wash)) no-repeat 0 0 / var(--part) 100%; }
footer { margin-top: 44px; }
@media print { main { padding: 0; } tr, .bar, .cell { print-color-adjust: exact; } }
`;

// The view that is sent: realistic, with letters beyond ASCII, as most views have some.
const VIEW = {
  pn: 'Høst i fjellene – sju turer for en lang helg (日本語)',
  pid: '5f3c1a9e-7d42',
  mb: 0,
  mv: { vt: 1280, v30: 312, dlv: -4 },
  mp: { p: ['5f3c1a9e-7d41', '5f3c1a9e-7d40'] },
  cf: [],
  csf: [],
  p: '1000001',
  ubl: 'nb-NO',
  ref: 'https://www.example.com/turer',
  ld: '2026-01-31T12:34:56.789Z',
  url: '/turer/høst-i-fjellene',
  content: { templateId: 'article-2' },
  orgreferer: 'https://search.example/',
  hc: true,
};

const usual = JSON.stringify(VIEW);
const reordered = Object.fromEntries(Object.entries(VIEW).toReversed());
const escape = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The same view as pages may spell it; `usual` is JSON.stringify's, in the order of the fields. */
export const SPELLINGS = {
  usual,
  reordered: JSON.stringify(reordered),
  spaced: usual.replaceAll('":', '": ').replaceAll(',"', ', "'),
  escaped: usual.replaceAll(/[^ -~]/g, escape),
  'non-empty cf': JSON.stringify({ ...VIEW, cf: ['campaign', { id: 7, tags: ['a', 'b'] }] }),
};

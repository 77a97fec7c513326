import * as v from 'valibot';
import { PROJECT_ID } from '../view/view-schema.ts';
import { isOrigin, ORIGIN_EXPECTED, ORIGIN_SHAPE, originMeant } from './origins.ts';

// The only list of the projects file's fields. Messages say what was expected, to be read after
// the field's path and before "; found …". `data/projects.schema.json` is generated from it.

/** The rule for an id, in the file and on the command line. */
export const ID_EXPECTED = 'must be a string of 1 to 20 digits, such as "1000001"';

const LIMIT_EXPECTED = 'must be a whole number of at least 1, such as 6000';
/** The rule for an operator's address, in the file and on the command line. */
export const EMAIL = /^[^\s@<>]+@[^\s@<>]+$/;
const EMAIL_EXPECTED = 'must be an e-mail address, such as "views@example.com"';

const PROJECTS_EXPECTED = 'must be a list of projects, such as [{ "id": "1000001" }]';

const id = v.pipe(
  v.string(ID_EXPECTED),
  v.regex(PROJECT_ID, ID_EXPECTED),
  v.description('The id in the field "p" of a page view: 1 to 20 digits, as a string.'),
);

function originExpected({ input }: v.BaseIssue<string>): string {
  const meant = originMeant(input);
  return meant === undefined ? ORIGIN_EXPECTED : `${ORIGIN_SHAPE} (did you mean "${meant}"?)`;
}

const origin = v.pipe(
  v.string('must be a string, such as "https://www.example.com"'),
  // Editors can check this pattern; the other rules need a URL parser.
  v.regex(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s/?#@\\]+$/, originExpected),
  v.check(isOrigin, originExpected),
  v.examples(['https://www.example.com', 'https://*.example.org']),
);

const ORIGINS_EXPECTED =
  'must be a list of at least one origin (to accept every origin, leave "origins" out)';

const optional = <I, O>(schema: v.BaseSchema<I, O, v.BaseIssue<unknown>>, description: string) =>
  v.optional(v.pipe(schema, v.description(description)));

const text = (description: string) => optional(v.string('must be a string'), description);

export const projectEntry = v.strictObject(
  {
    id,
    name: text('Only the operator sees it.'),
    origins: optional(
      v.pipe(v.array(origin, ORIGINS_EXPECTED), v.minLength(1, ORIGINS_EXPECTED)),
      'Sites whose pages may send views: scheme, host and port. "https://*.example.org" is ' +
        'every host below example.org, not example.org itself. Absent: any site.',
    ),
    active: optional(
      v.boolean('must be true or false'),
      'true if views of this project are accepted. Absent: true.',
    ),
    maxViewsPerMinute: optional(
      v.pipe(
        v.number(LIMIT_EXPECTED),
        v.safeInteger(LIMIT_EXPECTED),
        v.minValue(1, LIMIT_EXPECTED),
      ),
      'Views beyond this rate are refused. Absent: no limit.',
    ),
    contact: text('The contact for this project. Only the operator sees it.'),
  },
  objectMessage('must be an object, such as { "id": "1000001" }', ID_EXPECTED),
);

export const projectsFile = v.pipe(
  v.strictObject(
    {
      $schema: text('The schema of this file, for editors.'),
      operator: optional(
        v.pipe(v.string(EMAIL_EXPECTED), v.regex(EMAIL, EMAIL_EXPECTED)),
        "The e-mail address that a site's owner asks for activation.",
      ),
      projects: v.pipe(
        v.array(projectEntry, PROJECTS_EXPECTED),
        v.description('The projects that may send page views.'),
      ),
    },
    objectMessage('must be an object with a list "projects"', PROJECTS_EXPECTED),
  ),
  v.title('Projects file of viewlog'),
);

/**
 * Returns a function that words a fault of an object. Each kind of object has one required key,
 * which may be missing.
 */
function objectMessage(expected: string, keyExpected: string) {
  return (issue: v.StrictObjectIssue): string => {
    const { input, key } = issue.path?.at(-1) ?? {};
    const isObject = issue.expected !== 'Object' && !isList(input, key);
    return isObject ? `is missing; it ${keyExpected}` : expected;
  };
}

/** Returns whether a list was found where an object with this key is expected. */
export const isList = (found: unknown, key: unknown): boolean =>
  Array.isArray(found) && typeof key === 'string';

/**
 * The known keys: valibot reports only the first unknown key of an object and none given twice.
 */
export const KEYS = {
  file: Object.keys(projectsFile.entries),
  project: Object.keys(projectEntry.entries),
} as const;

export type ProjectsFile = v.InferOutput<typeof projectsFile>;
export type ProjectEntry = ProjectsFile['projects'][number];

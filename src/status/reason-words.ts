import type { RefusalCode } from '../view/refusal.ts';

/** Why a view was refused, in an operator's words. */
export const REASONS: Readonly<Record<RefusalCode, string>> = {
  'malformed-json': 'not JSON',
  'project-not-activated': 'project not active',
  'origin-not-allowed': 'origin not allowed',
  'not-found': 'wrong path',
  'method-not-allowed': 'wrong method',
  'request-timeout': 'did not arrive in time',
  'view-too-large': 'too large',
  'unsupported-media-type': 'not sent as application/json',
  'invalid-view': 'invalid view',
  'rate-limited': 'over its limit a minute',
  overloaded: 'too many at once',
  'storage-unavailable': 'could not be stored',
};

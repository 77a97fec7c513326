import { NEWEST_DENO } from '../support/runtimes.ts';
import { theServiceOn } from '../support/service.ts';

theServiceOn(NEWEST_DENO);

import { OLDEST_DENO } from '../support/runtimes.ts';
import { theServiceOn } from '../support/service.ts';

theServiceOn(OLDEST_DENO);

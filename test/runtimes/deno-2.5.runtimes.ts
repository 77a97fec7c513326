import { DENO_2_5 } from '../support/runtimes.ts';
import { theServiceOn } from '../support/service.ts';

theServiceOn(DENO_2_5);

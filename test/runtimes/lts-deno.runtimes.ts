import { LTS_DENO } from '../support/runtimes.ts';
import { theServiceOn } from '../support/service.ts';

theServiceOn(LTS_DENO);

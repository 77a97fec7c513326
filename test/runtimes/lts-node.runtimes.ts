import { LTS_NODE } from '../support/runtimes.ts';
import { theServiceOn } from '../support/service.ts';

theServiceOn(LTS_NODE);

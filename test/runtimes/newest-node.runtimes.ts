import { NEWEST_NODE } from '../support/runtimes.ts';
import { theServiceOn } from '../support/service.ts';

theServiceOn(NEWEST_NODE);

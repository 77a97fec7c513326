import { NODE } from '../support/runtimes.ts';
import { theServiceOn } from '../support/service.ts';

theServiceOn(NODE);

import { NODE_22 } from '../support/runtimes.ts';
import { theServiceOn } from '../support/service.ts';

theServiceOn(NODE_22);

import { NODE_26 } from '../support/runtimes.ts';
import { theServiceOn } from '../support/service.ts';

theServiceOn(NODE_26);

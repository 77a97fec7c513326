import { NODE_24 } from '../support/runtimes.ts';
import { theServiceOn } from '../support/service.ts';

theServiceOn(NODE_24);

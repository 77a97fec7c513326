import { BUN } from '../support/runtimes.ts';
import { theServiceOn } from '../support/service.ts';

theServiceOn(BUN);

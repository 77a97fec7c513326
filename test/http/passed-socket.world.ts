import { expect, it } from 'vitest';
import { exampleOf } from '../support/examples.ts';
import { restartUnderLoad } from '../support/held-socket.ts';
import { NGINX, nginx } from '../support/proxies.ts';
import { isHere } from '../support/runtimes.ts';

it.skipIf(!isHere(NGINX))(
  'nginx answers none of thousands of views with 502 while viewlog restarts ten times',
  async () => {
    const views = await restartUnderLoad(async (port) => {
      const printed = await exampleOf('nginx', [`--port=${port}`]);
      // Removes nginx's limit per address, because one machine sends all views.
      const proxy = await nginx(printed.replace(/ *limit_req.*;\n/g, ''));
      return `http://127.0.0.1:${proxy.port}`;
    });
    expect(views).toBeGreaterThan(1000);
  },
);

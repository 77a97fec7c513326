import { ACCEPTED, FULL_VIEW, MINIMAL_VIEW } from './views.ts';
import { startViewlog } from './viewlog.ts';

/** Sends a collector views of every kind; returns its directory and lines once it has stopped. */
export async function storedViews() {
  const viewlog = await startViewlog();
  for (const change of ACCEPTED) await viewlog.post({ ...FULL_VIEW, ...change });
  await viewlog.post(MINIMAL_VIEW);
  await viewlog.signal('SIGTERM');
  return { data: viewlog.data, lines: viewlog.lines() };
}

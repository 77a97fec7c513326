import { isLoopback } from '../../status/guard.ts';
import { TOKEN_ENV } from '../../status/token.ts';
import { readEnv } from '../../base/env.ts';
import { type Installation, metricsAddress } from './installation.ts';
import { hostAndPort } from './serve-flags.ts';
import { quoted } from './yaml.ts';

/** What the alerts call it by. */
export const JOB = 'viewlog';

/** For Prometheus. */
export function prometheus({ settings }: Installation): string {
  const address = metricsAddress(settings);
  const file = settings['status-token-file'];
  const { status } = settings;
  const isOpen = status !== 'off' && !isLoopback(status.host);
  const isAsked = isOpen || readEnv(TOKEN_ENV) !== undefined;
  const token = file ?? (isAsked ? '/etc/prometheus/viewlog-token' : undefined);
  return `# viewlog's metrics for Prometheus: in prometheus.yml, and "viewlog example alerts" beside it, with
# rule_files: [viewlog-alerts.yml]
scrape_configs:
  - job_name: ${JOB}
    static_configs:
      - targets: ['${hostAndPort(address)}']${token === undefined ? '' : authorization(token)}`;
}

const authorization = (file: string): string => `
    # The token that viewlog's --status asks for; Prometheus' own user has to be able to read it.
    authorization:
      credentials_file: ${quoted(file)}`;

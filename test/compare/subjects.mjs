// The programs. Each receives JSON over HTTP and writes it to a file, configured as its manual
// says, with its default buffers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE, nginx, viewlog } from '../bench/subjects.mjs';

const fluentBit = (name, isInFiles) => ({
  name: `Fluent Bit, ${name}`,
  variable: 'FLUENT_BIT',
  program: process.env.FLUENT_BIT,
  args(port, dir) {
    const file = join(dir, 'fluent-bit.yaml');
    const input = { name: 'http', listen: '127.0.0.1', port };
    const output = { name: 'file', match: '*', path: dir, file: 'views.log', format: 'plain' };
    const inputs = [{ ...input, ...(isInFiles && { 'storage.type': 'filesystem' }) }];
    const service = isInFiles ? { 'storage.path': `${dir}/buffer` } : {};
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ service, pipeline: { inputs, outputs: [output] } }));
    return ['-q', '-c', file];
  },
});

/** The configuration is from Vector's manual and hasn't been tried yet. */
const vector = (name, isAcknowledged) => ({
  name: `Vector, ${name}`,
  variable: 'VECTOR',
  program: process.env.VECTOR,
  args(port, dir) {
    const file = join(dir, 'vector.yaml');
    const source = {
      type: 'http_server',
      address: `127.0.0.1:${port}`,
      path: '/view',
      encoding: 'json',
    };
    const sink = {
      type: 'file',
      inputs: ['pages'],
      path: `${dir}/views.log`,
      encoding: { codec: 'json' },
      acknowledgements: { enabled: isAcknowledged },
    };
    writeFileSync(
      file,
      JSON.stringify({ data_dir: dir, sources: { pages: source }, sinks: { file: sink } }),
    );
    return ['--config', file];
  },
});

export const SUBJECTS = {
  viewlog: viewlog('Node', NODE, ['--min-free', '64KiB']),
  nginx,
  fluentBit: fluentBit('buffers in memory', false),
  fluentBitFiles: fluentBit('buffers in files', true),
  vector: vector('defaults', false),
  vectorAcknowledged: vector('acknowledgements', true),
};

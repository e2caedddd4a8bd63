// A reporter for Node's own test runner: one JSON object a line. Full titles are rebuilt from the order in
// which tests are announced, because an event carries its own name and depth alone.
import path from 'node:path';

const root = process.env.BERBENCH_ROOT || process.cwd();

function relative(file) {
  if (!file) return '';
  const name = path.relative(root, String(file).replace(/^file:\/\//, ''));
  return name.startsWith('..') ? '' : name.split(path.sep).join('/');
}

function outcome(type, data) {
  if (data.skip !== undefined && data.skip !== false) return 'skipped';
  if (data.todo !== undefined && data.todo !== false) return type === 'test:pass' ? 'skipped' : 'xfailed';
  return type === 'test:pass' ? 'passed' : 'failed';
}

export default async function* report(source) {
  const titles = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      titles.length = data.nesting;
      titles[data.nesting] = data.name;
    } else if (type === 'test:pass' || type === 'test:fail') {
      titles.length = data.nesting + 1;
      titles[data.nesting] = data.name;
      const error = data.details && data.details.error;
      const cause = error && (error.cause || error);
      yield JSON.stringify({
        titles: [...titles],
        kind: (data.details && data.details.type) || 'test',
        outcome: outcome(type, data),
        file: relative(data.file),
        failure: (error && error.failureType) || '',
        message: cause ? String(cause.message || cause).slice(0, 600) : '',
      }) + '\n';
    }
  }
  yield JSON.stringify({ end: true }) + '\n';
}

// Records what mocha reports, one JSON object a line, beside whatever reporter the project uses.
// Loaded with --require: mocha's own classes are in the module cache by then, and `run` returns its runner
// before the first test starts. Parallel workers load this too, and must stay silent.
'use strict';

const fs = require('fs');
const path = require('path');

const out = process.env.BERBENCH_OUT;
const root = process.env.BERBENCH_ROOT || process.cwd();

function relative(file) {
  if (!file) return '';
  const name = path.relative(root, file);
  return name.startsWith('..') ? '' : name.split(path.sep).join('/');
}

function titles(test) {
  // In parallel mode tests arrive without their parents, but with this.
  if (typeof test.titlePath === 'function') return test.titlePath();
  const names = [];
  for (let node = test; node && !node.root; node = node.parent) if (node.title) names.unshift(node.title);
  return names;
}

function fileOf(test) {
  for (let node = test; node; node = node.parent) if (node.file) return node.file;
  return '';
}

function open(name) {
  try {
    return fs.openSync(name, 'a');
  } catch (error) {
    return undefined; // a report that can't be written must not fail a test
  }
}

function listen(runner, stream) {
  const write = (record) => fs.writeSync(stream, JSON.stringify(record) + '\n');
  const record = (outcome) => (test, error) =>
    write({
      titles: titles(test),
      outcome,
      hook: test.type === 'hook' || test.title === 'Uncaught error outside test suite',
      file: relative(fileOf(test)),
      tries: typeof test.currentRetry === 'function' ? test.currentRetry() : 0,
      message: error ? String(error.message || error).slice(0, 600) : '',
    });
  write({ loaded: true });
  runner.on('pass', record('passed'));
  runner.on('fail', record('failed'));
  runner.on('pending', record('skipped'));
  runner.on('end', () => write({ end: true }));
}

// Small and seeded, so that the same seed gives the same order on every Node.
function chanceOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function shuffled(list, chance) {
  const order = [...list];
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(chance() * (at + 1));
    [order[at], order[other]] = [order[other], order[at]];
  }
  return order.every((item, at) => item === list[at]) ? order.reverse() : order;
}

function reorder(suite, chance) {
  suite.tests = shuffled(suite.tests, chance);
  suite.suites = shuffled(suite.suites, chance);
  for (const inner of suite.suites) reorder(inner, chance);
}

// The arguments are parsed by now, and tests may look at them.
const mine = process.argv.findIndex((word) => /\/kit\/mocha\.cjs$/.test(word));
if (mine > 1 && process.argv[mine - 1] === '--require') process.argv.splice(mine - 1, 2);

if (out) {
  const key = Object.keys(require.cache).find((name) => /[\\/]mocha[\\/]lib[\\/]mocha\.c?js$/.test(name));
  const Mocha = key && require.cache[key].exports;
  const worker = process.argv.some((name) => /nodejs[\\/]worker/.test(name)) || process.env.MOCHA_WORKER_ID;
  if (Mocha && Mocha.prototype && !worker) {
    const run = Mocha.prototype.run;
    const stream = open(path.join(out, `mocha-${process.pid}.jsonl`));
    const seed = process.env.BERBENCH_SHUFFLE;
    delete process.env.BERBENCH_SHUFFLE;
    Mocha.prototype.run = function (...rest) {
      const runner = run.apply(this, rest); // older versions load the files only now
      if (seed) reorder(this.suite, chanceOf(Number(seed)));
      if (stream !== undefined) listen(runner, stream);
      return runner;
    };
  }
}

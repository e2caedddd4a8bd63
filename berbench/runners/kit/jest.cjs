// Hides from the tests that jest was asked for a report: a test run in jest's own process sees its arguments.
// Loaded through NODE_OPTIONS, so by every Node process on the way to jest too (npx, yarn), which must hand it on.
// Where it can't work, the flags in the command still do.
'use strict';

const fs = require('fs');
const Module = require('module');
const path = require('path');

const ME = /^--require \S*\/kit\/jest\.cjs( |$)| --require \S*\/kit\/jest\.cjs(?= |$)/;
const REPORT = /^--outputFile=\/.*\/out\/jest-\d+\.json$/;
const REQUEST = /(^|[\\/])(\.\.|cli|index|jest-cli)(\.js)?$/;
const JEST = /[\\/]jest-cli[\\/]build[\\/](cli[\\/])?index\.js$/;

const load = Module._load;

function flags() {
  return process.argv.findIndex((word, at) => word === '--json' && REPORT.test(process.argv[at + 1]));
}

function restoreOptions() {
  const held = process.env.NODE_OPTIONS || '';
  if (!ME.test(held)) return;
  const own = held.replace(ME, '');
  // A leading space tells a variable that was set, and empty, from one that was not set.
  if (own === '' && held[0] !== ' ') delete process.env.NODE_OPTIONS;
  else process.env.NODE_OPTIONS = own;
}

// The first version that has the option for the tests of a file.
function knowsOrder(place) {
  const [major, minor] = require(path.join(place, 'package.json')).version.split('.').map(Number);
  return major > 29 || (major === 29 && minor >= 5);
}

// The words that ask for another order, where berbench wants one and this version has the option.
function order(place) {
  const seed = process.env.BERBENCH_SHUFFLE;
  delete process.env.BERBENCH_SHUFFLE;
  if (!seed) return [];
  if (knowsOrder(place)) return ['--randomize', `--seed=${seed}`];
  const at = flags();
  const out = at > 0 ? path.dirname(process.argv[at + 1].replace('--outputFile=', '')) : '';
  if (out) fs.writeFileSync(path.join(out, 'order'), 'jest has --randomize from version 29.5 on\n');
  return [];
}

function hide() {
  const at = flags();
  if (at > 0) process.argv.splice(at, 2);
  restoreOptions();
  if (Module._load === hooked) Module._load = load;
}

function hooked(request, parent, isMain) {
  const found = load.apply(this, arguments);
  if (!REQUEST.test(request) || !JEST.test(Module._resolveFilename(request, parent, isMain))) return found;
  if (!found || typeof found.run !== 'function') return found;
  const run = (given, project) => {
    const place = Module._resolveFilename(request, parent, isMain).split(/[\\/]build[\\/]/)[0];
    const words = [...order(place), ...(given || process.argv.slice(2))];
    hide();
    return found.run(words, project);
  };
  // Its own `run` can't be replaced: it may be a getter.
  return Object.create(found, { run: { value: run, enumerable: true, configurable: true, writable: true } });
}

if (flags() > 0) Module._load = hooked;
else restoreOptions(); // not on the way to jest

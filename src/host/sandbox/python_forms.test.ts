// Tests how the functions of real Python files are called, what their errors say, and which
// functions a file means: the guest's own Python in one Pyodide. src/cli/sandbox has the same in a
// process.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { loadPyodide } from 'pyodide'
import { beforeAll, describe, expect, test } from 'vitest'
import { PYTHON_CODE } from './guest_code.ts'

type Row = Readonly<Record<string, unknown>>
type Text = (...args: string[]) => string
let begin: Text
let take: Text
let call: Text

beforeAll(async () => {
  const folder = dirname(createRequire(import.meta.url).resolve('pyodide/package.json'))
  const pyodide = await loadPyodide({ indexURL: `${join(folder)}/`, stdout: () => {} })
  const OFFERED = pyodide.toPy({ there: ['sympy (6 MB)'], fetched_later: { numpy: '3 MB' } })
  for (const [name, value] of Object.entries({ LONGEST_TEXT: 10_000, MOST_ENTRIES: 64, OFFERED }))
    pyodide.globals.set(name, value)
  pyodide.runPython(PYTHON_CODE)
  const names = ['_begin', '_take', '_call']
  ;[begin, take, call] = names.map((name) => pyodide.globals.get(name) as Text)
}, 60_000)

interface Told {
  readonly value?: unknown
  readonly error?: string
}

/** What a file says of rows; its one error where it does not begin. */
function ask(source: string, rows: readonly Row[], entry = ''): readonly Told[] {
  const begun = JSON.parse(begin(source, 'reward.py', entry)) as Told
  if (begun.error !== undefined) return [begun]
  if (begun.value) take(JSON.stringify(rows))
  return rows.map((row) => JSON.parse(call(JSON.stringify(row), 'reward.py', entry)) as Told)
}

const row = (solution_str: string, ground_truth: unknown = '12', more: Row = {}): Row => ({
  data_source: 'toy',
  solution_str,
  ground_truth,
  completion_ids: [1, 2, 3],
  extra_info: { prompt: '5+7=', index: 4 },
  ...more,
})
const valuesOf = (source: string, entry = '', rows = [row('12'), row('13')]) =>
  ask(source, rows, entry).map(({ value, error }) => error ?? value)

const FILES: readonly (readonly [
  what: string,
  source: string,
  values: unknown[],
  entry?: string,
])[] = [
  [
    'two arguments and defaults, a helper with its own arguments',
    `def extract_solution(solution_str, method="strict"): return solution_str
def compute_score(solution_str, ground_truth, method="strict", format_score=0.0, score=1.0):
    return score if extract_solution(solution_str) == ground_truth else format_score`,
    [1, 0],
  ],
  [
    'keywords alone, in another order; **kwargs get the rest',
    `def compute_score(*, ground_truth, solution_str, **kwargs):
    return {"score": float(solution_str == ground_truth), "index": kwargs["extra_info"]["index"], "source": kwargs["data_source"]}`,
    [
      { score: 1, index: 4, source: 'toy' },
      { score: 0, index: 4, source: 'toy' },
    ],
  ],
  [
    'other names of the same, positional only',
    `def compute_score(model_output, gt, /, timeout_score=0): return model_output == gt`,
    [true, false],
  ],
  [
    'an argument by its own name comes before one of another name',
    `def compute_score(solution_str, answer="x", ground_truth=None): return [ground_truth == "12", answer]`,
    [true, true],
  ],
  [
    'fractions, decimals and a tuple, whose first counts',
    `from fractions import Fraction
from decimal import Decimal
def compute_score(solution_str, ground_truth):
    return (Fraction(1, 2), "why") if solution_str == ground_truth else Decimal("0.25")`,
    [0.5, 0.25],
  ],
  [
    'a dataclass under postponed annotations',
    `from __future__ import annotations
from dataclasses import dataclass
@dataclass
class Verdict:
    right: bool
    said: str | None = None
def compute_score(solution_str, ground_truth): return float(Verdict(solution_str == ground_truth).right)`,
    [1, 0],
  ],
  [
    'an alarm that does nothing',
    `import signal
def compute_score(solution_str, ground_truth):
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.alarm(1)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try: return float(solution_str == ground_truth)
    finally: signal.alarm(0)`,
    [1, 0],
  ],
  [
    'threads and pools do their work at once',
    `from concurrent.futures import ThreadPoolExecutor
import threading
def compute_score(solution_str, ground_truth):
    found = []
    thread = threading.Thread(target=found.append, args=(1,)); thread.start(); thread.join()
    with ThreadPoolExecutor(max_workers=2) as pool:
        return pool.submit(lambda: solution_str == ground_truth).result(timeout=1) + found[0]`,
    [2, 1],
  ],
  [
    'asyncio.run, and time that jumps',
    `import asyncio
async def slow(text):
    await asyncio.sleep(60)
    return text == "12"
def compute_score(solution_str, ground_truth): return asyncio.run(asyncio.wait_for(slow(solution_str), 100))`,
    [true, false],
  ],
  [
    'what stands under __main__ and an import that may fail',
    `try:
    import torch
except ImportError:
    torch = None
def compute_score(solution_str, ground_truth): return 1.0
if __name__ == "__main__":
    import math_verify
    raise SystemExit`,
    [1, 1],
  ],
  [
    'verl’s batch manager',
    `def compute_score(data_sources, solution_strs, ground_truths, extra_infos, **kwargs):
    return [{"score": float(a == b), "acc": a == b} for a, b in zip(solution_strs, ground_truths)]`,
    [
      { score: 1, acc: true },
      { score: 0, acc: false },
    ],
  ],
  [
    'OpenRLHF: a dictionary of lists',
    `def reward_func(queries, prompts, labels, **kwargs):
    scores = [float(q[len(p):] == l) for q, p, l in zip(queries, prompts, labels)]
    return {"rewards": scores, "scores": scores, "extra_logs": {"hits": scores}}`,
    [
      { hits: 1, scores: 1, score: 1 },
      { hits: 0, scores: 0, score: 0 },
    ],
  ],
  [
    'OpenRLHF: a list',
    'def reward_func(queries, prompts, labels): return [len(queries[0]), 0.5]',
    [6, 0.5],
  ],
  [
    'TRL: lists in, a list out, columns by name, None = not counted',
    `async def rated(prompts, completions, completion_ids, answer, trainer_state=None, log_metric=None, **kwargs):
    log_metric("longest", 3)
    return [len(i) / 4 if c == a else None for c, i, a in zip(completions, completion_ids, answer)]`,
    [
      { longest: 3, score: 0.75 },
      { longest: 3, score: null },
    ],
  ],
  [
    'a function that is chosen by its name',
    'def mine(prediction, target, scale=2): return scale * (prediction == target)',
    [2, 0],
    'mine',
  ],
]

test.for(FILES)('%s', ([, source, values, entry]) => {
  expect(valuesOf(source, entry)).toEqual(values)
})

test('columns of rows, conversations, and objects as truth reach the function as they are', () => {
  const rows = [
    row(
      'yes',
      { names: ['a'] },
      {
        columns: { prompt: 'x', level: 3, tags: ['t'] },
        messages: [{ role: 'user', content: 'x' }],
      },
    ),
  ]
  const trl = `def r(prompts, completions, level, **kwargs):
    return [level[0] + len(kwargs["tags"][0]) + (prompts[0][-1]["role"] == "user") + (completions[0][0]["content"] == "yes")]`
  expect(valuesOf(trl, '', rows)).toEqual([{ score: 6 }])
  const verl = 'def compute_score(solution_str, ground_truth): return len(ground_truth["names"])'
  expect(valuesOf(verl, '', rows)).toEqual([1])
  expect(valuesOf('def r(completions, answer): return [1.0]', '', rows)).toEqual([
    'reward.py: it asks for the column answer; the rows have data_source, ground_truth, extra_info, level, tags',
  ])
})

describe('an error says what is wrong, with file and line', () => {
  test.for([
    [
      'def compute_score(solution_str, ground_truth):\n    return soluton_str',
      /^reward\.py, line 2: NameError: name 'soluton_str'/,
    ],
    ['def compute_score(a)\n  return 1', /^reward\.py, line 1: SyntaxError: expected ':'/],
    ['x = 1\n1 / 0\n', /^reward\.py, line 2: ZeroDivisionError/],
    ['def compute_score(solution_str, ground_truth): pass', /^reward\.py: it returned None/],
    [
      'def compute_score(solution_str, ground_truth):\n    import math_verify\n    return 1',
      /^reward\.py, line 2: it imports math_verify, which is not here\. The sandbox has Python's standard library, and of other modules: sympy \(6 MB\)/,
    ],
    ['import torch', /return numbers in place of tensors/],
    ['import numpy as np', /It can be added: npm run python-modules \(3 MB\)/],
    ['import importlib\nx = importlib.import_module("scipy.stats")', /line 2: it imports scipy/],
    ['from .utils import f', /^reward\.py, line 1: it imports \.utils, a file beside it/],
    [
      'def compute_score(solution_str, ground_truth): return open("a.json").read()',
      /FileNotFoundError.*a program reads no files/,
    ],
    [
      'def compute_score(solution_str, ground_truth): raise ConnectionRefusedError("x.y")',
      /line 1: .*a program has no network/,
    ],
    [
      'def compute_score(solution_str, ground_truth, tokenizer): return 1',
      /compute_score: it asks for tokenizer, and is given data_source, solution_str/,
    ],
    [
      'def compute_score_exact(solution_str, ground_truth): return 1',
      /expected a function compute_score, found compute_score_exact\(solution_str, ground_truth\)/,
    ],
    ['def r(completions): return [1.0]', /expected 2 rewards, one for each response, got 1/],
    ['def r(completions): return "yes"', /expected a list of rewards/],
    [
      'def r(completions, trainer_state): return [trainer_state.global_step] * 2',
      /trainer_state\.global_step is not here/,
    ],
    [
      'def reward_func(queries, prompts, labels): return {"score": [1, 2]}',
      /expected a dictionary with rewards, got one with score/,
    ],
  ] as const)('%s', ([source, message]) => {
    expect(valuesOf(source)[0]).toMatch(message)
  })
})

describe('which functions a file means', () => {
  const found = (source: string) => ask(source, [{}], '?')[0]?.value as { chosen: string[] }

  test.for([
    [
      'a compute_score beside anything',
      'def r(completions): ...\ndef compute_score(solution_str, ground_truth): ...',
      ['compute_score'],
    ],
    [
      'all of TRL’s form',
      'def a(completions, **k): ...\ndef b(prompts, completions): ...\ndef text(c): ...\ndef _own(completions): ...',
      ['a', 'b'],
    ],
    [
      'the one that calls the others',
      'def a(completions): ...\ndef b(completions): ...\ndef both(completions): return [a(completions), b(completions)]',
      ['both'],
    ],
    [
      'one that was made by another, and not its maker',
      'def make(n):\n    def inner(completions, **k): return [n]\n    return inner\nmade = make(2)',
      ['made'],
    ],
    ['none of another name', 'def score(solution_str, ground_truth): ...', []],
    ['none that is imported', 'from os.path import join\nfrom collections import OrderedDict', []],
  ] as const)('%s', ([, source, chosen]) => {
    expect(found(source).chosen).toEqual(chosen)
  })
})

// Composed rewards outside the lab: reward.py of a job scores 1,000 responses as the lab does, part
// by part and in all.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { rewardFiles } from '../jobs/reward/composed_reward.ts'
import { experimentOf } from '../jobs/testing.ts'
import { createTask } from '../tasks/index.ts'
import { createReward, type PartChoice, type Scored } from '../tasks/rewards/composed.ts'
import { loadProgram } from '../tasks/task/program.ts'
import { writeFolder } from './output/file_folder.ts'
import { runPrograms } from './sandbox/programs.ts'
import { HAS_PYTHON, PATIENCE_MS, python } from './testing.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-rewards-'))
const endPrograms = runPrograms()
afterAll(() => {
  endPrograms()
  rmSync(root, { recursive: true })
})

const CODE = `
import importlib.util, json, sys
asked = json.load(sys.stdin)
def scores(file):
    spec = importlib.util.spec_from_file_location("reward", file)
    reward = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reward)
    return [reward.compute_score(**case) for case in asked["cases"]]
print(json.dumps([scores(file) for file in asked["files"]]))
`

const SCHEMA = JSON.stringify({
  type: 'object',
  properties: { a: { type: 'integer', minimum: 1 }, b: { enum: ['x', 1, null, [1, { c: 2 }]] } },
  required: ['a'],
  additionalProperties: { type: 'string', maxLength: 2 },
})

/** Parts of every kind, with settings that tell responses apart. */
const PARTS: readonly PartChoice[] = [
  { id: 'task', weight: 0.5 },
  { id: 'exact_match', weight: 1 },
  { id: 'normalised_match', weight: 0.3 },
  { id: 'normalised_match', weight: 0.1, articles: false, punctuation: false },
  { id: 'number_match', weight: -0.7 },
  { id: 'number_match', weight: 0.2, place: 'last', tolerance: 0.5 },
  { id: 'number_match', weight: 0.2, place: 'hashes' },
  { id: 'number_match', weight: 0.2, place: 'boxed' },
  { id: 'multiple_choice', weight: 1.1 },
  { id: 'equation', weight: 0.9 },
  { id: 'equation', weight: 0.4, all_numbers: false },
  { id: 'edit_distance', weight: 0.6, power: 3 },
  { id: 'regex', weight: 0.8, pattern: '^(a|b)*\\d{1,3}[^x-z\\s]+|\\bno\\b' },
]
const MORE: readonly PartChoice[] = [
  { id: 'regex', weight: 0.8, pattern: '(\\w+ ?)*', whole: true },
  { id: 'json_schema', weight: 0.25, schema: SCHEMA },
  { id: 'format', weight: 0.35 },
  { id: 'format', weight: 0.1, tags: 'a' },
  { id: 'length', weight: -0.15, shortest: 3, longest: 12, slope: 7 },
  { id: 'mentions', weight: 0.45, words: 'so no a b', enough: 3, every_time: true },
  { id: 'distinct_ngrams', weight: 0.55, ngram: 1 },
]

const PROGRAM = `import re
def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    if solution_str == "no":
        raise ValueError("no")
    digits = len(re.findall("[0-9]", solution_str))
    return {"score": digits / 4, "acc": digits == 2, "digits": digits, "source": data_source}
`

/** Another name, other names of its arguments, keywords alone, a tuple out, and a dataclass. */
const NAMED = `from __future__ import annotations
from dataclasses import dataclass

@dataclass
class Read:
    text: str

def share(gt: str, *, model_output: str, scale: float = 0.5, **rest):
    right = Read(model_output).text.strip() == gt
    return scale * right + len(rest["data_source"]) / 100, "why"
`

/** Right, nearly right, in other words, and anything else. */
function cases() {
  let state = 11
  const random = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % below
  }
  const pieces = [
    '3',
    '4*5',
    '+',
    '(',
    ')',
    '=',
    '17',
    'no',
    'a',
    'The answer is B',
    '(C)',
    ' ',
    '\n',
    '0.5',
    '-7',
    '#### ',
    '\\boxed{',
    '}',
    '{"a": 1',
    ', "b": "x"',
    '}',
    '<a>',
    '</a>',
    '<think>',
    '</think>',
    '1,234',
    'the ',
    'É',
    '😀',
    'Ａ',
    '.',
    '!',
    'null',
    '[1, {"c": 2}]',
    '<answer>',
    '</answer>',
    '_',
    '\u00a0',
    'ſ',
  ]
  const truths = [
    '17',
    '5',
    'B',
    'The Answer!',
    '3,4,5=17',
    '1234',
    'é',
    '{"a": 1}',
    '',
    '12+5',
    '-7',
  ]
  const noise = () =>
    Array.from({ length: 1 + random(6) }, () => pieces[random(pieces.length)]).join('')
  return Array.from({ length: 1000 }, (_, i) => {
    const ground_truth = truths[i % truths.length]
    const texts = [
      ground_truth,
      ground_truth.toUpperCase(),
      ` ${ground_truth}.`,
      '3*4+5',
      '',
      'no',
      `<think>${noise()}</think> <answer>${ground_truth}</answer>`,
      `so \\boxed{${ground_truth}}`,
      `#### ${ground_truth}\n`,
      `<a>${noise()}</a>`,
      '{"a": 2, "b": [1, {"c": 2}], "z": "😀"}',
    ]
    const solution_str = random(2) === 0 ? texts[random(texts.length)] : noise()
    return { data_source: 'toy', solution_str, ground_truth, extra_info: { prompt: '3,4,5=17' } }
  })
}

/** Scores the cases with every list of parts, in the lab and in one process of Python. */
async function compare(lists: readonly (readonly PartChoice[])[]) {
  const task = createTask('countdown')
  const asked = cases()
  const experiments = lists.map((parts) =>
    experimentOf({ task: { id: 'countdown' }, reward: { parts } }),
  )
  const files = experiments.map((experiment, i) => {
    const folder = mkdtempSync(join(root, `${i}-`))
    writeFolder(folder, rewardFiles(experiment, task))
    return join(folder, 'reward.py')
  })
  const answers = python(CODE, { files, cases: asked }) as Record<string, number>[][]
  const scores = []
  for (const [i, { reward }] of experiments.entries()) {
    const scored = await createReward(reward, task)?.score(asked)
    if (!scored) throw new RangeError('no reward')
    expectSame(answers[i], scored)
    scores.push(scored)
  }
  return scores
}

function expectSame(found: readonly Record<string, number>[], scored: Scored): void {
  for (const [part, column] of scored.columns) {
    expect(
      found.map((row) => row[part] ?? 0),
      part,
    ).toEqual(column.map((score) => score ?? 0))
    // All alike, and the comparison would say nothing.
    expect(new Set(column).size, part).toBeGreaterThan(1)
  }
  expect(found.map(({ score }) => score)).toEqual(scored.scores)
  expect(found.map(({ acc }) => acc === 1)).toEqual(scored.is_right)
}

test.skipIf(!HAS_PYTHON)(
  'reward.py scores 1,000 responses as the lab does',
  async () => {
    await compare([...[...PARTS, ...MORE].map((part) => [part]), PARTS.slice(1, 12), MORE])
  },
  PATIENCE_MS,
)

test.skipIf(!HAS_PYTHON || !process.env.LONG_TESTS)(
  'a program leaves as it is, and scores the same',
  async () => {
    loadProgram(`sha256-${'0'.repeat(64)}`, PROGRAM)
    const program = { id: 'program', weight: 1, code: `sha256-${'0'.repeat(64)}`, name: 'mine.py' }
    const [{ problems }] = await compare([[program, { id: 'length', weight: 0.5 }]])
    expect(problems.length).toBeGreaterThan(10)
    const named = `sha256-${'1'.repeat(64)}`
    loadProgram(named, NAMED)
    const chosen = { id: 'program', weight: 1, code: named, name: 'n.py', function: 'share' }
    await compare([[chosen]])
    const trl = `sha256-${'2'.repeat(64)}`
    loadProgram(
      trl,
      'def even(prompts, completions, **kwargs):\n    return [1.0 for _ in completions]\n',
    )
    const batch = experimentOf({ reward: { parts: [{ ...chosen, code: trl, function: 'even' }] } })
    expect(() => rewardFiles(batch, createTask('countdown'))).toThrow(
      /even takes all responses at once/,
    )
    const javascript = experimentOf({ reward: { parts: [{ ...program, name: 'mine.js' }] } })
    expect(() => rewardFiles(javascript, createTask('countdown'))).toThrow(
      /mine.js is in JavaScript/,
    )
  },
  PATIENCE_MS,
)

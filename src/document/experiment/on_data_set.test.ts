// An experiment around rows: phases that suit them, and batches that they can fill.
import { expect, test } from 'vitest'
import type { DataChoice } from '../../tasks/data/data_task.ts'
import { USUAL_PLAN } from '../../tasks/data/plan.ts'
import { parseExperiment } from './experiment.ts'
import { onDataSet, usualDataExperiment } from './on_data_set.ts'
import { resolvePhases } from './resolve.ts'

const rows = (change: Partial<DataChoice> = {}): DataChoice => ({
  ...USUAL_PLAN,
  prompt_key: 'q',
  answer_key: 'a',
  tokenizer: 'characters',
  id: 'dataset',
  data: `sha256-${'0'.repeat(64)}`,
  name: 'r.csv',
  val_data: null,
  val_name: null,
  tokenizer_data: null,
  tokenizer_name: null,
  vocab_size: 9,
  max_prompt_length: 4,
  max_response_length: 4,
  train_size: 20,
  test_size: 5,
  answers: 'text',
  train_pairs: 0,
  test_pairs: 0,
  train_undesirable: 0,
  test_undesirable: 0,
  ...change,
})

const issues = (document: object) => {
  const parsed = parseExperiment(document)
  return parsed.ok ? [] : parsed.issues.map(({ path, message }) => `${path}: ${message}`)
}

test.for<[string, Readonly<Record<string, unknown>>]>([
  ['the usual experiment', {}],
  [
    'phases with batches of their own',
    {
      phases: [
        { kind: 'sft', batch_size: 64 },
        { kind: 'rl', rollout: { train_batch_size: 48 } },
      ],
    },
  ],
  [
    'mini-batches that no longer divide',
    { rollout: { train_batch_size: 64 }, actor: { ppo_mini_batch_size: 16 } },
  ],
  ['a smaller set', { data: { train_max_samples: 10 } }],
])('batches become as small as the rows, and it is said: %s', ([, document]) => {
  const { fields, told } = onDataSet(document, rows())
  expect(issues({ ...document, ...fields })).toEqual([])
  expect(told.join('\n')).toMatch(
    /Batch of phase 1 \(sft\): (20|10) in place of \d+, because there are only (20|10) rows/,
  )
  expect(told.join('\n')).toMatch(/Prompts per step.*: (20|10) in place of \d+/)
})

test('batches that the rows can fill stay, and nothing is said', () => {
  const document = { phases: [{ kind: 'sft', batch_size: 20 }] }
  const { fields, told } = onDataSet(document, rows())
  expect([told, 'phases' in fields, 'actor' in fields]).toEqual([[], false, false])
})

test('pairs train a reward model between imitation and reinforcement', () => {
  const { fields } = usualDataExperiment(
    rows({ row_format: 'pairs', train_pairs: 20, test_pairs: 5 }),
  )
  const parsed = parseExperiment(fields)
  expect(parsed.ok && parsed.experiment.phases).toMatchObject([
    { kind: 'sft', batch_size: 20 },
    { kind: 'reward_model', pairs: { source: 'file', count: 20, held_out: 5 } },
    { kind: 'rl', reward_model: { enable: true } },
  ])
  expect(issues({ phases: [{ kind: 'reward_model', pairs: { source: 'file' } }] })).toEqual([
    'phases.0.pairs.source: expected judge, human or mixed, because the task has no rows with pairs of a better and a worse answer; got file',
  ])
})

test('single verdicts teach KTO, and need bad answers', () => {
  const verdicts = rows({ row_format: 'verdicts', train_undesirable: 9, test_undesirable: 2 })
  const { fields } = usualDataExperiment(verdicts)
  const parsed = parseExperiment(fields)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  const { train_size, test_size } = verdicts
  expect(resolvePhases(parsed.experiment)[1]).toMatchObject({
    kind: 'preference',
    preference: { loss_type: 'kto' },
    pairs: { source: 'file', count: train_size + 9, held_out: test_size + 2 },
  })
  const without = rows({ row_format: 'verdicts' })
  expect(issues({ ...fields, task: without })).toEqual([
    'phases.1.pairs.source: expected rows with bad answers too, because rewards of good and bad answers are compared; the rows have good ones alone',
  ])
  const [sft] = parsed.experiment.phases
  const dpo = { kind: 'preference', pairs: { source: 'file' } }
  expect(issues({ ...fields, phases: [sft, dpo] })).toEqual([
    expect.stringContaining('a preference phase with loss_type kto learns from single answers'),
  ])
})

test.for([null, 'json'] as const)(
  'answers that are %s leave nothing to imitate and need a reward that can judge',
  (answers) => {
    const { fields, told } = usualDataExperiment(rows({ answers }))
    expect(told[0]).toMatch(/^Phases of supervised learning are left out: /)
    const code = `sha256-${'1'.repeat(64)}`
    const scored = (parts: object[]) => issues({ ...fields, reward: { parts } })
    expect(scored([{ id: 'program', code, name: 'r.py' }])).toEqual([])
    expect(scored([{ id: 'length' }])).toEqual([])
    for (const parts of [[], [{ id: 'exact_match' }], [{ id: 'task' }]])
      expect(scored(parts)[0]).toMatch(
        /^reward\.parts: expected a program \(--reward program\.py.*got (none|exact_match|task)$/,
      )
    expect(issues({ ...fields, phases: [{ kind: 'sft', batch_size: 9 }] })[0]).toMatch(
      /^phases\.0\.kind: expected no phase of kind sft/,
    )
  },
)

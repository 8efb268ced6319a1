// TRL's own trainers take a step of the jobs that preference phases leave as.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { modelConfig } from '../document/experiment/fields/model_fields.ts'
import { taskOf } from '../document/experiment/fields/task_fields.ts'
import { makeJob } from '../jobs/job_files.ts'
import { onRows, PAIRS, sourceOf, VERDICTS } from '../jobs/testing.ts'
import { modelShape } from '../model/layout/config.ts'
import { initialWeights, paramLayout } from '../model/layout/params.ts'
import { logitsRef } from '../model/transformer/policy.ref.ts'
import { forwardRef } from '../model/transformer/transformer.ref.ts'
import { writeFolder } from './output/file_folder.ts'
import { hasModules, PATIENCE_MS, PYTHON, pythonEnv } from './testing.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-preferences-'))
afterAll(() => rmSync(root, { recursive: true }))

/** The rows, the phase's objective, and what TRL's first step must report. */
const CASES: readonly (readonly [
  name: string,
  rows: readonly object[],
  objective: object,
  object,
])[] = [
  ['DPO', PAIRS, { beta: 0.3 }, { loss: Math.log(2), 'rewards/margins': 0 }],
  ['IPO with imitation', PAIRS, { loss_type: 'ipo', rpo_alpha: 0.1 }, { 'rewards/margins': 0 }],
  ['KTO', VERDICTS, { loss_type: 'kto' }, { loss: 0.5, kl: 0 }],
  ['KTO of pairs', PAIRS, { loss_type: 'kto' }, { loss: 0.5, kl: 0 }],
  ['SimPO', PAIRS, { loss_type: 'simpo', cpo_alpha: 0 }, {}],
  ['ORPO', PAIRS, { loss_type: 'orpo' }, {}],
]

test.skipIf(!hasModules('torch', 'transformers', 'trl', 'datasets')).for(CASES)(
  'TRL trains a job of %s',
  { timeout: PATIENCE_MS },
  async ([name, rows, objective, expected]) => {
    // One step takes all rows, so their order does not matter.
    const experiment = await onRows(rows, objective, {
      steps: 1,
      batch_size: rows === PAIRS ? 16 : 8,
    })
    const source = sourceOf(experiment)
    const { files } = makeJob(source, { target: 'trl', verl: '0.9' })
    const folder = join(root, name.replaceAll(' ', '_'))
    writeFolder(folder, files)
    const done = spawnSync(PYTHON, [join(folder, 'train_trl.py')], {
      encoding: 'utf8',
      env: { ...pythonEnv, TRL_EXPERIMENTAL_SILENCE: '1' },
    })
    expect(done.status, done.stderr.slice(-3000)).toBe(0)
    const log: Record<string, number>[] = JSON.parse(
      readFileSync(join(folder, 'trained', 'trl_log.json'), 'utf8'),
    )
    const first = log.find((entry) => 'loss' in entry) ?? {}
    for (const [key, value] of Object.entries(expected))
      expect(first[key], `${key} of ${JSON.stringify(first)}`).toBeCloseTo(value, 3)
    expect(first.grad_norm).toBeGreaterThan(0)
    if (name === 'DPO') expect(first['logps/chosen']).toBeCloseTo(meanLogps(), 3)

    /** log π of the better answers to train on, their end token included, in float64. */
    function meanLogps(): number {
      const task = taskOf(experiment.task)
      const { tokenizer } = task
      const config = modelConfig(experiment.model, tokenizer.vocab_size)
      const layout = paramLayout(modelShape(config))
      const flat = initialWeights(layout, experiment.seed)
      const params = Object.fromEntries(
        layout.params.map(({ name: own, offset, size }) => [
          own,
          Float64Array.from(flat.subarray(offset, offset + size)),
        ]),
      )
      const V = tokenizer.vocab_size
      const sums = Array.from({ length: task.train_size }, (_, i) => {
        const { prompt, demonstration } = task.sample(experiment.seed, i, 'train_set')
        const asked = tokenizer.encode(prompt)
        const ids = [...asked, ...tokenizer.encode(demonstration), tokenizer.eos_token_id]
        const width = ids.length
        const position_ids = ids.map((__, column) => column)
        const batch = { input_ids: ids, attention_mask: ids.map(() => 1), position_ids }
        const cache = forwardRef(config, params, { ...batch, rows: 1, width })
        const logits = logitsRef(config, params, cache.normed)
        return ids.slice(asked.length).reduce((sum, id, k) => {
          const row = logits.subarray((asked.length + k - 1) * V, (asked.length + k) * V)
          return sum + row[id] - Math.log(row.reduce((total, x) => total + Math.exp(x), 0))
        }, 0)
      })
      return sums.reduce((a, b) => a + b, 0) / sums.length
    }
  },
)

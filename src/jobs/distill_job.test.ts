import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { taskOf } from '../document/experiment/fields/task_fields.ts'
import { makeJob } from './job_files.ts'
import {
  distilled,
  experimentOf,
  filesOf,
  sourceOf,
  taughtSource,
  textsOf,
  withVectors,
} from './testing.ts'

const TRL = { target: 'trl', verl: '0.9' } as const
const jobOf = (source: ReturnType<typeof taughtSource>) => textsOf(makeJob(source, TRL))

describe('a job of distillation', () => {
  test('has student, teacher, the problems of the run, and TRL’s names', () => {
    const experiment = distilled({ lmbda: 0.5, seq_kd: true, beta: 0.3, temperature: 0.9 })
    const task = taskOf(experiment.task)
    const { text, warnings } = jobOf({ ...taughtSource(experiment), firstProblem: 7 })
    expect(warnings).toEqual([])
    const config = (folder: string) => JSON.parse(text.get(`${folder}/config.json`) ?? '{}')
    expect([config('model').hidden_size, config('teacher').hidden_size]).toEqual([16, 24])
    expect(text.get('teacher/tokenizer.json')).toBe(text.get('model/tokenizer.json'))
    const script = text.get('train_trl.py') ?? ''
    for (const line of [
      'from trl.experimental.gkd import GKDConfig, GKDTrainer',
      '    lmbda=0.5,',
      '    beta=0.3,',
      '    temperature=0.9,',
      '        kwargs.setdefault("temperature", ARGUMENTS["temperature"])',
      '    seq_kd=True,',
      `    max_new_tokens=${task.max_response_length},`,
      '    train_sampling_strategy="sequential",',
      '    per_device_train_batch_size=4,',
    ])
      expect(script).toContain(`${line}\n`)
    const rows = (text.get('data/train.jsonl') ?? '').trim().split('\n')
    expect(rows).toHaveLength(12)
    const { tokenizer } = task
    const { prompt, demonstration } = task.sample(experiment.seed, 7, 'train')
    const asked = tokenizer.encode(prompt)
    const answer = [...tokenizer.encode(demonstration), tokenizer.eos_token_id]
    expect(JSON.parse(rows[0])).toEqual({
      prompt,
      input_ids: [...asked, ...answer],
      completion_mask: [...asked.map(() => 0), ...answer.map(() => 1)],
    })
    const readme = text.get('README.md') ?? ''
    expect(readme).toContain("a job for TRL's GKDTrainer.")
    expect(readme).toContain('Python’s random numbers')
    const spec = JSON.parse(text.get('understory.json') ?? '{}')
    expect(experimentOf(spec.experiment)).toEqual(experiment)
  })

  test('what was changed by hand is named', () => {
    const change = { step: 1, kind: 'set', path: 'phases.0.optim.lr', value: 0.0013 } as const
    const source = { ...taughtSource(distilled({})), changes: [change] }
    expect(jobOf(source).text.get('README.md')).toMatch(
      /steering \(phase 1 lr 0\.0013 .*after step 1\): a job is not steered/,
    )
    expect(jobOf(taughtSource(distilled({}))).text.get('README.md')).not.toContain('steering (')
  })

  test('its script is Python', () => {
    const folder = mkdtempSync(join(tmpdir(), 'understory-gkd-'))
    const script = jobOf(taughtSource(distilled({}))).text.get('train_trl.py') ?? ''
    writeFileSync(join(folder, 'train_trl.py'), script)
    const done = spawnSync('python3', ['-m', 'py_compile', join(folder, 'train_trl.py')])
    rmSync(folder, { recursive: true })
    expect(`${done.stderr}`).toBe('')
  })

  test.for<[object, object, string]>([
    [
      { crossentropy_weight: 1, lmbda: 0.5 },
      {},
      'distillation.crossentropy_weight is 1: GKDTrainer has no cross-entropy',
    ],
    [{}, { target_layer: 1 }, 'phases.0.target_layer is 1: TRL trains the whole model'],
    [{}, { layers: '1' }, 'phases.0.layers is 1: it teaches the whole model alone'],
    [{}, { optim: { optimizer: 'Muon' } }, 'optim.optimizer is Muon: the job tells TRL its AdamW'],
    [
      { teacher: 'final' },
      { target_layer: 1 },
      'distillation.teacher is final: GKDTrainer takes its teacher from files',
    ],
    [{}, { optim: { lr_warmup_steps: null, lr_warmup_steps_ratio: 0.1 } }, 'write the warm-up'],
  ])('%j %j is refused by name', ([settings, change, why]) => {
    const source = taughtSource(distilled(settings, change))
    expect(() => makeJob(source, TRL)).toThrow(why)
  })

  test('steering vectors, another system and a teacher without weights are refused', () => {
    const experiment = distilled({})
    expect(() => makeJob(taughtSource(withVectors(experiment)), TRL)).toThrow(
      'model.steering_vectors.trainable is true: TRL trains no steering vectors',
    )
    const source = taughtSource(experiment)
    expect(() => makeJob(source, { ...TRL, target: 'verl' })).toThrow(
      /^phase 1 \(distillation, 3 steps\): verl distils from a teacher that runs on servers.*export for TRL/,
    )
    expect(() => filesOf(experiment, { target: 'bupo' })).toThrow('the fork has no distillation')
    expect(() => makeJob(sourceOf(experiment), TRL)).toThrow(
      /^teacher\.source is large: its weights are no part of the settings.*--teacher PATH/,
    )
  })
})

// What is measured of the states of a trained run, against what the same states say by themselves;
// and a study that begins with the run.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { TINY, tinyExperiment } from '../../host/checkpoints/testing.ts'
import { train } from '../train/train.ts'
import { continued } from './continued.ts'
import { insideOf } from './inside.ts'
import { studyCommand } from './study_command.ts'
import { readStudy } from './study_options.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-inside-'))
afterAll(() => rmSync(root, { recursive: true }))

const optim = { lr: 0.02, lr_warmup_steps: 2 }
const validation = { ...TINY.validation, prompts: 20, val_before_train: 'enable' }
const fields = {
  ...TINY,
  validation,
  phases: [
    { kind: 'sft', steps: 90, batch_size: 64, optim },
    { kind: 'rl', steps: 2, target_layer: 1, actor: { optim } },
    { kind: 'rl', steps: 2, actor: { optim } },
  ],
  teacher: {
    hidden_size: 32,
    num_hidden_layers: 4,
    num_attention_heads: 2,
    num_key_value_heads: 2,
    intermediate_size: 64,
    source: 'sha256-b8df087d16a97b53c0adc46d6229f2b1c710f854e7185945bbc664ea2be0ec6a',
    source_name: 'small',
  },
}

test('parts, ablations and the distance from a teacher of the states that a run left', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const [file, folder] = [join(root, 'run.json'), join(root, 'run')]
  writeFileSync(file, JSON.stringify(fields))
  expect(await train.run([file, '--out', folder, '--checkpoint-every', '50'])).toBe(0)
  const { phases } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
  const of = ['transplants', 'ablations', 'teacher_kl'] as const
  const inside = { of: [...of], problems: 20 }
  const found = await insideOf(tinyExperiment(fields), inside, { folder, phases })

  const steps = (name: string) => found[name]?.map(([step]) => step)
  expect(steps('start_with/blocks_up_to_1/acc')).toEqual([92, 94])
  expect(steps('without/block_2')).toEqual([90, 92, 94])
  expect(steps('without/head_2_1')).toEqual([90, 92, 94])
  expect(steps('teacher_kl/0')).toEqual([90, 92, 94])
  // A start with everything of the run answers as the run does, and the other way round.
  const value = (name: string, i: number) => found[name][i][1]
  const whole = value('start_with/everything/acc', 0)
  expect(whole).toBeGreaterThan(0)
  // The first phase trains block 1 and the embedding: block 2 is the start’s as it is.
  expect(value('run_with_starts/block_2/acc', 0)).toBe(whole)
  expect(value('run_with_starts/everything/acc', 0)).toBe(
    value('run_with_starts/everything/acc', 1),
  )
  for (const layer of [0, 1, 2]) {
    expect(value(`teacher_kl/${layer}`, 0)).toBeGreaterThan(0)
    expect(value(`teacher_kl/${layer}`, 2)).not.toBe(value(`teacher_kl/${layer}`, 0))
  }
  const unknown = { ...tinyExperiment(fields), teacher: tinyExperiment({}).teacher }
  await expect(
    insideOf(unknown, { of: ['teacher_kl'], problems: 20 }, { folder, phases }),
  ).rejects.toThrow('expected a teacher in the base, found none')
})

test('a study continues another run: its arms begin with what that has learned', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  const file = join(root, 'study.json')
  const study = {
    name: 'on',
    question: 'What does more of it give?',
    base: { task: TINY.task, phases: [{ kind: 'rl', steps: 1 }] },
    seeds: [1],
    measure: { metric: 'acc/greedy' },
    continues: 'run',
  }
  const write = (more: object) => writeFileSync(file, JSON.stringify({ ...study, ...more }))
  write({})
  const dry = () => studyCommand.run([file, '--dry-run'])
  expect(await dry()).toBe(0)
  expect(log.mock.calls.flat().join()).toContain('on: 1 arms × 1 seeds')
  const { study: own, start } = await continued(readStudy(file), file)
  expect(start).toBe(join(root, 'run'))
  const { hidden_size, intermediate_size } = TINY.model
  expect(own.base).toMatchObject({ model: { hidden_size, intermediate_size, source_name: 'run' } })
  // The run that begins so knows what that run knew, before a step.
  const document = { ...(own.base as object), seed: TINY.seed, validation }
  writeFileSync(join(root, 'on.json'), JSON.stringify(document))
  const out = join(root, 'on')
  expect(await train.run([join(root, 'on.json'), '--model', start ?? '', '--out', out])).toBe(0)
  const before = (of: string) =>
    readFileSync(join(root, of, 'metrics.jsonl'), 'utf8')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
      .flatMap(({ data }) => data['val-aux/sort_digits/acc/greedy'] ?? [])
  expect(before('on')[0]).toBe(before('run').at(-1))
  expect(before('on')[0]).toBeGreaterThan(0)

  write({ continues: 'nowhere' })
  await expect(dry()).rejects.toThrow('expected a checkpoint or the folder of a run, found none')
  write({ base: 'tiny' })
  await expect(dry()).rejects.toThrow('expected a base that is a document, found tiny')
})

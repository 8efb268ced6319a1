// Another model that teaches, given by hand or named: its sizes and weights, or why it cannot.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { encodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { madeCheckpoint } from '../../host/checkpoints/testing.ts'
import { projectRoot } from '../base/project_root.ts'
import { readGivenTeacher } from './given_teacher.ts'
import { train } from './train.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-teacher-'))
afterAll(() => rmSync(root, { recursive: true }))
const shipped = join(projectRoot(), 'public/models/arithmetic')

function experiment(document: object = {}): Experiment {
  const parsed = parseExperiment({ task: { id: 'sort_digits' }, ...document })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.experiment
}

const taught = (teacher: object) =>
  experiment({
    phases: [{ kind: 'sft' }, { kind: 'distill', distillation: { teacher: 'model' } }],
    teacher,
  })

test('a folder gives its sizes, its hash and its weights; without it the shipped one is found', async () => {
  const given = await readGivenTeacher(experiment(), shipped)
  const { teacher } = given?.experiment ?? experiment()
  expect(teacher).toMatchObject({
    hidden_size: 64,
    num_hidden_layers: 6,
    source_name: 'arithmetic',
  })
  const named = await readGivenTeacher(taught(teacher), undefined)
  expect(named?.weights).toEqual(given?.weights)
  expect(named?.experiment.teacher).toEqual(teacher)
  expect(await readGivenTeacher(experiment(), undefined)).toBeUndefined()
})

test('a checkpoint teaches with the policy that it has', async () => {
  const made = madeCheckpoint()
  const file = join(root, 'step-000002.safetensors')
  writeFileSync(file, await encodeCheckpoint(made))
  const { task, model } = made.run.experiment
  const given = await readGivenTeacher(experiment({ task }), file)
  expect(given?.weights).toEqual(made.run.trainer.actor.weights)
  expect(given?.experiment.teacher).toMatchObject({
    hidden_size: model.hidden_size,
    source: expect.stringMatching(/^sha256-[0-9a-f]{64}$/),
  })
})

test('what is gone or has other tokens is refused by its name', async () => {
  const source = `sha256-${'7'.repeat(64)}`
  await expect(
    readGivenTeacher(taught({ source, source_name: 'lost one' }), undefined),
  ).rejects.toThrow(
    'learns from lost one, which does not come with the lab: give it with --teacher',
  )
  await expect(readGivenTeacher(experiment(), join(root, 'none'))).rejects.toThrow(
    /--teacher: .*none: no such file or folder/,
  )
  const empty = join(root, 'empty')
  mkdirSync(empty)
  await expect(readGivenTeacher(experiment(), empty)).rejects.toThrow(
    /^--teacher: .*empty: expected a model \(config\.json\) or the folder of a run .* found neither/,
  )
  writeFileSync(join(empty, 'config.json'), 'no JSON')
  await expect(readGivenTeacher(experiment(), empty)).rejects.toThrow(
    /^--teacher: .*empty\/config\.json: expected JSON/,
  )
  writeFileSync(join(empty, 'notes.txt'), 'no weights at all')
  await expect(readGivenTeacher(experiment(), join(empty, 'notes.txt'))).rejects.toThrow(
    /^--teacher: .*notes\.txt: expected the folder of a model or of a run, .* found another file/,
  )
  writeFileSync(join(empty, 'step-000001.safetensors'), 'no weights at all')
  await expect(
    readGivenTeacher(experiment(), join(empty, 'step-000001.safetensors')),
  ).rejects.toThrow(/^--teacher: step-000001\.safetensors: expected /)
  const letters = experiment({ task: { id: 'spell_backward' } })
  await expect(readGivenTeacher(letters, shipped)).rejects.toThrow(
    /--teacher: .*arithmetic: expected a model of \d+ tokens, as the tokenizer of the task has, found one of 26/,
  )
  const bare = join(root, 'bare')
  cpSync(shipped, bare, { recursive: true })
  rmSync(join(bare, 'tokenizer.json'))
  await expect(readGivenTeacher(experiment(), bare)).rejects.toThrow(
    /^--teacher: .*bare: expected the tokenizer of the model, tokenizer.json, found none/,
  )
})

test('one that is larger than memory is refused with the number, before its weights are read', async () => {
  const large = join(root, 'large')
  cpSync(shipped, large, { recursive: true })
  for (const name of readdirSync(large)) if (/safetensors/.test(name)) rmSync(join(large, name))
  const { layer_types: _, ...config } = JSON.parse(readFileSync(join(large, 'config.json'), 'utf8'))
  const sizes = { hidden_size: 1024, num_hidden_layers: 48, intermediate_size: 8192 }
  const told = (change: object) =>
    writeFileSync(join(large, 'config.json'), JSON.stringify({ ...config, ...sizes, ...change }))
  told({})
  const file = join(root, 'taught.json')
  const phases = [{ kind: 'distill', distillation: { teacher: 'model' } }]
  writeFileSync(file, JSON.stringify({ task: { id: 'sort_digits' }, phases }))
  await expect(train.run([file, '--teacher', large])).rejects.toThrow(
    /would take \d+(\.\d+)? GiB .*--allow-memory \d+/s,
  )
  told({ hidden_size: 2048 })
  await expect(train.run([file, '--teacher', large])).rejects.toThrow(
    '--teacher: teacher.hidden_size: expected a whole number from 8 to 1024, got 2048',
  )
  told({})
  // With room for it, it is the weights that are missing.
  await expect(train.run([file, '--teacher', large, '--allow-memory', '1000'])).rejects.toThrow(
    /^--teacher: .*large: model\.safetensors: expected this file or model\.safetensors\.index\.json, found /,
  )
})

test('a document that asks for a teacher is answered by --teacher', async () => {
  const file = join(root, 'asks.json')
  const phases = [{ kind: 'distill', distillation: { teacher: 'model' } }]
  writeFileSync(file, JSON.stringify({ task: { id: 'sort_digits' }, phases }))
  await expect(train.run([file, '--dry-run'])).rejects.toThrow(
    /phases\.0\.distillation\.teacher: .*or give --teacher PATH/,
  )
  const said: string[] = []
  const keep = (line: string) => void said.push(line)
  const log = vi.spyOn(console, 'log').mockImplementation(keep)
  const error = vi.spyOn(console, 'error').mockImplementation(() => {})
  expect(await train.run([file, '--teacher', shipped, '--dry-run'])).toBe(0)
  log.mockRestore()
  error.mockRestore()
  expect(said.join('\n')).toContain('teacher model')
  expect(said.join('\n')).toMatch(/arithmetic \(sha256-[1-9a-f]/)
  expect(said.join('\n')).toMatch(/memory .* GiB; the teacher takes [1-9]\.\d+ MiB of it/)
})

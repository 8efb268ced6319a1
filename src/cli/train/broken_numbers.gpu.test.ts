// A run whose numbers break: the command line ends it with what broke, and continues more slowly
// from the last sound checkpoint.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { decodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { unsoundPart } from '../../host/checkpoints/sound.ts'
import { fileOf } from '../../host/checkpoints/storage/places.ts'
import { TINY } from '../../host/checkpoints/testing.ts'
import { LabFailure } from '../base/command.ts'
import { folderFiles } from '../output/checkpoint_files.ts'
import { train } from './train.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-broken-'))
afterAll(() => rmSync(root, { recursive: true }))
const out = join(root, 'run')

/** AdamW that forgets how large gradients were and remembers where they pointed: from its high rate
 * on, weights grow until they overflow. */
const RECKLESS = { lr: 0.00001, lr_warmup_steps: 0, betas: [0.9999, 0] }
const DOCUMENT = {
  ...TINY,
  actor: { ...TINY.actor, optim: RECKLESS },
  critic: { optim: RECKLESS },
  phases: [{ kind: 'rl', steps: 40, adv_estimator: 'gae' }],
  validation: { test_freq: null },
  probe: { freq: null },
  steering: [
    { step: 3, kind: 'set', path: 'actor.optim.lr', value: 0.1 },
    { step: 3, kind: 'set', path: 'critic.optim.lr', value: 0.1 },
  ],
}

async function lab(...args: string[]): Promise<string> {
  const said: string[] = []
  const keep = (line: unknown) => {
    said.push(`${line}`)
  }
  vi.spyOn(console, 'error').mockImplementation(keep)
  vi.spyOn(console, 'log').mockImplementation(keep)
  try {
    await train.run(args)
    return said.join('\n')
  } catch (error) {
    expect(error).toBeInstanceOf(LabFailure)
    return `${said.join('\n')}\n${error instanceof Error ? error.message : error}`
  } finally {
    vi.restoreAllMocks()
  }
}

const facts = () => JSON.parse(readFileSync(join(out, 'run.json'), 'utf8'))

test('three broken steps in a row end the run with the evidence, and --slower continues from its last checkpoint', async () => {
  const file = join(root, 'document.json')
  writeFileSync(file, JSON.stringify(DOCUMENT))
  const said = await lab(file, '--out', out, '--checkpoint-every', '1')
  expect(said).toContain('3 steps in a row were not finite')
  const lines = [...said.matchAll(/^Step (\d+): .* not applied.*\.$/gm)]
  const steps = lines.map(([, step]) => Number(step))
  expect(steps).toEqual([steps[0], steps[0] + 1, steps[0] + 2])
  expect(lines[0][0]).toMatch(/of the (policy|critic)/)
  const newest = (await folderFiles(out, '').list()).at(-1)
  // The step before it, or an earlier one: of adapters some break a step once before, and nothing
  // is kept right behind that.
  const kept = newest?.step ?? 0
  expect(kept).toBeGreaterThan(3)
  expect(kept).toBeLessThan(steps[0])
  expect(said).toContain(`of step ${kept}, with half the learning rate`)
  expect(said).toContain(`--resume ${out} --slower`)
  expect(facts()).toMatchObject({ status: 'failed', steps: steps[2] })
  const bytes = readFileSync(join(out, 'checkpoints', fileOf(kept)))
  expect(unsoundPart((await decodeCheckpoint(bytes, 'x')).run)).toBeUndefined()

  // From before the reckless rate: what the document says of later steps is done there too.
  const other = join(root, 'other')
  const from = join(out, 'checkpoints', fileOf(2))
  const slower = await lab('--resume', from, '--slower', '--out', other)
  expect(slower).toMatch(/after step 2: lr 5e-6/)
  const { steering } = JSON.parse(readFileSync(join(other, 'run.json'), 'utf8'))
  expect(steering[0]).toMatchObject({ step: 2, kind: 'set', path: 'actor.optim.lr' })
  expect(existsSync(join(other, 'metrics.csv'))).toBe(true)
})

test('without a checkpoint the advice is a lower rate from the start', async () => {
  const file = join(root, 'short.json')
  writeFileSync(file, JSON.stringify(DOCUMENT))
  expect(await lab(file)).toContain('There is no checkpoint to continue from')
  await expect(train.run([file, '--slower'])).rejects.toThrow('a lower actor.optim.lr')
})

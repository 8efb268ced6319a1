// rollout.dtype: float16 in a run of the command line: what ran is said, and written down.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { TINY } from '../host/checkpoints/testing.ts'
import * as halves from '../kernels/attention/half_cache_check.ts'

// An adapter whose halves are no good is not to be had: its measurement is put in the place of
// ours.
const measured = vi.hoisted(() => ({ instead: undefined as number | undefined }))
vi.mock('../kernels/attention/half_cache_check.ts', async (original) => {
  const real = await original<typeof halves>()
  const checkHalfCache: typeof halves.checkHalfCache = async (...args) =>
    measured.instead ?? real.checkHalfCache(...args)
  return { ...real, checkHalfCache }
})

// Test files of a process share its modules: this one needs them with its measurement, and leaves
// none of those behind.
let train: typeof import('./train/train.ts').train
beforeAll(async () => {
  vi.resetModules()
  train = (await import('./train/train.ts')).train
})

const root = mkdtempSync(join(tmpdir(), 'understory-dtype-'))
afterAll(() => {
  vi.resetModules()
  rmSync(root, { recursive: true })
})
afterEach(() => {
  measured.instead = undefined
  vi.restoreAllMocks()
})

/** Trains two steps; what the command said, and run.json. */
async function lab(name: string, dtype: 'float16' | 'float32') {
  const source = join(root, `${name}.json`)
  const phases = [{ kind: 'rl', steps: 2 }]
  const rollout = { ...TINY.rollout, dtype }
  writeFileSync(source, JSON.stringify({ ...TINY, rollout, phases }))
  const said: string[] = []
  vi.spyOn(console, 'error').mockImplementation((line) => said.push(`${line}`))
  vi.spyOn(console, 'log').mockImplementation(() => {})
  const out = join(root, name)
  expect(await train.run([source, '--out', out, '--checkpoint-every', '0'])).toBe(0)
  const facts = JSON.parse(readFileSync(join(out, 'run.json'), 'utf8'))
  return { said: said.join('\n'), facts }
}

test('halves that pass their check are told with the difference that was measured', async () => {
  const { said, facts } = await lab('half', 'float16')
  expect(facts.rollout_dtype).toEqual({ dtype: 'float16', difference: expect.any(Number) })
  expect(facts.rollout_dtype.difference).toBeGreaterThan(0)
  expect(facts.rollout_dtype.difference).toBeLessThanOrEqual(halves.MAX_HALF_CACHE_DIFFERENCE)
  expect(said).toContain('Rollouts ran on a float16 cache; attention from it differs by 0.')
})

test('a run that falls back to float32 says so, why, and writes both down', async () => {
  measured.instead = 0.5
  const { said, facts } = await lab('fallen', 'float16')
  expect(facts.rollout_dtype).toMatchObject({ dtype: 'float32', difference: 0.5 })
  expect(facts.rollout_dtype.reason).toContain('differs by 0.50')
  expect(said).toContain('float16 was asked for, and rollouts ran on float32')
})

test('a run that asks for float32 says nothing of it', async () => {
  const { said, facts } = await lab('plain', 'float32')
  expect(facts.rollout_dtype).toBeUndefined()
  expect(said).not.toContain('float16')
})

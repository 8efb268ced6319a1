// Tests what ends a run from outside, and what the run leaves behind.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { tinyExperiment } from '../../host/checkpoints/testing.ts'
import { folderFiles } from '../output/checkpoint_files.ts'
import { RunFolder } from '../output/run_folder.ts'
import { drive } from './drive.ts'
import { RunWatch } from './run_watch.ts'
import { madeUpRun } from './testing.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-drive-'))
afterAll(() => rmSync(root, { recursive: true }))
const said: string[] = []
beforeEach(() => {
  said.length = 0
  const keep = (text: unknown) => {
    said.push(`${text}`)
  }
  vi.spyOn(console, 'log').mockImplementation(keep)
  vi.spyOn(console, 'error').mockImplementation(keep)
  vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
})
afterEach(() => {
  vi.restoreAllMocks()
})

const EXPERIMENT = tinyExperiment({ phases: [{ kind: 'sft', steps: 30 }] })

/** A run of 30 steps; `at` is called before each. */
async function driven(at: (step: number) => void, save?: string, experiment = EXPERIMENT) {
  const out = mkdtempSync(join(root, 'run-'))
  const run = await madeUpRun(experiment)
  const { queue } = run.trainer
  run.trainer.queue = () => {
    at(run.step)
    return queue.call(run.trainer)
  }
  run.trainer.exportWeights = async () => new Float32Array(4)
  const folder = RunFolder.create(out, experiment)
  const origin = { record: 'made-up' }
  const lost = new Promise(() => {})
  const gpu = { facts: {}, counts: { live_bytes: 1 }, memory() {}, destroy() {}, lost } as never
  const files = folderFiles(out, origin.record)
  const checkpoints = { files, schedule: { every_steps: 50, every_ms: 0 } }
  const watch = new RunWatch(experiment)
  const parts = { gpu, run, folder, checkpoints, watch, origin }
  const code = await drive(parts, experiment, { out, hasEvents: false, save })
  const { status, steps } = JSON.parse(readFileSync(join(out, 'run.json'), 'utf8'))
  return { code, out, status, steps }
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])(
  '%s ends a run after its step, with a checkpoint',
  async (signal) => {
    const before = process.listenerCount(signal)
    const { code, out, status, steps } = await driven((step) => {
      if (step === 10) process.emit(signal as 'SIGHUP')
    })
    expect({ code, status, steps }).toEqual({ code: 130, status: 'stopped', steps: 11 })
    expect((await folderFiles(out, 'made-up').list()).map(({ step }) => step)).toEqual([11])
    expect(process.listenerCount(signal)).toBe(before)
  },
)

test('weights that cannot be saved end no run, and its exit code says so', async () => {
  const { code, status } = await driven(() => {}, '/dev/null/weights')
  expect({ code, status }).toEqual({ code: 1, status: 'finished' })
  expect(said.join('\n')).toMatch(
    /Not all of the run could be written:\n {2}--save: the weights were not written .*\nWhat is there is whole\. The newest of its 1 checkpoints is of step 30/,
  )
})

test('--save keeps the weights of a warm start that ends early', async () => {
  const experiment = tinyExperiment({
    phases: [
      { kind: 'sft', steps: 30 },
      { kind: 'rl', steps: 2 },
    ],
    steering: [{ step: 12, kind: 'next_phase' }],
  })
  const save = join(root, 'warm')
  const { code, steps } = await driven(() => {}, save, experiment)
  expect({ code, steps }).toEqual({ code: 0, steps: 14 })
  const { step } = JSON.parse(readFileSync(join(save, 'weights.json'), 'utf8'))
  expect(step).toBe(12)
})

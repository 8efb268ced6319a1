// A disk that fills, or fails, at every moment of a run: the run ends as it would have, what is
// there is whole, and it can be completed.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { decodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { tinyExperiment } from '../../host/checkpoints/testing.ts'
import { SteeredRun } from '../../host/worker/base/steered_run.ts'
import { LabFailure } from '../base/command.ts'
import { type Disk, nodeDisk } from '../base/disk.ts'
import { checkpointFolder, folderFiles } from '../output/checkpoint_files.ts'
import { type FolderOptions, RunFolder } from '../output/run_folder.ts'
import { brokenDisk, smallDisk } from '../output/testing.ts'
import { findCheckpoint, isOver } from './resume.ts'
import { completeFolder, openFolder, watchUntil } from './resumed_run.ts'
import { RunWatch } from './run_watch.ts'
import { madeUpEngine, madeUpRun } from './testing.ts'
import { TrainingRun, type TrainingRunParts } from './training_run.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-disk-'))
afterAll(() => rmSync(root, { recursive: true }))
beforeEach(() => {
  vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
})
afterEach(() => {
  vi.restoreAllMocks()
})

const STEPS = 8
/** Bytes between the sizes of disks that are tried. */
const STRIDE = process.env.LONG_TESTS ? 13_337 : 31_337
const EXPERIMENT = tinyExperiment({
  phases: [
    { kind: 'sft', steps: 3 },
    { kind: 'rl', steps: STEPS - 3 },
  ],
})
const GPU = {
  facts: { description: 'x' },
  counts: { live_bytes: 1 },
  memory: () => ({}),
  lost: new Promise(() => {}),
  destroy: () => {},
} as unknown as TrainingRunParts['gpu']

let made = 0

/** A run from its first step to its last in a folder of its own. Undefined where it could not
 * begin. */
async function trained(disk: Disk) {
  const out = mkdtempSync(join(root, `${++made}-`))
  const said: string[] = []
  const tell = (sentence: unknown) => said.push(`${sentence}`) > 0
  vi.spyOn(console, 'error').mockImplementation(tell)
  const options: FolderOptions = { disk, tell }
  let folder: RunFolder
  try {
    folder = RunFolder.create(out, EXPERIMENT, options)
  } catch (error) {
    expect(error).toBeInstanceOf(LabFailure)
    return { out, said, missing: undefined }
  }
  const run = await madeUpRun(EXPERIMENT)
  const missing = await driven({ out, run, folder, disk })
  return { out, said, missing }
}

type Driven = { out: string; folder: RunFolder; run: TrainingRunParts['run'] }

async function driven({
  out,
  folder,
  run,
  disk = nodeDisk,
  ...parts
}: Driven & { disk?: Disk } & Partial<TrainingRunParts>) {
  const files = folderFiles(out, 'made-up', disk)
  const training = new TrainingRun({
    gpu: GPU,
    run,
    folder,
    origin: { record: 'made-up' },
    checkpoints: { files, schedule: { every_steps: 2, every_ms: 0 } },
    watch: new RunWatch(EXPERIMENT),
    ...parts,
  })
  await training.train()
  expect(training.status).toBe('finished')
  const { missing } = folder
  folder.close()
  const { checkpoint_problem } = training
  return [...missing, ...(checkpoint_problem === undefined ? [] : [checkpoint_problem])]
}

/** Continues as `lab train --resume` does, on a disk that is sound again. */
async function resumed(out: string) {
  const found = await findCheckpoint(out, undefined)
  const { checkpoint, facts } = found
  if (isOver(checkpoint.run)) return completeFolder(found)
  const run = await SteeredRun.resume(madeUpEngine(EXPERIMENT), checkpoint.run)
  const folder = await openFolder(found)
  const earlier = { opened: { checkpoint, why: 'resume', parent: undefined }, facts } as const
  const watch = watchUntil(found)
  expect(await driven({ out, run, folder, earlier, watch })).toEqual([])
}

const read = (out: string, name: string) =>
  existsSync(join(out, name)) ? readFileSync(join(out, name), 'utf8') : undefined
const facts = (out: string) => JSON.parse(read(out, 'run.json') ?? '{}')
const linesOf = (text: string | undefined) => text?.split('\n').slice(0, -1) ?? []

const clean = await trained(nodeDisk)
const METRICS = read(clean.out, 'metrics.jsonl')
const TABLE = read(clean.out, 'metrics.csv')

/** What must hold of a folder whatever the disk did; returns the steps of its checkpoints. */
async function expectWhole(out: string): Promise<number[]> {
  const names = readdirSync(out, { recursive: true, encoding: 'utf8' })
  expect(names.filter((name) => /unfinished$|reserve$/.test(name))).toEqual([])
  for (const name of ['metrics.jsonl', 'samples.jsonl']) {
    const [own, whole] = [linesOf(read(out, name)), linesOf(read(clean.out, name))]
    expect(read(out, name), name).toMatch(/^$|\n$/)
    expect(whole.slice(0, own.length), name).toEqual(own)
  }
  expect([undefined, TABLE]).toContain(read(out, 'metrics.csv'))
  const kept = await folderFiles(out, 'made-up').list()
  for (const { step } of kept) {
    const bytes = await folderFiles(out, 'made-up').read('made-up', step)
    const { run } = await decodeCheckpoint(bytes ?? new Uint8Array(), `${step}`)
    expect(run.trainer.step).toBe(step)
  }
  return kept.map(({ step }) => step)
}

async function expectCompleted(out: string): Promise<void> {
  await resumed(out)
  expect(read(out, 'metrics.jsonl')).toBe(METRICS)
  expect(read(out, 'metrics.csv')).toBe(TABLE)
  expect(facts(out)).toMatchObject({ status: 'finished', steps: STEPS })
}

test('on a sound disk all of a run is there', async () => {
  expect(clean.missing).toEqual([])
  expect(linesOf(METRICS)).toHaveLength(STEPS + 1)
  expect(linesOf(TABLE)).toHaveLength(STEPS + 2)
  expect(await expectWhole(clean.out)).toContain(STEPS)
  expect(readdirSync(checkpointFolder(clean.out))).not.toHaveLength(0)
})

test('wherever the disk fills, run.json is right and the run can be completed', {
  timeout: 300_000,
}, async () => {
  const disk = smallDisk(Number.POSITIVE_INFINITY)
  await trained(disk)
  const whole = disk.used()
  let [begun, incomplete, completed] = [0, 0, 0]
  for (let capacity = 200_000; capacity < whole + 300_000; capacity += STRIDE) {
    const { out, said, missing } = await trained(smallDisk(capacity))
    if (!missing) continue
    begun++
    const steps = await expectWhole(out)
    expect(facts(out), `${capacity}`).toMatchObject({ status: 'finished', steps: STEPS })
    const lacks =
      read(out, 'metrics.jsonl') !== METRICS ||
      read(out, 'metrics.csv') !== TABLE ||
      !steps.includes(STEPS)
    if (lacks) expect(missing.join(), `${capacity}`).toContain('ENOSPC')
    if (lacks) expect(said.join(), `${capacity}`).toContain('ENOSPC')
    if (lacks) incomplete++
    if (steps.length === 0) continue
    await expectCompleted(out)
    completed++
  }
  expect(begun).toBeGreaterThan(10)
  expect(incomplete).toBeGreaterThan(3)
  expect(completed).toBeGreaterThan(5)
})

test('whichever operation fails, alone or every so often, nothing is half written', {
  timeout: 300_000,
}, async () => {
  const counted = brokenDisk(() => false)
  await trained(counted)
  const count = counted.count()
  expect(count).toBeGreaterThan(40)
  for (let k = 1; k <= count; k += process.env.LONG_TESTS ? 1 : 3) {
    const once = (n: number) => n === k
    // Of so few operations the later ones fail once in any case.
    for (const fails of 2 * k > count ? [once] : [once, (n: number) => n % k === 0]) {
      const { out, missing } = await trained(brokenDisk(fails))
      if (!missing) continue
      const steps = await expectWhole(out)
      expect(facts(out)).toBeTypeOf('object')
      // One failure alone is made good.
      if (fails(2 * k)) continue
      expect(facts(out), `${k}`).toMatchObject({ status: 'finished', steps: STEPS })
      expect(read(out, 'metrics.jsonl'), `${k}`).toBe(METRICS)
      expect(steps.length, `${k}`).toBeGreaterThan(0)
      await expectCompleted(out)
    }
  }
})

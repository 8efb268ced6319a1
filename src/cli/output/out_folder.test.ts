import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { encodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { fileOf } from '../../host/checkpoints/storage/places.ts'
import { madeCheckpoint, tinyExperiment } from '../../host/checkpoints/testing.ts'
import { LabFailure, UsageError } from '../base/command.ts'
import { train } from '../train/train.ts'
import { folderFiles } from './checkpoint_files.ts'
import { clearRun, refuseOut } from './out_folder.ts'
import { RunFolder } from './run_folder.ts'
import { lockFolder } from './run_lock.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-out-'))
afterAll(() => rmSync(root, { recursive: true }))
const EXPERIMENT = tinyExperiment({ phases: [{ kind: 'rl', steps: 4 }] })
const checkpoint = madeCheckpoint(EXPERIMENT, 2, 0)

let made = 0
/** A folder with these files. */
function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = join(root, `${++made}`)
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

const RUN_JSON = JSON.stringify({
  record: checkpoint.record,
  status: 'finished',
  steps: 2,
  versions: { understory: '0.1.0' },
})

/** The folder of an earlier run with one checkpoint. */
async function runFolder(): Promise<string> {
  const folder = folderWith({ 'run.json': RUN_JSON, 'metrics.jsonl': '{"step":0,"data":{}}\n' })
  await folderFiles(folder, checkpoint.record).write(
    checkpoint.record,
    2,
    await encodeCheckpoint(checkpoint),
  )
  return folder
}

/** Every file below a folder, with its bytes. */
const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'latin1')]),
  )

/** What `train --out` does to a folder before its first step. */
function begin(folder: string, force: boolean): void {
  const replaced = refuseOut(folder, force)
  const lock = lockFolder(folder, () => {})
  RunFolder.create(folder, EXPERIMENT, { replaced }).close()
  lock.release()
}

test('a folder of weights is refused, and stays as it is', async () => {
  const folder = folderWith({
    'checkpoints/mine.safetensors': 'weeks of work',
    'checkpoints/step_000100.safetensors': 'more of it',
    'metrics.jsonl': '{"step": 1, "data": {"of": 1}}\n',
    'notes.txt': 'notes',
  })
  const before = contents(folder)
  await expect(train.run(['tiny', '--out', folder])).rejects.toThrow(LabFailure)
  for (const force of [false, true]) {
    expect(() => begin(folder, force)).toThrow(/step_000100.*left alone, also with --force/)
    expect(contents(folder)).toEqual(before)
  }
})

test('other files are refused without --force, and with it they stay beside the run', () => {
  const files = { 'checkpoints/mine.safetensors': 'weeks of work', 'src/a.txt': 'a', 'b.txt': 'b' }
  const folder = folderWith(files)
  expect(() => refuseOut(folder, false)).toThrow(/is not empty, and not a folder of the lab/)
  begin(folder, true)
  expect(contents(folder)).toMatchObject(files)
  expect(existsSync(join(folder, 'experiment.json'))).toBe(true)
})

test('an earlier run is refused with both ways out; --force deletes its files and no other', async () => {
  const folder = await runFolder()
  const foreign = { 'checkpoints/mine.safetensors': 'weeks of work', 'plot.png': 'p' }
  for (const [name, text] of Object.entries(foreign)) writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, 'checkpoints', `${fileOf(3)}.unfinished`), 'half')
  writeFileSync(join(folder, 'observations.jsonl'), '{}\n')
  const before = contents(folder)
  expect(() => refuseOut(folder, false)).toThrow(
    `holds an earlier run (finished after step 2). Name another folder, continue that run with --resume ${folder}, or replace it with --force`,
  )
  expect(contents(folder)).toEqual(before)
  begin(folder, true)
  expect(Object.keys(contents(folder)).sort()).toEqual([
    'checkpoints/mine.safetensors',
    'experiment.json',
    'metrics.jsonl',
    'plot.png',
    'samples.jsonl',
  ])
  expect(contents(folder)).toMatchObject({ ...foreign, 'metrics.jsonl': '' })
})

test('a checkpoint of another run is not the earlier run’s, whatever its name', async () => {
  const folder = await runFolder()
  const other = { ...checkpoint, record: 'another' }
  writeFileSync(
    join(folder, 'checkpoints', fileOf(1)),
    await encodeCheckpoint({ ...other, parent: { record: 'x', step: 1 } }),
  )
  const before = contents(folder)
  expect(() => begin(folder, true)).toThrow(/step_000001\.safetensors\. They are left alone/)
  expect(contents(folder)).toEqual(before)
})

test('a run that was cut short before it wrote run.json is known by its lock', async () => {
  const folder = join(root, 'cut_short')
  const lock = lockFolder(folder, () => {})
  RunFolder.create(folder, EXPERIMENT).close()
  cpSync(folder, join(root, 'copy'), { recursive: true })
  lock.release()
  const copy = join(root, 'copy')
  const owner = JSON.parse(readFileSync(join(copy, 'run.lock'), 'utf8'))
  writeFileSync(join(copy, 'run.lock'), JSON.stringify({ ...owner, started: 'another boot 1' }))
  expect(() => refuseOut(copy, false)).toThrow(/holds an earlier run \(cut short/)
  begin(copy, true)
  expect(Object.keys(contents(copy))).toEqual(['experiment.json', 'metrics.jsonl', 'samples.jsonl'])
})

test('what can be no folder is a sentence', async () => {
  const file = join(folderWith({ file: '' }), 'file')
  expect(() => refuseOut('', false)).toThrow(UsageError)
  expect(() => refuseOut(file, true)).toThrow(`${file} is not a folder`)
  await expect(train.run(['tiny', '--out', join(file, 'below')])).rejects.toThrow(LabFailure)
  await expect(train.run(['tiny', '--out', join(file, 'below')])).rejects.toThrow(
    /cannot be written \(ENOTDIR/,
  )
  await expect(train.run(['tiny', '--save', file])).rejects.toThrow('--save: ')
  const named = folderWith({ checkpoints: 'a file' })
  expect(() => refuseOut(named, true)).toThrow(/checkpoints: expected a folder/)
  // A folder and those above it are made; a link to one is one.
  expect(refuseOut(join(root, 'a', 'b'), false)).toEqual([])
  symlinkSync(folderWith({}), join(root, 'link'))
  expect(refuseOut(join(root, 'link'), false)).toEqual([])
})

test('checkpoints are written around files that are in the way', async () => {
  const folder = folderWith({})
  const files = folderFiles(folder, checkpoint.record)
  const bytes = await encodeCheckpoint(checkpoint)
  const at = (name: string) => join(folder, 'checkpoints', name)
  mkdirSync(join(folder, 'checkpoints'))
  writeFileSync(at(fileOf(2)), 'weeks of work')
  await files.write(checkpoint.record, 2, bytes)
  writeFileSync(at(fileOf(3)), 'and more')
  await files.remove(checkpoint.record, [2, 3])
  expect(contents(join(folder, 'checkpoints'))).toEqual({
    [`${fileOf(2)}.kept`]: 'weeks of work',
    [`${fileOf(3)}.kept`]: 'and more',
  })
  clearRun(folder, [])
  expect(existsSync(join(folder, 'checkpoints'))).toBe(true)
})

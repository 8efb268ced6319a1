import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { PRESETS } from '../../document/presets/presets.ts'
import { LabFailure } from '../base/command.ts'
import { linesOf } from '../output/line_file.ts'
import { probe } from '../probe.ts'
import { savedModel } from '../train/weights.ts'
import { readExperiment } from './experiment_source.ts'
import { readInput, readText } from './input_file.ts'
import { readMatmulChoice } from './matmul_choice.ts'
import { modelDirectory } from './model_dir.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-input-'))
afterAll(() => rmSync(root, { recursive: true }))
const at = (...names: string[]) => join(root, ...names)
const MARK = '\ufeff'

test('a byte order mark is no part of a text', () => {
  const { experiment } = PRESETS[0]
  writeFileSync(at('e.json'), MARK + JSON.stringify(experiment))
  expect(readExperiment(at('e.json'))).toEqual(experiment)
  writeFileSync(at('m.json'), `${MARK}{}`)
  expect(readMatmulChoice(at('m.json'))).toEqual({})
  writeFileSync(at('l.jsonl'), `${MARK}{"a":1}\n${MARK}\n`)
  expect([...linesOf(at('l.jsonl'))]).toEqual([
    { line: '{"a":1}', end: 11 },
    { line: MARK, end: 15 },
  ])
  // Only at the beginning.
  writeFileSync(at('t'), `${MARK}a${MARK}`)
  expect(readText(at('t'))).toBe(`a${MARK}`)
})

test.skipIf(process.platform === 'win32')('a pipe that nobody writes to is refused', async () => {
  mkdirSync(at('piped'))
  const pipe = at('piped', 'config.json')
  execFileSync('mkfifo', [pipe])
  expect(() => readInput(pipe)).toThrow(LabFailure)
  expect(() => readExperiment(pipe)).toThrow('expected a file, found a pipe')
  await expect(modelDirectory(at('piped')).read('config.json')).rejects.toThrow(
    /config\.json: expected a readable file \(a pipe\)/,
  )
  execFileSync('mkfifo', [at('piped', 'weights.json')])
  await expect(probe.run([at('piped'), '--tokens', pipe])).rejects.toThrow(LabFailure)
})

test.skipIf(process.platform === 'win32')('a link may not lead out of a model folder', async () => {
  mkdirSync(at('model'))
  writeFileSync(at('secret'), '{}')
  writeFileSync(at('model', 'own'), 'x')
  symlinkSync(at('secret'), at('model', 'config.json'))
  symlinkSync('own', at('model', 'alias'))
  const source = modelDirectory(at('model'))
  await expect(source.read('config.json')).rejects.toThrow(
    /config\.json: expected a readable file \(a link that leads out of the folder/,
  )
  expect(await source.read('alias')).toEqual(Uint8Array.of(120))
  symlinkSync(at('secret'), at('model', 'weights.json'))
  expect(() => savedModel(at('model'))).toThrow('a link that leads out of the folder')
})

test.skipIf(process.platform === 'win32')('Hugging Face’s cache is one folder', async () => {
  mkdirSync(at('models--a--b', 'blobs'), { recursive: true })
  mkdirSync(at('models--a--b', 'snapshots', '1f'), { recursive: true })
  writeFileSync(at('models--a--b', 'blobs', 'abc'), 'x')
  const snapshot = at('models--a--b', 'snapshots', '1f')
  symlinkSync('../../blobs/abc', join(snapshot, 'config.json'))
  symlinkSync('../../../secret', join(snapshot, 'generation_config.json'))
  const source = modelDirectory(snapshot)
  expect(await source.read('config.json')).toEqual(Uint8Array.of(120))
  await expect(source.read('generation_config.json')).rejects.toThrow('leads out')
})

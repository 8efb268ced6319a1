import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { encodeLink } from '../../document/links/link.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { readExperiment } from './experiment_source.ts'

const folder = mkdtempSync(join(tmpdir(), 'understory-source-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const tiny = presetOf('tiny')?.experiment

test('a preset id, its document in a file and its link are the same experiment', () => {
  expect(tiny).toBeDefined()
  expect(readExperiment('tiny')).toEqual(tiny)
  expect(readExperiment(file('tiny.json', JSON.stringify(tiny)))).toEqual(tiny)
  if (!tiny) return
  for (const start of ['#', '?', 'http://127.0.0.1:4173/#', 'https://lab.example/page?'])
    expect(readExperiment(start + encodeLink(tiny))).toEqual(tiny)
})

test('understory.json of an exported job is the experiment that the job was made from', () => {
  const job = { format: 'understory-job-1', target: 'bupo', experiment: tiny, files: [] }
  const path = file('understory.json', JSON.stringify(job))
  expect(readExperiment(path)).toEqual(tiny)
  expect(readExperiment(path, () => ({ seed: 7 }))).toEqual({ ...tiny, seed: 7 })
})

test('a change replaces fields of any source and nothing else', () => {
  expect(readExperiment('tiny', () => ({ seed: 7 }))).toEqual({ ...tiny, seed: 7 })
})

test('what is no source names the presets', () => {
  expect(() => readExperiment('tinny')).toThrow(/tinny: no such file.*two-skills-bupo.*tiny/)
})

test('a wrong field is named, with the file it is in', () => {
  const wrong = file('wrong.json', '{"model": {"hidden_size": "wide"}}')
  expect(() => readExperiment(wrong)).toThrow(/wrong\.json:\n {2}model\.hidden_size: expected/)
})

test('a file that is not JSON and a folder are refused in words', () => {
  expect(() => readExperiment(file('text.json', 'hello'))).toThrow(/text\.json: .*JSON/)
  expect(() => readExperiment(folder)).toThrow('expected a file, found a folder')
})

test('a reward that cannot be made is refused, from a file as from a link', () => {
  if (!tiny) throw new Error('expected the preset tiny')
  const pattern = '((a{1,1000}){1,1000}){1,1000}'
  const hostile = {
    ...tiny,
    reward: { ...tiny.reward, parts: [{ id: 'regex', weight: 1, pattern }] },
  }
  for (const source of [file('hostile.json', JSON.stringify(hostile)), `?${encodeLink(hostile)}`])
    expect(() => readExperiment(source)).toThrow(/\n {2}reward\.parts\.0: regex: /)
})

test('a link that is only half understood does not train', () => {
  expect(() => readExperiment('#v=1&p=tiny&seed=many')).toThrow(/link is not understood:\n.*seed/)
  expect(() => readExperiment('https://lab.example/')).toThrow(/no such file/)
})

// Tests that every arm of a study is checked before any is trained.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { armsOf } from '../../document/study/testing.ts'
import { contentStore } from '../../host/content/content_store.ts'
import { cacheFolder, diskFolder } from '../input/content_folder.ts'
import { armProblems } from './arm_checks.ts'

const folder = mkdtempSync(join(tmpdir(), 'understory-arms-'))
vi.stubEnv('XDG_CACHE_HOME', folder)
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

test('a reward that can score nothing stops every arm that has it, with its own error; the others are sound', async () => {
  const [sound, ...others] = armsOf()
  const source = 'export function compute_score() { return nothing.at_all }'
  const bytes = new TextEncoder().encode(source)
  const { hash: code } = await contentStore(diskFolder(cacheFolder())).put(bytes, 'broken.js')
  const part = { id: 'program', code, name: 'broken.js', weight: 1 } as const
  const arms = others.map((arm) => ({
    ...arm,
    experiment: { ...arm.experiment, reward: { ...arm.experiment.reward, parts: [part] } },
  }))
  const problems = await armProblems([sound, ...arms])
  expect(problems).toHaveLength(arms.length)
  for (const problem of problems) expect(problem).toContain('nothing is not defined')
})

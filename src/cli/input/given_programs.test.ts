// --reward FILE:NAME: which functions of which files become parts, and what is said where none is
// meant.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { givenRewards, rewardedBy } from './given_programs.ts'

const folder = mkdtempSync(join(tmpdir(), 'understory-given-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileOf(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const partsOf = async (...given: string[]) => {
  const { reward } = rewardedBy(await givenRewards(given))({}) as {
    reward: { parts: { name: string; function?: string; weight: number }[] }
  }
  return reward.parts.map(({ name, function: own, weight }) => [name, own, weight])
}

test('a compute_score is taken without a name, another function by its name, several files beside each other', async () => {
  const plain = fileOf('plain.py', 'def compute_score(solution_str, ground_truth): ...')
  const other = fileOf('other.py', 'async def mine(completions, **kwargs): ...')
  const script = fileOf('own.js', 'export const half = (a, b) => 0.5')
  expect(await partsOf(plain, `${other}:mine`, `${script}:half`)).toEqual([
    ['plain.py', undefined, 1],
    ['other.py', 'mine', 1],
    ['own.js', 'half', 1],
  ])
})

test('a script without compute_score is refused with its functions and the way to choose one', async () => {
  const script = fileOf('none.js', 'function score(a) { return 1 }')
  await expect(givenRewards([script])).rejects.toThrow(
    `none.js: expected a function compute_score, found score. Choose one: --reward ${script}:score`,
  )
  await expect(givenRewards([`${script}:other`])).rejects.toThrow(
    'none.js: expected a function other, found score',
  )
})

test.skipIf(!process.env.LONG_TESTS)(
  'functions of TRL’s form are parts of their own, a verl function of another name is none',
  async () => {
    const both = fileOf(
      'trl.py',
      'def exact(completions, answer): ...\ndef short(completions): ...\ndef score(solution_str): ...\n',
    )
    expect(await partsOf(both)).toEqual([
      ['trl.py', 'exact', 1],
      ['trl.py', 'short', 1],
    ])
  },
  120_000,
)

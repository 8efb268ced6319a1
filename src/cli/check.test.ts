// Checks a code beside a run that was trained again: its curves, those of another run, and a run
// that is too short.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { encodeHandedIn } from '../document/course/code.ts'
import { LESSON_KEYS } from '../document/course/lesson_keys.ts'
import { curvesHash, documentHash } from '../record/handed_in/curves_hash.ts'
import { LabFailure } from './base/command.ts'
import { check } from './check.ts'
import { readOneRun } from './logs/log_source.ts'

const STEPS = 40
const { questions, tries } = LESSON_KEYS.kl

let folder: string
let said: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'check-'))
  said = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => said.push(line))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

/** A run's metrics as `lab train --out` writes them: a line for each step. */
function metrics(name: string, steps: number, loss: (step: number) => number): string {
  const lines = Array.from({ length: steps }, (_, i) =>
    JSON.stringify({
      step: i + 1,
      data: { 'actor/pg_loss': loss(i + 1), 'actor/entropy': 1 / (i + 1) },
    }),
  )
  const path = join(folder, name)
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}

/** The code of a lesson that is all right, with the curves of this run. */
async function codeOf(path: string): Promise<string> {
  const { series } = await readOneRun(path)
  const [[part, link]] = Object.entries(tries)
  const run = {
    link,
    step: STEPS,
    document: documentHash(link),
    curves: curvesHash(series, STEPS),
    adapter: 'own',
  }
  const chosen = Object.fromEntries(
    Object.entries(questions).map(([name, key]) => [name, [key.right]]),
  )
  return encodeHandedIn({
    by: 'Ada',
    understory: '1.0.0',
    course: null,
    items: [{ id: 'kl', chosen, runs: { [part]: run } }],
  })
}

test('a run that was trained again is compared with the curves of the code', async () => {
  const handed = metrics('handed.jsonl', STEPS, (step) => step / 7)
  const code = await codeOf(handed)
  expect(await check.run([code])).toBe(0)
  expect(said.join('\n')).not.toContain('--run')

  // Trained for longer, it is still the same up to where it was handed in.
  const again = metrics('again.jsonl', STEPS + 5, (step) => step / 7)
  expect(await check.run([code, '--run', again])).toBe(0)
  expect(said.at(-1)).toBe(
    `--run: the curves are those of the code, bit for bit, over ${STEPS} steps.`,
  )

  const other = metrics('other.jsonl', STEPS, (step) => (step === 20 ? 3 : step / 7))
  expect(await check.run([code, '--run', other])).toBe(1)
  expect(said.at(-1)).toContain('the curves are not those of the code')

  const short = metrics('short.jsonl', STEPS - 1, (step) => step / 7)
  expect(await check.run([code, '--run', short])).toBe(1)
  expect(said.at(-1)).toContain(`has ${STEPS - 1} steps, fewer than any run of the code`)
})

test('a folder without a run is refused by its name', async () => {
  const code = await codeOf(metrics('handed.jsonl', STEPS, (step) => step))
  await expect(check.run([code, '--run', join(folder, 'none')])).rejects.toThrow(LabFailure)
})

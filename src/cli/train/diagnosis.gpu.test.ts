// Experiments that go wrong on purpose are found out by `lab train`, in words that its metrics bear
// out.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import type { Metrics } from '../../host/protocol/results.ts'
import { BROKEN_RUNS } from '../../record/diagnosis/broken_runs.ts'
import { DIAGNOSES, type RecordedDiagnosis } from '../../record/diagnosis/diagnosis.ts'
import { train } from './train.ts'

const folder = mkdtempSync(join(tmpdir(), 'understory-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Line {
  readonly step: number
  readonly data: Metrics
}

/** Mean of the last five values up to a step. */
function meanAt(lines: readonly Line[], metric: string, step: number): number {
  const values = lines.flatMap((line) =>
    line.step <= step && metric in line.data ? [line.data[metric]] : [],
  )
  return values.slice(-5).reduce((sum, x) => sum + x, 0) / 5
}

const percent = (share: number) => `${Number((100 * share).toPrecision(2))} %`
const short = (x: number) => `${Number(x.toPrecision(3))}`

/** What the words of a finding must contain, from the metrics alone. */
const EVIDENCE: Readonly<Record<string, (lines: readonly Line[], step: number) => string>> = {
  no_informative_groups: (lines, step) => percent(meanAt(lines, 'group/informative', step)),
  clip_fraction: (lines, step) => percent(meanAt(lines, 'actor/pg_clipfrac', step)),
  entropy_collapse: (lines, step) => short(meanAt(lines, 'actor/entropy', step)),
  entropy_target_missed: (lines, step) => short(meanAt(lines, 'actor/entropy_coeff', step)),
  chosen_logps_fall: (lines, step) => short(meanAt(lines, 'logps/chosen', step)),
  teacher_caught_up: (lines, step) =>
    short(
      Math.max(
        ...lines
          .filter((line) => line.step <= step && line.step > step - 5)
          .map(({ data }) =>
            Math.abs(data['distillation/loss'] ?? data['distillation/reverse_kl']),
          ),
      ),
    ),
  cut_off: (lines, step) => percent(meanAt(lines, 'response/not_ended_ratio', step)),
  length_growth: (lines, step) => short(meanAt(lines, 'response_length/mean', step)),
  held_out_gap: (lines, step) =>
    short(
      Object.entries(lines[step].data).find(([name]) => /^val-core.*acc\/mean@/.test(name))?.[1] ??
        Number.NaN,
    ),
}

/** Needs a program of a person's own, which e2e/reward_program.spec.ts brings; thresholds.test.ts
 * has their limits. */
const BY_FILES = ['unscored', 'unanswered']

test('every diagnosis has its experiment', () => {
  const found = new Set(
    BROKEN_RUNS.flatMap(({ finds }) => finds as readonly string[]).concat(BY_FILES),
  )
  expect(found).toEqual(new Set(DIAGNOSES))
})

/** The page shows the first in every test run (e2e/findings.spec.ts). */
const chosen = process.env.LONG_TESTS ? BROKEN_RUNS : []

test.for(chosen.map((run) => [`${run.experiment.name}`, run] as const))(
  '%s',
  { timeout: 300_000 },
  async ([name, { experiment, finds }]) => {
    const document = join(folder, 'document.json')
    const out = join(folder, name)
    writeFileSync(document, JSON.stringify(experiment))
    const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
    vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(await train.run([document, '--out', out])).toBe(0)
    const text = printed.mock.calls.flat().join('\n')
    vi.restoreAllMocks()

    const { findings, steps }: { findings: RecordedDiagnosis[]; steps: number } = JSON.parse(
      readFileSync(join(out, 'run.json'), 'utf8'),
    )
    const names = findings.map((finding) => finding.name)
    for (const expected of finds) expect(names).toContain(expected)
    const lines: Line[] = readFileSync(join(out, 'metrics.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.length).toBe(steps + 1)
    for (const finding of findings) {
      expect(text).toContain(finding.title)
      expect(text).toContain(finding.evidence)
      expect(finding.first_step).toBeLessThanOrEqual(finding.step)
      const words = EVIDENCE[finding.name]?.(lines, finding.step)
      if (words !== undefined) expect(finding.evidence).toContain(words)
    }

    // The table holds the same numbers.
    const [head, ...rows] = readFileSync(join(out, 'metrics.csv'), 'utf8').trimEnd().split('\n')
    // Step 0 measures nothing where nothing is evaluated.
    expect(rows.length).toBe(lines.filter(({ data }) => Object.keys(data).length > 0).length)
    const columns = head.split(',')
    const last = rows[rows.length - 1].split(',')
    for (const [metric, value] of Object.entries(lines[lines.length - 1].data))
      expect(Number(last[columns.indexOf(metric)]), metric).toBe(value)
  },
)

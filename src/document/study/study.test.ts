import { describe, expect, test } from 'vitest'
import { plannedCosts } from '../experiment/costs/costs.ts'
import { analyse } from './analysis.ts'
import { expandStudy } from './arms.ts'
import { fingerprintOf } from './fingerprint.ts'
import { axisValues, readAxis } from './grid.ts'
import { missingRuns, plannedRuns, secondsLeft } from './queue.ts'
import { studyFiles } from './report/files.ts'
import { spentText } from './report/units.ts'
import { readResult } from './results.ts'
import { parseStudy } from './study.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from './testing.ts'

const problemsOf = (document: object) => {
  const expanded = expandStudy(studyOf(document))
  return expanded.ok ? [] : expanded.problems
}

describe('the document', () => {
  test('every mistake is named', () => {
    const parsed = parseStudy({ ...DOCUMENT, seeds: [1, 1], question: '', colour: 'red' })
    expect(parsed.ok).toBe(false)
    if (!parsed.ok)
      expect(parsed.issues.map(({ path }) => path)).toEqual(
        expect.arrayContaining(['question', 'colour']),
      )
    expect(parseStudy({ ...DOCUMENT, seeds: [1, 1] })).toMatchObject({ ok: false })
    expect(
      parseStudy({
        ...DOCUMENT,
        grid: { 'actor.optim.lr': { from: 0, to: 1, count: 3, scale: 'log' } },
      }),
    ).toMatchObject({ ok: false })
    for (const hostile of [null, 7, [], { grid: { __proto__: 1 } }, { ...DOCUMENT, arms: 'x' }])
      expect(parseStudy(hostile).ok).toBe(false)
  })

  test('a grid of a million arms is refused with the count', () => {
    const axis = { from: 1, to: 100, count: 100 }
    const grid = { 'actor.optim.lr': axis, 'actor.grad_clip': axis, 'actor.entropy_coeff': axis }
    expect(problemsOf({ ...DOCUMENT, arms: [], grid })).toEqual([
      expect.stringContaining('the grid has 1,000,000 arms'),
    ])
  })

  test('arms that cannot run are all named before anything starts', () => {
    const problems = problemsOf({
      ...DOCUMENT,
      arms: [
        { name: 'good' },
        { name: 'no such field', set: { 'actor.colour': 1 } },
        { name: 'too low', set: { 'rollout.n': 0 } },
        { name: 'no such reward', set: { 'reward.parts': [{ id: 'kindness', weight: 1 }] } },
        {
          name: 'asks',
          set: { phases: [{ kind: 'reward_model', pairs: { source: 'human' } }, { kind: 'rl' }] },
        },
      ],
    })
    expect(problems.slice(2)).toEqual([
      expect.stringMatching(/^no such reward: .*kindness/),
      expect.stringMatching(/^asks: phases\.0\.pairs\.source: it waits for a person/),
    ])
    expect(problems).toHaveLength(4)
    expect(problems[0]).toMatch(/^no such field: actor.*colour/)
    expect(problems[1]).toMatch(/^too low: rollout\.n: /)
  })

  test('a field that is set while a run trains is repeated; phases that were changed are refused', () => {
    const expand = (steering: readonly object[]) =>
      expandStudy(studyOf({ ...DOCUMENT, base: { ...DOCUMENT.base, steering } }))
    const set = [{ step: 12, kind: 'set', path: 'actor.optim.lr', value: 0.001 }]
    const repeated = expand(set)
    expect(repeated.ok && repeated.arms.map(({ experiment }) => experiment.steering)).toEqual([
      set,
      set,
    ])
    const refused = expand([...set, { step: 12, kind: 'next_phase' }])
    expect(!refused.ok && refused.problems[0]).toMatch(
      /^slow: steering: a study can repeat fields .* \(other entries: 1\)/,
    )
  })

  test('ranges: even, in equal ratios, whole, and with each of the arms', () => {
    const grid = {
      'actor.optim.lr': { from: 0.0001, to: 0.01, count: 3, scale: 'log' },
      'rollout.temperature': [0.8, 1],
    }
    const arms = armsOf({ ...DOCUMENT, grid })
    expect(arms).toHaveLength(12)
    expect(arms[0].name).toBe('slow, lr 1e-4, temperature 0.8')
    expect(arms.map(({ settings }) => settings['actor.optim.lr'])[2]).toBe(0.001)
  })
})

test('values as a person writes them: a list, words, and ranges', () => {
  expect(readAxis('1e-4, 0.003;2')).toEqual([0.0001, 0.003, 2])
  expect(readAxis('1e-4，0.003；2、4')).toEqual([0.0001, 0.003, 2, 4])
  expect(readAxis('grpo true')).toEqual(['grpo', true])
  expect(axisValues(readAxis('1e-4..1e-2 log 3'))).toEqual([0.0001, 0.001, 0.01])
  expect(axisValues(readAxis('0.5..1 3'))).toEqual([0.5, 0.75, 1])
  expect(axisValues(readAxis('1..4 4'))).toEqual([1, 2, 3, 4])
  // What is no number is refused by the study.
  expect(parseStudy({ ...DOCUMENT, grid: { seed: readAxis('a..b 3') } }).ok).toBe(false)
})

test('a grid within phases that an arm sets leaves the study as it is', () => {
  const phases = [
    { kind: 'sft', steps: 10 },
    { kind: 'rl', steps: 20 },
  ]
  const grid = { 'phases.1.target_layer': [1, 2] }
  const study = studyOf({ ...DOCUMENT, arms: [{ name: 'inner', set: { phases }, grid }] })
  const before = JSON.stringify(study)
  expect(armsOf(study).map(({ name }) => name)).toEqual([
    'inner, phase 2: layer 1',
    'inner, phase 2: layer 2',
  ])
  expect(JSON.stringify(study)).toBe(before)
})

test('names are short where that tells arms apart, and settings are not rounded', () => {
  const arms = (rates: readonly number[]) =>
    armsOf({ ...DOCUMENT, arms: [], grid: { 'actor.optim.lr': rates, seed: [1234] } })
  const [small] = arms([0.000178719, 0.00131354])
  expect(small.name).toBe('lr 1.79e-4, seed 1234')
  expect(small.settings['actor.optim.lr']).toBe(0.000178719)
  expect(arms([0.00131354, 0.00131355]).map(({ name }) => name)).toEqual([
    'lr 0.00131354, seed 1234',
    'lr 0.00131355, seed 1234',
  ])
})

describe('the budget', () => {
  const document = (same: string) => ({
    ...DOCUMENT,
    budget: { same },
    arms: [
      { name: 'whole' },
      { name: 'wide', set: { 'rollout.train_batch_size': 32, 'actor.ppo_mini_batch_size': 32 } },
      {
        name: 'layer 1',
        set: { 'phases.1.freeze': { embed_tokens: true, layers: '2,3,4,5,6' } },
      },
    ],
  })
  const steps = (same: string) =>
    armsOf(document(same)).map(({ experiment }) => experiment.phases[1].steps)

  test('an arm is as long as the base’s responses, tokens or arithmetic last', () => {
    expect(steps('steps')).toEqual([20, 20, 20])
    expect(steps('responses')).toEqual([20, 10, 20])
    expect(steps('tokens')).toEqual([20, 10, 20])
    const [whole, wide, layer] = steps('arithmetic')
    expect([whole, wide]).toEqual([20, 10])
    expect(layer).toBeGreaterThan(20)
  })

  test('the arithmetic of equally long arms differs by what they train', () => {
    const [whole, , layer] = armsOf(document('responses')).map(({ experiment }) =>
      plannedCosts(experiment),
    )
    expect(layer.responses).toBe(whole.responses)
    expect(layer.arithmetic).toBeLessThan(whole.arithmetic)
    expect(layer.arithmetic).toBeGreaterThan(whole.arithmetic / 2)
  })
})

test('a fingerprint is that of what an experiment says otherwise than usual, so that new fields do not change it', () => {
  const [{ experiment }] = armsOf()
  const own = fingerprintOf(experiment)
  const { probe, ...rest } = experiment
  expect(fingerprintOf({ ...rest, name: 'other', probe } as typeof experiment)).toBe(own)
  expect(fingerprintOf({ ...experiment, seed: 2 })).not.toBe(own)
  // Kept runs of studies have such names.
  expect(own).toBe('qu8l43vwag')
})

describe('runs', () => {
  const study = studyOf()
  const arms = armsOf()
  const runs = plannedRuns(study, arms)

  test('go seed by seed, and finished ones are not missing', () => {
    expect(runs.map(({ arm, seed }) => `${arm.name}${seed}`).slice(0, 4)).toEqual([
      'slow1',
      'fast1',
      'slow2',
      'fast2',
    ])
    const known = runs.slice(0, 3).map((run) => madeUpResult(study, run, 0.8))
    expect(missingRuns(study, arms, known)).toHaveLength(5)
    expect(secondsLeft(5, known, 2)).toBe(9)
    expect(secondsLeft(5, [])).toBeUndefined()
    // Through a file and back.
    expect(readResult(JSON.parse(JSON.stringify(known[0])))).toEqual(known[0])
    expect(readResult({ ...known[0], seed: 'x' })).toBeUndefined()
  })

  test('of arms that say the same are trained once', () => {
    const twice = {
      ...DOCUMENT,
      arms: [
        { name: 'slow' },
        { name: 'as slow', set: { name: 'as slow' } },
        { name: 'fast', set: { 'actor.optim.lr': 0.002 } },
      ],
    }
    const missing = missingRuns(studyOf(twice), armsOf(twice), [])
    expect(missing).toHaveLength(8)
    expect(new Set(missing.map(({ arm }) => arm.name))).toEqual(new Set(['slow', 'fast']))
    const known = missing.map((run) => madeUpResult(study, run, 0.8))
    expect(missingRuns(studyOf(twice), armsOf(twice), known)).toEqual([])
  })

  test('of an arm that was edited are trained again, and those of the old one are counted as left over', () => {
    const known = runs.map((run) => madeUpResult(study, run, 0.8))
    const edited = {
      ...DOCUMENT,
      arms: [{ name: 'slow' }, { name: 'fast', set: { 'actor.optim.lr': 0.002 } }],
    }
    expect(missingRuns(studyOf(edited), armsOf(edited), known)).toHaveLength(4)
    expect(analyse(studyOf(edited), armsOf(edited), known).leftOver).toBe(4)
  })
})

describe('the analysis', () => {
  const study = studyOf({ ...DOCUMENT, seeds: [1, 2, 3, 4, 5, 6, 7, 8] })
  const arms = armsOf({ ...DOCUMENT, seeds: [1, 2, 3, 4, 5, 6, 7, 8] })
  const runs = plannedRuns(study, arms)
  const wobble = (seed: number) => Math.sin(seed * 5) / 50
  const resultsOf = (fast: number) =>
    runs.map((run) =>
      madeUpResult(
        study,
        run,
        (run.arm.name === 'fast' ? fast : 0.7) +
          wobble(run.seed * (run.arm.name === 'fast' ? 3 : 1)),
      ),
    )

  test('a clear difference is found, by all tests', () => {
    const { arms: found, warnings, metric } = analyse(study, arms, resultsOf(0.9))
    expect(metric).toBe('val-aux/sort_digits/acc/greedy')
    expect(warnings).toEqual([])
    expect(found[1].comparison).toMatchObject({ verdict: 'better', p_permutation: 2 / 256 })
    expect(found[1].comparison?.mean).toBeCloseTo(0.2, 1)
  })

  test('no difference is said to be none, with the seeds that would find one', () => {
    const analysis = analyse(study, arms, resultsOf(0.703))
    expect(analysis.arms[1].comparison?.verdict).toBe('none')
    const report = studyFiles(study, analysis).get('report.md') ?? ''
    expect(report).toContain('No difference between fast and slow was found')
    expect(report).toMatch(/no difference from slow found .* About \d+ seeds would find/)
  })

  test('a difference is called equal where it is shown to be smaller than the margin, and not before', () => {
    const within = (equal_within: number) => {
      const { measure } = study
      const judging = { ...study, measure: { ...measure, equal_within } }
      const analysis = analyse(judging, arms, resultsOf(0.703))
      return { analysis, report: studyFiles(judging, analysis).get('report.md') ?? '' }
    }
    const wide = within(0.05)
    expect(wide.analysis.arms[1].comparison?.verdict).toBe('equal')
    expect(wide.report).toMatch(
      /\*\*fast and slow are equal within 5\.0 points: .*, with \d+ seeds\.\*\*/,
    )
    expect(wide.report).toMatch(/fast is equal to slow within 5\.0 points \(90 % \[/)
    const narrow = within(0.002)
    expect(narrow.analysis.arms[1].comparison?.verdict).toBe('none')
    expect(narrow.report).toMatch(/Nor is it shown to be smaller than 0\.2 points/)
    const { measure } = study
    const clear = { ...study, measure: { ...measure, equal_within: 0.5 } }
    const [, fast] = analyse(clear, arms, resultsOf(0.9)).arms
    expect(fast.comparison?.verdict).toBe('better')
    expect(fast.comparison?.equality?.p).toBeLessThan(0.01)
  })

  test('of several primary measures each has its table, and the correction counts the arms of all', () => {
    const also = [{ metric: 'layer/entropy/1', at: 'last', goal: 'lower' }]
    const both = studyOf({ ...DOCUMENT, seeds: study.seeds, also })
    const alone = analyse(study, arms, resultsOf(0.75))
    const found = analyse(both, arms, resultsOf(0.75))
    const [p, corrected] = [alone, found].map((one) => one.arms[1].comparison?.p_holm ?? 0)
    expect(p).toBeGreaterThan(0)
    expect(corrected / p).toBeCloseTo(2, 9)
    expect(found.also?.map(({ metric }) => metric)).toEqual(['layer/entropy/1'])
    expect(found.also?.[0].arms.map(({ mean }) => mean)).toEqual([2, 2])
    const report = studyFiles(both, found).get('report.md') ?? ''
    expect(report.match(/^Primary measure, fixed beforehand/gm)).toHaveLength(2)
    expect(report.match(/^\| arm \| seeds/gm)).toHaveLength(2)
    expect(report).toContain('over the arms of all 2 primary measures')
    const level = { ...DOCUMENT, also: [{ metric: 'acc/greedy', at: 'level' }] }
    expect(() => studyOf(level)).toThrow('expected a metric where at is level')
  })

  test('missing runs, broken and collapsed ones, and mixed adapters are said', () => {
    const results = resultsOf(0.9).slice(0, 15)
    results[3] = madeUpResult(study, runs[3], 0.1)
    results[4] = madeUpResult(study, runs[4], 0.6, { status: 'failed' })
    results[5] = madeUpResult(study, runs[5], 0.9, { adapter: 'another' })
    const { warnings, arms: found } = analyse(study, arms, results)
    expect(warnings.join('\n')).toMatch(/1 of 16 runs are missing/)
    expect(warnings.join('\n')).toMatch(/different adapters \(made up; another\)/)
    expect(warnings.join('\n')).toMatch(/1 runs broke .* slow, seed 3/)
    expect(warnings.join('\n')).toMatch(/below half .* fast, seed 2/)
    expect(found[1].values.find(({ seed }) => seed === 2)).toMatchObject({ hasCollapsed: true })
    expect(found[1].values).toHaveLength(7)
  })

  test('the report has the question, a table and its pictures', () => {
    const files = studyFiles(study, analyse(study, arms, resultsOf(0.9)), ['measure changed.'])
    expect([...files.keys()]).toEqual([
      'report.md',
      'table.csv',
      'runs.csv',
      'forest.svg',
      'curves.svg',
      'profiles.svg',
      'layers.svg',
    ])
    expect(files.get('report.md')).toMatch(
      /Which rate is better\?[\s\S]*fast ended .* points above slow \[/,
    )
    expect(files.get('report.md')).toContain('- measure changed.')
    expect(files.get('report.md')).toContain('| fast | 2.00 (−1) |')
    for (const [name, text] of files)
      if (name.endsWith('.svg')) expect(text).not.toMatch(/NaN|undefined/)
  })

  test('the report says its question once, what its arms begin from, and what was spent', () => {
    const own = { ...study, name: study.question }
    const analysis = analyse(own, arms, resultsOf(0.9))
    const spent = analysis.arms.map((one) => ({ ...one, spent: 1792 }))
    const begins = 'All arms begin from “X”.'
    const report = studyFiles(own, { ...analysis, arms: spent }, [], own, { begins }).get(
      'report.md',
    )
    expect(report).toMatch(/^# Which rate is better\?\n\n\*\*fast ended/)
    expect(report).toContain(`${begins} Primary measure`)
    expect(report).toContain('| 1,792 |')
    expect(report).toContain('[the plan of the study](#tab=study&study=')
    const address = 'https://lab.example/'
    const whole = studyFiles(own, analysis, [], own, { address }).get('report.md')
    expect(whole).toContain(`(${address}#tab=study&study=`)
    expect(whole).toContain(`[fast](${address}?`)
    expect(whole).not.toContain('behind the page’s address')
    expect([1792, 31.4, Number.NaN].map(spentText)).toEqual(['1,792', '31.4', '–'])
  })

  test('names that hold formulas or HTML stay text in every file', () => {
    const hostile = `=cmd|'/c calc'!A1<script>alert(1)</script>`
    const document = { ...DOCUMENT, seeds: [1], name: hostile, question: '<img src=x>' }
    const named = { ...studyOf(document), name: hostile }
    const own = armsOf(document).map((arm) => ({ ...arm, name: `${hostile}${arm.name}` }))
    const results = plannedRuns(named, own).map((run) => madeUpResult(named, run, 0.5))
    const files = studyFiles(named, analyse(named, own, results))
    for (const name of ['table.csv', 'runs.csv']) {
      const cells = (files.get(name) ?? '').split('\n').map((line) => line.split(',')[0])
      expect(cells.filter((cell) => /^"?[=+@-]/.test(cell))).toEqual([])
      expect(cells.some((cell) => cell.startsWith("'=cmd"))).toBe(true)
    }
    expect(files.get('report.md')).not.toMatch(/(?<!\\)</)
    for (const [name, text] of files)
      if (name.endsWith('.svg')) expect(text).not.toContain('<script')
  })
})

test('a field that is no field, or of another kind, is refused with what is expected', () => {
  const parsed = parseStudy({ name: 5, question: '', foo: 1 })
  const issues = parsed.ok ? [] : parsed.issues
  const said = Object.fromEntries(issues.map(({ path, message }) => [path, message]))
  expect(said.name).toBe('expected string')
  expect(said.foo).toBe('there is no such field')
  expect(said.seeds).toBe('expected array')
})

import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { presetOf } from '../../../document/presets/presets.ts'
import { entryOf } from '../table/testing.ts'
import { DifferenceTable } from './DifferenceTable.tsx'

const group = (label: string, ...entries: ReturnType<typeof entryOf>[]) => ({
  label,
  entries,
  again: [],
})
const imported = (id: string) => {
  const entry = entryOf(id, { lr: 0.7 })
  const source = { kind: 'verl', file: 'verl.jsonl', remarks: [] }
  return { ...entry, header: { ...entry.header, source } }
}

test('a setting of an imported run is said to be unknown, and its defaults make no row', () => {
  const [a, b] = [entryOf('a', { lr: 0.001 }), entryOf('b', { lr: 0.01 })]
  const page = renderToStaticMarkup(
    <DifferenceTable groups={[group('a', a), group('x', imported('x')), group('b', b)]} />,
  )
  expect(page.match(/<tr>/g)).toHaveLength(2)
  expect(page).toMatch(/>0\.001<.*>not in the log<.*>0\.01</)
  expect(page).not.toContain('0.7')
})

test('choices and rates are written as the form and the names of runs have them', () => {
  const [a, b] = [entryOf('a', { lr: 0.0005 }), entryOf('b', { lr: 0.01 })]
  const phases = b.header.document.phases.map((phase) =>
    phase.kind === 'rl' ? { ...phase, adv_estimator: 'reinforce_plus_plus' as const } : phase,
  )
  const other = { ...b, header: { ...b.header, document: { ...b.header.document, phases } } }
  const page = renderToStaticMarkup(<DifferenceTable groups={[group('a', a), group('b', other)]} />)
  expect(page).toMatch(/>0\.0005<.*>0\.01</)
  expect(page).toMatch(/>GRPO<.*>REINFORCE\+\+</)
  expect(page).not.toContain('reinforce_plus_plus')
})

test('imported runs beside one of the lab’s, or alone, differ in nothing that is known', () => {
  const page = (...groups: ReturnType<typeof group>[]) =>
    renderToStaticMarkup(<DifferenceTable groups={groups} />)
  const own = group('a', entryOf('a', {}))
  expect(page(own, group('x', imported('x')))).toContain(
    'The settings of the imported run are not in the log.',
  )
  expect(page(group('x', imported('x')), group('y', imported('y')))).toContain(
    'Their settings are not in the log.',
  )
  expect(page(own, group('b', entryOf('b', {})))).toContain('the same, seed included.')
  const seeds = group('a', entryOf('a', { seed: 1 }), entryOf('b', { seed: 2 }))
  expect(page(seeds)).toContain('runs of one setting')
})

const ofPreset = (id: string, preset_id: string) => {
  const entry = entryOf(id, {})
  const document = presetOf(preset_id)?.experiment ?? entry.header.document
  return { ...entry, header: { ...entry.header, preset_id, document, experiment: document } }
}
const namesIn = (page: string) =>
  [...page.matchAll(/<th scope="row"[^>]*>([^<]*)</g)].map(([, name]) => name)

test('of runs of two presets comes what matters first, a phase of another kind in one row', () => {
  const groups = [group('a', ofPreset('a', 'first-steps')), group('b', ofPreset('b', 'tiny-grpo'))]
  const page = renderToStaticMarkup(<DifferenceTable groups={groups} />)
  const rows = namesIn(page)
  expect(rows).toHaveLength(8)
  expect(rows.slice(0, 5)).toEqual([
    'phase 1',
    'phase 2: steps',
    'phase 2: advantage estimator',
    'model',
    'lr',
  ])
  expect(page).toMatch(/>REINFORCE\+\+, layer 2, 4 steps<.*>supervised, \d+ steps</)
  expect(page).toMatch(/>sorter<.*>a new model</)
  expect(page).toMatch(/aria-expanded="false".*>\d+ more settings</)
})

test('what the other settings leave without effect makes no row, unless nothing else differs', () => {
  const withMuon = (id: string, lr: number, nesterov: boolean) => {
    const entry = entryOf(id, { lr })
    const { actor } = entry.header.document
    const optim = { ...actor.optim, muon: { ...actor.optim.muon, nesterov } }
    const document = { ...entry.header.document, actor: { ...actor, optim } } as Experiment
    return group(id, { ...entry, header: { ...entry.header, document } })
  }
  const said = (lr: number) =>
    namesIn(
      renderToStaticMarkup(
        <DifferenceTable groups={[withMuon('a', 0.001, true), withMuon('b', lr, false)]} />,
      ),
    )
  expect(said(0.01)).toEqual(['lr'])
  expect(said(0.001)).toEqual(['nesterov'])
})

test('rows of lists are named by their place, and a hash is cut', () => {
  const own = (id: string, source: string, weight: number) => {
    const entry = entryOf(id, {})
    const { document } = entry.header
    const [part] = [{ id: 'task', weight }]
    const reward = { ...document.reward, parts: [part, { ...part, id: 'length' }] }
    const changed = { ...document, reward, model: { ...document.model, source } }
    return { ...entry, header: { ...entry.header, document: changed as typeof document } }
  }
  const hash = (digit: string) => `sha256-${digit.repeat(64)}`
  const page = renderToStaticMarkup(
    <DifferenceTable
      groups={[group('a', own('a', hash('1'), 1)), group('b', own('b', hash('2'), 2))]}
    />,
  )
  expect(page).toContain('>reward part 1, weight<')
  expect(page).toContain('>reward part 2, weight<')
  expect(page).toContain(`title="${hash('1')}">sha256-11111111…<`)
})

/** The smallest run, whose temperature a person changed after step 4. */
function steered(id: string, lr: number) {
  const entry = entryOf(id, { lr })
  const set = { step: 4, kind: 'set', path: 'rollout.temperature', value: 1.6 } as const
  const document: Experiment = { ...entry.header.document, steering: [set] }
  return { ...entry, header: { ...entry.header, document } }
}

test('a change by hand is a row of its field, also where both runs began with one value', () => {
  const page = renderToStaticMarkup(
    <DifferenceTable groups={[group('a', entryOf('a', {})), group('b', steered('b', 0.01))]} />,
  )
  expect(namesIn(page)).toEqual(['lr', 'temperature'])
  expect(page).toMatch(/>1<.*>1, then 1\.6 after step 4</)
})

test('what was done by hand after other steps stands in rows of its own, as it came', () => {
  const entry = entryOf('b', {})
  const phases = [
    { step: 6, kind: 'remove_phase', index: 2 },
    { step: 4, kind: 'next_phase' },
  ] as const
  const [a, b] = phases.map((done) => ({
    ...entry,
    header: { ...entry.header, document: { ...entry.header.document, steering: [done] } },
  }))
  const page = renderToStaticMarkup(<DifferenceTable groups={[group('a', a), group('b', b)]} />)
  expect(namesIn(page)).toEqual(['done by hand after step 4', 'done by hand after step 6'])
  expect(page).toMatch(/>–<.*>next phase<.*>phase 3 removed<.*>–</)
})

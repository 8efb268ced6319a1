import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
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

// What the table says beside its rows: headings of groups, and the choice of columns.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { TINY } from '../../../page/runs/testing.ts'
import { runName } from '../../../record/run/names.ts'
import { extendSummary } from '../../../record/run/summary.ts'
import { translateWith } from '../../kit/translator.ts'
import { translateProps } from '../../language/element_translator.ts'
import { allTexts } from '../../language/testing.ts'
import { VERL_LOG } from '../../shown/testing.ts'
import { BY_SETTINGS, rowGroups } from '../base/groups.ts'
import { selectionStore } from '../base/selection.ts'
import { FIRST_VIEW, fixedColumns, tableRows } from '../base/table.ts'
import { Used } from '../RunsTab.tsx'
import { ColumnChooser } from './ColumnChooser.tsx'
import { refusedStore } from './choose_run.ts'
import { NewFilter } from './FilterBar.tsx'
import { GroupRow } from './GroupRow.tsx'
import { NotImported } from './NotImported.tsx'
import { RunsTable } from './RunsTable.tsx'
import { sparkPath } from './Spark.tsx'
import { entryOf } from './testing.ts'

beforeEach(() => {
  // Static markup shows what a store began with.
  vi.spyOn(selectionStore, 'getInitialState').mockImplementation(selectionStore.getState)
})
afterEach(() => vi.restoreAllMocks())

const text = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')

test('a heading has the mean of each value, what it lies between, and of how many seeds', () => {
  const runs = [
    entryOf('a', { seed: 1, greedy: 0.5 }),
    entryOf('b', { seed: 2, greedy: 0.7 }),
    // The same seed again is the same run.
    entryOf('c', { seed: 2, greedy: 0.7 }),
  ]
  const view = { ...FIRST_VIEW, group: BY_SETTINGS }
  const [group] = rowGroups(tableRows(runs, view), view) ?? []
  const said = text(
    renderToStaticMarkup(
      <GroupRow
        group={group}
        view={view}
        ticked={[]}
        shares="metric:"
        isFolded={false}
        onFold={() => {}}
      />,
    ),
  )
  expect(said.replaceAll(' ,', ',')).toContain('3 runs, 1 of a seed that is counted')
  expect(said).toContain('60.0 % [50.0–70.0 %] n = 2')
})

test('the first columns are scores and the final entropy, and fixed ones can be left out', () => {
  expect(FIRST_VIEW.columns).toEqual(['metric:score', 'metric:entropy'])
  const left = fixedColumns({ without: ['status'] }).map(({ key }) => key)
  expect(left).toEqual(['steps', 'started'])
})

test('a metric is offered in words, with what the trainer calls it, and all can be shown', () => {
  const entry = entryOf('a', { greedy: 0.5 })
  const names = Array.from({ length: 20 }, (_, i) => `critic/advantages/p${i + 10}`)
  const summary = Object.values(entry.header.summaries)[0]
  const summaries = Object.fromEntries(names.map((name) => [name, summary]))
  const run = { ...entry, header: { ...entry.header, summaries } }
  const said = text(renderToStaticMarkup(<ColumnChooser entries={[run]} />))
  expect(said).toContain('advantages p10 critic/advantages/p10')
  expect(said).not.toContain('advantages p29')
  expect(said).toContain('Show all 25')
})

test('columns are in the words of the language that the page has', () => {
  const texts = allTexts()
  const text = (english: string) => texts.translate(english)
  translateWith({ locale: 'zh', text, props: (type, props) => translateProps(type, props, text) })
  const entry = entryOf('a', { greedy: 0.5 })
  const [summary] = Object.values(entry.header.summaries)
  const names = ['critic/advantages/min', 'critic/rewards/max', 'prompt_length/clip_ratio']
  const summaries = Object.fromEntries(names.map((name) => [name, summary]))
  const run = { ...entry, header: { ...entry.header, summaries } }
  const said = renderToStaticMarkup(<ColumnChooser entries={[run]} />)
  const offered = renderToStaticMarkup(<NewFilter entries={[run]} />)
  translateWith(undefined)
  for (const chinese of ['标签', 'GPU', '留出准确率（贪心）', '训练集', '优势最小值', '奖励最大值'])
    expect(said).toContain(chinese)
  expect(said).toContain('截断比例')
  for (const operator of ['是', '不是', '至少', '最多', '包含'])
    expect(offered).toContain(`>${operator}</option>`)
})

test('runs have marks while charts draw them, of which no two are alike', () => {
  const runs = Array.from({ length: 12 }, (_, i) => entryOf(`r${i}`, { seed: i + 1 }))
  const marksOf = (ticked: readonly string[]) => {
    selectionStore.setState({ ticked, band: undefined })
    const html = renderToStaticMarkup(<RunsTable entries={runs} living={undefined} />)
    return [...html.matchAll(/<line [^>]*stroke:([^;"]+)/g)].map(([, color]) => color)
  }
  const marks = marksOf(['r3', 'r5', 'r10'])
  expect(marks).toHaveLength(3)
  expect(new Set(marks).size).toBe(3)
  // That of the panels.
  expect(marksOf([])).toHaveLength(1)
  selectionStore.setState({ ticked: [], band: 'range' })
})

test('an interval says what it is, and the table what stands in brackets', () => {
  const runs = [0.5, 0.7, 0.6, 0.65, 0.55].map((greedy, i) =>
    entryOf(`s${i}`, { seed: i + 1, greedy }),
  )
  selectionStore.setState({ view: { ...FIRST_VIEW, group: BY_SETTINGS } })
  const said = text(renderToStaticMarkup(<RunsTable entries={runs} living={undefined} />))
  expect(said).toContain('60.0 % ± 9.8 points (95 %) n = 5')
  expect(said).toContain('the lowest and the highest of its runs')
  selectionStore.setState({ view: FIRST_VIEW })
})

test('the column that the table begins with is ticked among the choices', () => {
  const entry = entryOf('a', { greedy: 0.5 })
  const boxOf = (column: string) =>
    new RegExp(`<input[^>]*data-column="metric:${column}"[^>]*>`).exec(
      renderToStaticMarkup(<ColumnChooser entries={[entry]} />),
    )?.[0]
  expect(boxOf('greedy')).toMatch(/disabled.*checked|checked.*disabled/)
  expect(boxOf('sampled')).not.toMatch(/checked|disabled/)
})

test('runs of studies that the table has are counted beside the others', () => {
  const said = (ofStudies: number) =>
    text(renderToStaticMarkup(<Used count={2} ofStudies={ofStudies} />))
  expect(said(29)).toContain('2 runs in this browser')
  expect(said(29)).toContain('Beside them the table has 29 runs of studies')
  expect(said(0)).toContain('Runs of studies are kept with their study.')
})

test('a row has the whole name of its run, and below it what else is special about it', () => {
  const runs = [1, 2].map((seed) => entryOf(`s${seed}`, { seed, lr: 0.01 }, { name: '' }))
  const markup = renderToStaticMarkup(<RunsTable entries={runs} living={undefined} />)
  for (const seed of [1, 2]) {
    const name = `BuPO (GRPO), layer 2 first, lr 0.01, seed ${seed}`
    expect(markup).toContain(`title="${name}">${name}</span>`)
    expect(markup).toContain(`title="${name}: Show this run`)
    expect(text(markup)).toContain(`${name} from “${TINY.name}”`)
  }
  const named = runs.map((run) => ({ ...run, labels: { ...run.labels, name: `Mine ${run.id}` } }))
  expect(text(renderToStaticMarkup(<RunsTable entries={named} living={undefined} />))).toContain(
    `Mine s1 BuPO (GRPO), layer 2 first, lr 0.01, from “${TINY.name}”`,
  )
})

test('a title that its run is named after in part is said whole', () => {
  const entry = entryOf('a', {}, { name: 'First run, without its inner phase' })
  const preset_id = 'first-steps'
  const runs = [{ ...entry, header: { ...entry.header, preset_id } }]
  expect(text(renderToStaticMarkup(<RunsTable entries={runs} living={undefined} />))).toContain(
    'from “First run: an inner layer, then all”',
  )
})

test('a run of an unchanged preset has its title below its name', () => {
  const { experiment, id, name } = TINY
  const runs = [1, 2].map((seed) => {
    const entry = entryOf(`s${seed}`, { seed }, { name: '' })
    const document = { ...experiment, seed }
    return { ...entry, header: { ...entry.header, preset_id: id, document } }
  })
  const said = text(renderToStaticMarkup(<RunsTable entries={runs} living={undefined} />))
  for (const seed of [1, 2])
    expect(said).toContain(`${runName(runs[0]).method}, seed ${seed} ${name} `)
})

test('when a run of an earlier day began is short, and whole in its title', () => {
  vi.useFakeTimers({ now: new Date(2026, 10, 30, 0, 12), toFake: ['Date'] })
  const runs = [29, 30].map((day) => {
    const entry = entryOf(`r${day}`, { seed: day })
    const started_at = new Date(2026, 10, day, day === 29 ? 23 : 0, 9).getTime()
    return { ...entry, header: { ...entry.header, started_at } }
  })
  const html = renderToStaticMarkup(<RunsTable entries={runs} living={undefined} />)
  vi.useRealTimers()
  expect(html).toContain(
    'title="29 Nov 2026, 23:09">29 Nov<span class="run-clock">, 23:09</span></td>',
  )
  expect(html).toContain('title="30 Nov 2026, 00:09">00:09</td>')
})

test('beside the button that asked for a run stands why a file is none, and what else it may be', () => {
  vi.spyOn(refusedStore, 'getInitialState').mockImplementation(refusedStore.getState)
  const file = new File(['x'], 'notes.md')
  refusedStore.setState({ refused: { file, problems: ['It is text.'], offer: 'Open it as data' } })
  const said = text(renderToStaticMarkup(<NotImported />))
  expect(said).toMatch(/No run was imported from “notes\.md”\..*It is text\. Logs can be imported/)
  expect(said).toContain('Open it as data')
  refusedStore.setState({ refused: { file, problems: ['It is text.'] } })
  expect(renderToStaticMarkup(<NotImported />)).not.toContain('open-anyhow')
  refusedStore.setState({ refused: undefined })
  expect(renderToStaticMarkup(<NotImported />)).toBe('')
})

test('runs of logs say what their number is of, where another is of something else', () => {
  const log = (id: string, metric: string) => {
    const entry = entryOf(id, {})
    const summaries = { [metric]: extendSummary(undefined, [0.5]) }
    return { ...entry, header: { ...entry.header, source: VERL_LOG, summaries } }
  }
  const told = (...entries: Parameters<typeof RunsTable>[0]['entries']) =>
    [
      ...renderToStaticMarkup(<RunsTable entries={entries} living={undefined} />).matchAll(
        /run-told">([^<]*)/g,
      ),
    ].map(([, words]) => words)
  const gsm8k = log('a', 'val-core/openai/gsm8k/acc/mean@1')
  expect(told(gsm8k, log('b', 'val-core/math/reward/mean@4')).sort()).toEqual([
    'accuracy, gsm8k',
    'reward, math (mean of 4)',
  ])
  expect(told(gsm8k, log('b', 'val-core/openai/gsm8k/acc/mean@1'))).toEqual([])
  expect(told(gsm8k, entryOf('c', { greedy: 0.5 }))).toEqual(['accuracy, gsm8k'])
})

test('a column has one unit: numbers of which some may be no shares stand without percent', () => {
  const log = (id: string, metric: string, value: number) => {
    const entry = entryOf(id, {})
    const summaries = { [metric]: extendSummary(undefined, [value]) }
    return { ...entry, header: { ...entry.header, source: VERL_LOG, summaries } }
  }
  const said = (...entries: Parameters<typeof RunsTable>[0]['entries']) =>
    text(renderToStaticMarkup(<RunsTable entries={entries} living={undefined} />))
  const own = entryOf('a', { greedy: 0.794 })
  const right = said(own, log('b', 'val-core/gsm8k/acc/mean@1', 0.7))
  expect(right).toContain('79.4 %')
  expect(right).toContain('70.0 %')
  expect(right).not.toContain('plain numbers')
  const mixed = said(own, log('b', 'val-core/gsm8k/reward/mean@1', 0.7))
  expect(mixed).toContain('plain numbers, no percent')
  expect(mixed).toContain('0.794')
  expect(mixed).not.toContain('79.4 %')
})

test('beside logs of samples the table has what samples of every run come to', () => {
  const measured = (id: string, own: Readonly<Record<string, number>>, isLog = false) => {
    const { header, ...entry } = entryOf(id, {})
    const summaries = Object.fromEntries(
      Object.entries(own).map(([metric, value]) => [metric, extendSummary(undefined, [value])]),
    )
    return { ...entry, header: { ...header, summaries, ...(isLog && { source: VERL_LOG }) } }
  }
  const told = { sampled: 0.07, 'actor/entropy': 1.881 }
  const { task, validation } = entryOf('a', {}).header.experiment
  const own = measured('a', {
    [`val-aux/${task.id}/acc/greedy`]: 0.672,
    [`val-core/${task.id}/acc/mean@${validation.n}`]: told.sampled,
    'actor/entropy': told['actor/entropy'],
    'layer/entropy/3': 0.94,
  })
  const log = measured('b', { 'val-core/x/acc/mean@1': 0.06, 'actor/entropy': 1.9 }, true)
  const said = (...entries: readonly RunEntry[]) =>
    text(renderToStaticMarkup(<RunsTable entries={entries} living={undefined} />))
  expect(said(own)).toMatch(/accuracy, greedy: last .* final entropy, nats .*67\.2 % .* 0\.94 /)
  const both = said(own, log)
  expect(both).toMatch(
    /held-out accuracy, x, or accuracy, sampled: last .* policy entropy as sampled \(actor\/entropy\), nats/,
  )
  expect(both).toMatch(/6\.0 % .* 1\.9 /)
  expect(both).toMatch(/7\.0 % .* 1\.88 /)
  expect(both).not.toMatch(/67\.2|0\.94|greedy/)
})

test('the choices tick the column that the table begins with, also where it is no accuracy of ours', () => {
  const entry = entryOf('b', {})
  const summaries = { 'val-core/openai/gsm8k/acc/mean@1': extendSummary(undefined, [0.5]) }
  const log = { ...entry, header: { ...entry.header, source: VERL_LOG, summaries } }
  const entries = [entryOf('a', { greedy: 0.5 }), log]
  const html = renderToStaticMarkup(<ColumnChooser entries={entries} />)
  const box = (column: string) =>
    new RegExp(`<input[^>]*data-column="metric:${column}"[^>]*>`).exec(html)?.[0]
  expect(box('main')).toContain('checked')
  expect(box('greedy')).not.toContain('checked')
  const head = text(renderToStaticMarkup(<RunsTable entries={entries} living={undefined} />))
  expect(head).toContain('held-out accuracy, gsm8k, or accuracy, greedy')
  expect(text(html)).toContain('held-out accuracy, gsm8k, or accuracy, greedy')
})

test('the one mean of answers that logs have is one choice, whatever it is called elsewhere', () => {
  const entries = ['gsm8k', 'math'].map((data, i) => {
    const entry = entryOf('xy'[i], {})
    const summaries = { [`val-core/${data}/acc/mean@1`]: extendSummary(undefined, [0.5]) }
    return { ...entry, header: { ...entry.header, source: VERL_LOG, summaries } }
  })
  const said = text(renderToStaticMarkup(<ColumnChooser entries={entries} />))
  expect(said.split('held-out mean of answers')).toHaveLength(2)
})

test('the line of a row leaves a gap where a value is not finite', () => {
  const values = [0, 1, NaN, Infinity, 1, 0]
  const path = sparkPath(
    values.map((value, i) => [i / 5, value]),
    0,
    1,
  )
  expect(path).toBe('M2.0 21.0L15.6 3.0M56.4 3.0L70.0 21.0')
})

test('long numbers of steps are short, and whole in their title', () => {
  const { header, ...entry } = entryOf('a', {})
  const step = 1_000_000_000_000_000
  const source = { ...VERL_LOG, is_cut: true }
  const long = { ...entry, header: { ...header, step, phase_step: step, source } }
  const markup = renderToStaticMarkup(<RunsTable entries={[long]} living={undefined} />)
  expect(markup).toMatch(/<td[^>]*run-steps[^>]*title="1,000,000,000,000,000">1\.0e15</)
  expect(text(markup)).not.toMatch(/1,?000,?000,?000/)
})

test('a log that says when its run began has that time', () => {
  const { header, ...entry } = entryOf('a', {})
  const cell = (begun?: number) => {
    const source = begun === undefined ? VERL_LOG : { ...VERL_LOG, begun }
    const markup = renderToStaticMarkup(
      <RunsTable entries={[{ ...entry, header: { ...header, source } }]} living={undefined} />,
    )
    return text(/<td[^>]*run-started[^>]*>.*?<\/td>/.exec(markup)?.[0] ?? '')
  }
  expect(cell()).toContain('–')
  expect(cell(Date.UTC(2025, 10, 30, 12))).toContain('Nov 2025')
})

// Tests that the page says whose run the picture plays wherever the charts show no run.
import { readFileSync } from 'node:fs'
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withField } from '../../document/experiment/experiment.ts'
import { OPENING, presetOf } from '../../document/presets/presets.ts'
import { SUMMARIES } from '../../document/presets/summaries.ts'
import { libraryStore } from '../../page/runs/library/library_store.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { controlOf } from '../forest/control_run.ts'
import { KNOWN } from '../open/models/known_models.ts'
import { overlayStore } from '../shown/overlays.ts'
import { presentStore, viewStore } from '../shown/shown.ts'
import { ChangedFrom } from './ChangedFrom.tsx'
import { Charts } from './Charts.tsx'
import { Intro } from './Intro.tsx'
import { ModelWrites } from './ModelWrites.tsx'
import { PlayedAbove } from './PlayedAbove.tsx'
import { WhatToSee } from './WhatToSee.tsx'

const says = (): string => renderToStaticMarkup(<PlayedAbove />)
const another = presetOf('brackets')?.experiment ?? OPENING.experiment

beforeEach(() => {
  vi.stubGlobal('navigator', {})
  // Static markup shows what a store began with.
  for (const store of [labStore, libraryStore, overlayStore, presentStore, viewStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
  viewStore.setState({ viewed: undefined, recorded: undefined })
  libraryStore.setState({ isReady: true, entries: [] })
  overlayStore.setState({ overlays: [] })
  labStore.setState({ ...initialState(), experiment: another }, true)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

test('with another preset, or own runs, it names the recorded run', () => {
  expect(says()).toContain(`a recording of “${OPENING.name}”`)
  labStore.setState({ experiment: OPENING.experiment })
  const header = { document: OPENING.experiment, experiment: OPENING.experiment }
  libraryStore.setState({ entries: [{ id: 'own', header, labels: { name: 'Mine' } }] as never })
  expect(says()).toContain(`a recording of “${OPENING.name}”`)
})

test('it is silent where the charts show the recording, a run or a past run', () => {
  labStore.setState({ experiment: OPENING.experiment })
  expect(says()).toBe('')
  labStore.setState({ experiment: another, runExperiment: another })
  expect(says()).toBe('')
  labStore.setState({ runExperiment: undefined })
  viewStore.setState({ viewed: { ...initialState(), runExperiment: another } })
  expect(says()).toBe('')
})

test('it offers no training where the page has no GPU', () => {
  expect(says()).toContain('Train draws the reward')
  const error = { name: 'GpuError', code: 'no_adapter', message: '' } as const
  labStore.setState({ status: 'failed', error })
  expect(says()).not.toContain('Train draws')
  expect(says()).toContain('Nothing can be trained here without a GPU')
})

test('without a run no empty charts are drawn', () => {
  const charts = () => renderToStaticMarkup(<Charts />)
  expect(charts()).not.toContain('kl-chart')
  labStore.setState({ runExperiment: another })
  expect(charts()).toContain('kl-chart')
  labStore.setState({ runExperiment: undefined })
  const sent = {
    id: 'sent',
    label: 'sent',
    color: 'red',
    dash: [],
    end: () => ({ last: 1, planned: 1 }),
    series: () => undefined,
  }
  overlayStore.setState({ overlays: [sent] })
  expect(charts()).toContain('kl-chart')
})

test('groups are counted where their responses are compared with each other', () => {
  const charts = (id: string) => {
    labStore.setState({ runExperiment: presetOf(id)?.experiment })
    return renderToStaticMarkup(<Charts />)
  }
  expect(charts('tiny-grpo')).toContain('informative-chart')
  expect(charts('first-steps')).toContain('kl-chart')
  expect(charts('first-steps')).not.toContain('informative-chart')
})

test('a changed preset keeps its introduction, which says what was changed', async () => {
  const intro = () => renderToStaticMarkup(<Intro />)
  labStore.setState({ experiment: OPENING.experiment, preset_id: OPENING.id })
  const [summary] = SUMMARIES[OPENING.id].split('.')
  expect(intro()).toContain('What you should see')
  const changed = withField(OPENING.experiment, 'actor.optim.lr', 0.003)
  if (!changed.ok) throw new Error(changed.message)
  labStore.setState({ experiment: changed.experiment })
  expect(intro().replaceAll(/<[^>]*>/g, '')).toContain(summary)
  // Its results are those of the preset as it is.
  expect(intro()).not.toContain('What you should see')
  const says = renderToStaticMarkup(
    <ChangedFrom preset={OPENING} experiment={changed.experiment} />,
  )
  expect(says.replaceAll(/<[^>]*>/g, '')).toBe(
    `Changed from the preset “${OPENING.name}”: lr 0.003.`,
  )
  // Another task, from random weights: not its every part, and the task in any case.
  const { model } = OPENING.experiment
  const random = { ...model, source: null, source_name: null, vocab_size: null }
  const other = withField({ ...OPENING.experiment, model: random }, 'task.id', 'reverse_digits')
  if (!other.ok) throw new Error(other.message)
  const said = renderToStaticMarkup(<ChangedFrom preset={OPENING} experiment={other.experiment} />)
  expect(said.replaceAll(/<[^>]*>/g, '')).toMatch(/”: random weights, .*[Rr]everse/)
  expect(said).not.toMatch(/rows of the embedding|its name/)
  labStore.setState({ experiment: another })
  expect(intro().replaceAll(/<[^>]*>/g, '')).not.toContain(summary)
  // Nor does the summary say of a control that it trains an inner layer.
  const control = controlOf({ document: OPENING.experiment, experiment: OPENING.experiment })
  if (!control) throw new Error('no control')
  labStore.setState({ experiment: control.experiment })
  expect(intro().replaceAll(/<[^>]*>/g, '')).toMatch(/^ ?Train runs one phase/)
})

test('a preset’s usual result comes first, without commands', () => {
  const seen = renderToStaticMarkup(<WhatToSee id="first-steps" />)
  expect(seen).toMatch(
    /^<p[^>]*><b>Usual result: \d+–\d+ % of held-out problems right, over 5 seeds/,
  )
  expect(seen).not.toContain('npm run')
})

test('the picture plays the run that is named', () => {
  const { from } = JSON.parse(readFileSync('src/ui/forest/recorded.json', 'utf8'))
  expect(from).toBe(`recordings/${OPENING.id}.json`)
})

test('a story of the shipped storyteller is there to read; a model of digits shows none', () => {
  const { text, writes } = KNOWN.story
  const shown = renderToStaticMarkup(<ModelWrites name="story" />).replaceAll('&quot;', '"')
  expect(shown).toContain(text)
  expect(shown).toContain(writes)
  expect(shown).toContain('a recording')
  expect(renderToStaticMarkup(<ModelWrites name="sorter" />)).toBe('')
})

// The card at the end of a run shows answers before and after it, and in stories what changed.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { NOTHING_DONE } from '../../document/course/progress.ts'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import { OPENING, presetOf } from '../../document/presets/presets.ts'
import { type ReplayState, replayStore } from '../../page/state/replay.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import type { Recording } from '../../record/files/recorded.ts'
import { emptyKept, keepGenerations } from '../../record/run/kept_run.ts'
import { progressStore } from '../lessons/base/progress.ts'
import { openLessonStore } from '../open/open_lesson.ts'
import { presentStore, viewStore } from '../shown/shown.ts'
import { VERL_LOG } from '../shown/testing.ts'
import { EndCard } from './EndCard.tsx'

beforeEach(() => {
  // Static markup shows what a store began with.
  for (const store of [labStore, presentStore, viewStore, openLessonStore, progressStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
})
afterEach(() => vi.restoreAllMocks())

/** The card of a finished run whose greedy answers to one problem were these. */
function shown(before: string, after: string, score = 1, began = 0): string {
  const kept = emptyKept()
  for (const [step, output] of [[0, before] as const, [30, after] as const])
    keepGenerations(kept, step, [
      { input: 'p', output, gts: '', score: step === 0 ? began : score, do_sample: false },
    ])
  const { experiment } = OPENING
  labStore.setState(
    { ...initialState(), status: 'finished', kept, runExperiment: experiment },
    true,
  )
  return renderToStaticMarkup(<EndCard />)
}

test('of two stories the words are marked that the other lacks', () => {
  const html = shown(
    ' One day, the kite broke. Pip went home and cried.',
    ' One day, the kite was gone. Pip went home with a smile.',
  )
  expect(html).toContain('what changed marked')
  expect(html).toContain('<mark> broke.</mark>')
  expect(html).toContain('<mark> with a smile.</mark>')
  expect(html).not.toMatch(/<mark>[^<]*kite/)
})

test('what happened comes before stories, of which the last passages are shown', () => {
  const long = Array.from({ length: 60 }, (_, i) => ` w${i}`).join('')
  const html = shown(`${long} and cried.`, `${long} and smiled.`)
  expect(html.indexOf('end-says')).toBeLessThan(html.indexOf('end-answers'))
  expect(html).toContain('the whole story')
  expect(html).not.toContain('w20 ')
  const digits = shown('123', '321')
  expect(digits.indexOf('end-says')).toBeGreaterThan(digits.indexOf('end-answers'))
  // Beside what happened, so that it can lie below the answers, which are fewer.
  expect(digits).toMatch(/<\/ol><\/div><div class="end-next">/)
})

test('what other seeds came to is said of a preset that nobody steered', () => {
  const says = 'What it came to with several seeds'
  expect(shown('123', '321')).toContain(says)
  const { experiment } = OPENING
  const steered = (entry: SteeringEntry) => {
    labStore.setState({ runDocument: { ...experiment, steering: [entry] } })
    return renderToStaticMarkup(<EndCard />)
  }
  expect(steered({ step: 3, kind: 'next_phase' })).not.toContain(says)
  expect(steered({ step: 3, kind: 'kernels', kernels: '*:vector_4x4' })).toContain(says)
})

test('short answers are shown as they are', () => {
  const html = shown('123', '321')
  expect(html).toContain('>321<')
  expect(html).not.toContain('<mark>')
})

test('the table says which problems it shows', () => {
  expect(shown('123', '321')).toContain('New problems it got wrong at first')
  const rights = shown('321', '321', 1, 1)
  expect(rights).toContain('Some new problems, before and after')
  labStore.setState({ runExperiment: presetOf('story-ends')?.experiment })
  const stories = renderToStaticMarkup(<EndCard />)
  expect(stories).toContain('Some new stories, before and after')
  expect(stories).toContain('<th scope="col">story</th>')
})

test('a sum of several parts is shown as a reward, not as right or wrong', () => {
  shown('123', '321', 1.67, 1)
  labStore.setState({ runExperiment: presetOf('story-animals')?.experiment })
  const html = renderToStaticMarkup(<EndCard />)
  expect(html).toContain('reward 1.67')
  expect(html).not.toMatch(/[✓◐✗]/)
  expect(html).not.toContain('wrong at first')
  expect(shown('123', '321')).toContain('✓')
  // It stays with its answer.
  expect(shown('123', '321')).toMatch(/<\/span>\u00a0<span aria-hidden="true">✓/)
})

const ADAPTER = { vendor: 'v', architecture: 'a', is_software: false } as ReplayState['own']

test('a recording that is over is followed by training it here, where there is a GPU', () => {
  const recording = { experiment: OPENING.experiment } as Recording
  vi.spyOn(replayStore, 'getInitialState').mockImplementation(replayStore.getState)
  replayStore.setState({ recording, own: ADAPTER })
  expect(shown('123', '321')).toMatch(/class="primary" data-testid="train-now"/)
  replayStore.setState({ recording, own: undefined })
  expect(shown('123', '321')).not.toContain('train-now')
  replayStore.setState({ recording: undefined, own: ADAPTER })
  expect(shown('123', '321')).not.toContain('train-now')
})

test('an answer that is not right yet says so in words', () => {
  expect(shown('123', '321')).not.toContain('still wrong')
  expect(shown('123', '132', 0)).toContain('still wrong')
  expect(shown('123', '132', 0.5)).toContain('not wholly right yet')
})

test('while a lesson is open of which something is left, the next step is to go on with it', () => {
  const id = 'policy-and-reward'
  const tell = (open: string | undefined, done: string[]) => {
    openLessonStore.setState({ open })
    progressStore.setState({ [id]: { ...NOTHING_DONE, done } }, true)
    return shown('123', '321')
  }
  const taught = tell(id, ['product', 'train'])
  expect(taught).toContain('Go on with the lesson (2 left)')
  expect(taught).not.toContain('next-lesson')
  expect(tell(id, ['product', 'reward', 'train', 'words'])).toContain('next-lesson')
  expect(tell('all', [])).toContain('next-lesson')
  expect(tell(undefined, [])).toContain('next-lesson')
})

test('where nothing trains within two minutes, writing with the model comes before a lesson', () => {
  shown('123', '321')
  labStore.setState({ step: 45, record: 'r' })
  const html = renderToStaticMarkup(<EndCard />)
  expect(html).toMatch(/class="primary" data-testid="write-with"/)
  expect(html).toMatch(/class="plain" data-testid="next-lesson"/)
  // Without its weights the lesson is what is left.
  labStore.setState({ step: 0, record: '' })
  expect(renderToStaticMarkup(<EndCard />)).toMatch(/class="primary" data-testid="next-lesson"/)
})

test('a log of which nothing can be said has no card', () => {
  const { experiment } = OPENING
  const log = { ...initialState(), status: 'finished' as const, runExperiment: experiment }
  viewStore.setState({ viewed: log, log: VERL_LOG })
  expect(renderToStaticMarkup(<EndCard />)).toBe('')
  viewStore.setState({ viewed: undefined, log: undefined })
})

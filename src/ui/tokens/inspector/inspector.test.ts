import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { beforeEach, expect, test } from 'vitest'
import type { TokenTable, TracedSample } from '../../../host/protocol/results.ts'
import { applyEvent } from '../../../page/events/apply.ts'
import { initialState } from '../../../page/state/store.ts'
import { columnsOf } from '../../shown/testing.ts'
import { COLUMNS, columnOf } from '../base/columns.ts'
import {
  bundleOf,
  drawnOf,
  find,
  firstBundle,
  groupsOf,
  type Inspected,
  isInformative,
  matches,
  neighbour,
  numberIn,
  type Opened,
  ofSamples,
  ofTable,
  openBundles,
  openedTogether,
  opening,
  sorted,
} from '../base/inspect.ts'
import { foundTokens, matchesIn, reopened, seeking } from '../base/search.ts'
import { traced } from '../base/testing.ts'
import { tokensStore, traceOf } from '../base/view.ts'
import { traceCost } from './cost.ts'
import { BundleItem } from './Responses.tsx'
import { comparisonSays, groupSays, noneSays } from './says.ts'

const table = (samples: readonly TracedSample[], updates = 1) =>
  ({
    samples,
    updates,
    phase: { name: 'rl', reward_model: { enable: false } },
  }) as unknown as TokenTable

const step = ofTable(
  table([
    traced('1+2=', '3', 1, { advantages: [0.5, 0.5] }),
    traced('1+2=', '4', 0, { advantages: [-0.5, -0.5] }),
    traced('2+2=', '4', 1, { advantages: [0, 0] }),
    traced('2+2=', '44', 1, { advantages: [0, 0, 0] }),
    traced('5+2=', '8', 0, { advantages: [-0.1, -0.1] }),
    traced('5+2=', '7', 0.5, { advantages: [0.9, 0.9] }),
  ]),
)
const places = (groups: readonly (readonly Inspected[])[]) =>
  groups.map((group) => group.map(({ place }) => place))
const wanted = { order: 'differing', isInformativeOnly: false, query: '' } as const

test('responses are grouped by prompt; a prompt drawn twice in a row is two groups', () => {
  expect(places(groupsOf(step))).toEqual([
    [0, 1],
    [2, 3],
    [4, 5],
  ])
  const twice = ofTable(table(['3', '4', '5', '6'].map((r) => traced('1+2=', r, 0))))
  expect(places(groupsOf(twice))).toEqual([
    [0, 1],
    [2, 3],
  ])
})

test('samples without a trace are grouped by prompt alone', () => {
  const sample = { response: '3', ground_truth: '3', score: 0, advantage: 1, response_length: 2 }
  const responses = ofSamples(
    ['a', 'b', 'a'].map((prompt, i) => ({ ...sample, prompt, is_ended: i > 0 })),
  )
  expect(places(groupsOf(responses))).toEqual([[0, 2], [1]])
  // A prompt that was drawn again is counted again, as in a step with a trace.
  const twice = ofSamples(
    'aaaabb'.split('').map((prompt) => ({ ...sample, prompt, is_ended: true })),
  )
  expect(places(groupsOf(twice, 2))).toEqual([
    [0, 1],
    [2, 3],
    [4, 5],
  ])
  const found = find(twice, wanted, 2)
  expect(found.groups).toBe(3)
  expect(found.bundles.map((bundle) => numberIn(bundle, bundle.responses[1]))).toEqual([
    '2 of 2',
    '2 of 2',
    '2 of 2',
  ])
  expect(responses[0]).toMatchObject({
    length: 2,
    is_ended: false,
    advantage: 1,
    traced: undefined,
  })
  const [rewarded] = ofSamples([{ ...sample, prompt: 'a', is_ended: true, rm_score: 0.7 }])
  expect(rewarded.score).toBe(0.7)
})

test('groups that differ come first, or the best and worst by score or advantage; ties stay as sampled', () => {
  const groups = groupsOf(step)
  expect(places(sorted(groups, 'differing'))).toEqual([
    [0, 1],
    [5, 4],
    [2, 3],
  ])
  expect(places(sorted(groups, 'score_best'))).toEqual([
    [2, 3],
    [0, 1],
    [5, 4],
  ])
  expect(places(sorted(groups, 'score_worst'))).toEqual([
    [4, 5],
    [1, 0],
    [2, 3],
  ])
  expect(places(sorted(groups, 'advantage_high'))[0]).toEqual([5, 4])
  expect(places(sorted(groups, 'advantage_low'))[0]).toEqual([1, 0])
  expect(places(sorted(groups, 'sampled')).flat()).toEqual([0, 1, 2, 3, 4, 5])
})

test('a response without an advantage goes last', () => {
  const two = ofTable(table([traced('1=', '1', 1), traced('1=', '2', 0, { advantages: [-1, -1] })]))
  expect(places(sorted(groupsOf(two), 'advantage_high'))).toEqual([[1, 0]])
})

test('groups whose scores are equal can be left out', () => {
  expect(groupsOf(step).map(isInformative)).toEqual([true, false, true])
  const found = find(step, { ...wanted, isInformativeOnly: true })
  expect(found.responses.map(({ place }) => place)).toEqual([0, 1, 5, 4])
  expect([found.groups, found.informativeGroups]).toEqual([3, 2])
})

test('a search finds prompts and responses, and where nothing fits nothing is left', () => {
  expect(matches(step[0], ' 1+2')).toBe(true)
  expect(find(step, { ...wanted, query: '44' }).responses.map(({ place }) => place)).toEqual([3])
  expect(find(step, { ...wanted, query: '2+2' }).responses).toHaveLength(2)
  expect(find(step, { ...wanted, query: 'x' }).bundles).toEqual([])
})

test('where every prompt has one response they are read together, whatever the filter', () => {
  const single = ofTable(table([traced('1=', '1', 0, {}, 1), traced('2=', '2', 1, {}, 1)]))
  const found = find(single, { ...wanted, isInformativeOnly: true })
  expect(found.bundles).toHaveLength(1)
  expect(found.bundles[0].prompt).toBeUndefined()
  expect(found.responses.map(({ place }) => place)).toEqual([1, 0])
})

test('the list opens on a group whose advantages differ, unless another order is asked for', () => {
  const found = find(step, wanted)
  expect(found.bundles[0].prompt).toBe('1+2=')
  expect(firstBundle(found, 'differing')?.prompt).toBe('1+2=')
  const [informative, other, equalFirst] = found.bundles
  const bundles = [equalFirst, informative, other]
  expect(firstBundle({ ...found, bundles }, 'differing')?.prompt).toBe('1+2=')
  expect(firstBundle({ ...found, bundles }, 'sampled')?.prompt).toBe('2+2=')
  const equal = { ...found, bundles: [equalFirst] }
  expect(firstBundle(equal, 'differing')?.prompt).toBe('2+2=')
})

test('the next response goes over into the next group and stays at the end', () => {
  const found = find(step, wanted)
  expect(neighbour(found, 1, 1)?.place).toBe(5)
  expect(neighbour(found, 3, 1)?.place).toBe(3)
  expect(neighbour(found, 0, -1)?.place).toBe(0)
  expect(neighbour(found, undefined, 1)?.place).toBe(0)
  expect(bundleOf(found, 5)?.prompt).toBe('5+2=')
})

test('what a trace cost is the step beside the usual step before it', () => {
  const times = columnsOf([9, 0.5, 0.3, 0.4, 0.9], 0)
  expect(traceCost(times, 4, [4])).toEqual({ seconds: 0.9, usual: 0.4 })
  expect(traceCost(times, 4, [4, 1])?.usual).toBeCloseTo(0.35)
  expect(traceCost(times, 1, [1])).toBeUndefined()
  // Step 3 took no longer than those before it.
  expect(traceCost(times, 2, [2])).toBeUndefined()
  expect(traceCost(undefined, 1, [])).toBeUndefined()
})

beforeEach(() => tokensStore.setState(tokensStore.getInitialState(), true))

test('the shown trace is the page’s step, else the one that is held, else the newest', () => {
  let state = initialState()
  for (const at of [3, 5, 9])
    state = applyEvent(
      state,
      { type: 'trace', run: 0, step: at, table: table([traced('1=', '1', 1)]) },
      0,
    )
  const { kept } = state
  const trace = kept.traces.at(5)
  if (!trace) throw new Error('the trace was not kept')
  const held = { kept, trace }
  expect(traceOf(kept, undefined, undefined)?.step).toBe(9)
  expect(traceOf(kept, undefined, held)?.step).toBe(5)
  expect(traceOf(kept, 4, held)?.step).toBe(3)
  expect(traceOf(kept, 2, undefined)).toBeUndefined()
  expect(traceOf(initialState().kept, undefined, held)).toBeUndefined()
})

test('a group is said by how many are right, and which advantages they got', () => {
  const says = (responses: readonly Inspected[]) =>
    groupSays(firstBundle(find(responses, wanted), 'differing'))
  const group = (...told: readonly (readonly [score: number, advantage?: number])[]) =>
    ofTable(
      table(
        told.map(([score, a]) =>
          traced('1+2=', '3', score, a === undefined ? {} : { advantages: [a, a] }, told.length),
        ),
      ),
    )
  expect(says(group([1, 0.558], [0, -1.79]))).toBe(
    '1 of 2 answers to “1+2=” is right. The right answer got advantage +0.558, the wrong one −1.79.',
  )
  expect(says(group([1, 0.5], [1, 0.5], [0, -1]))).toBe(
    '2 of 3 answers to “1+2=” are right. The right answers got advantage +0.5, the wrong one −1.',
  )
  // Nothing, and what float32 leaves of nothing.
  for (const none of [0, 7.4e-7])
    expect(says(group([1, none], [1, none]))).toBe(
      '2 of 2 answers to “1+2=” are right. All scored alike, so this step learns nothing from their scores.',
    )
  // Over a whole batch equal scores have an advantage too.
  expect(says(group([1, 0.5], [1, 0.5]))).toBe(
    '2 of 2 answers to “1+2=” are right. Each got advantage +0.5.',
  )
  // A baseline that is no mean of the group pushes right ones either way.
  expect(says(group([1, 0.5], [1, -0.25], [0, -0.75]))).toContain(
    'Mean advantage: +0.125 of the right answers, −0.75 of the wrong ones.',
  )
  expect(says(group([0, -0.5], [0, -1]))).toContain('Their advantages go from −1 to −0.5.')
  expect(says(group([0.25, 0.5], [1, -0.5]))).toContain(
    '2 answers to “1+2=” score from 0.25 to 1. Their advantages go from −0.5 to +0.5.',
  )
  expect(says(group([0.25], [0.25]))).toBe('All 2 answers to “1+2=” score 0.25.')
  // One response to each prompt is one group without a prompt.
  expect(says([...group([1]), ...group([0]).map((one) => ({ ...one, prompt: '2+2=' }))])).toBe(
    '1 of 2 answers is right.',
  )
  expect(groupSays(undefined)).toBe('')
})

test('what a response is compared with follows the estimator of its phase', () => {
  const says = (adv_estimator: TokenTable['phase']['adv_estimator']) =>
    comparisonSays({ adv_estimator } as TokenTable['phase'])
  expect(says('grpo')).toBe('GRPO compares the responses to one prompt with each other.')
  expect(says('reinforce_plus_plus')).toBe(
    'REINFORCE++ compares each response with the whole batch, not with the others to its prompt.',
  )
  expect(says('gae')).toContain('with what the critic expected')
  expect(says('remax')).toContain('does not compare the responses to one prompt')
})

test('the number that is explained is one that the stage computes', () => {
  expect(COLUMNS[columnOf(COLUMNS, 4) ?? -1].name).toBe('advantages')
  expect(columnOf(COLUMNS, 0)).toBeUndefined()
  expect(columnOf(COLUMNS, undefined)).toBeUndefined()
})

test('what a search leaves out still counts in what is said of its group', () => {
  const group = ofTable(
    table([
      traced('599>', '5999', 0, { advantages: [-1, -1] }, 2),
      traced('599>', '599', 1, { advantages: [1, 1] }, 2),
      traced('1>', '1', 1, { advantages: [1, 1] }, 2),
      traced('1>', '2', 0, { advantages: [-1, -1] }, 2),
    ]),
  )
  const found = find(group, { ...wanted, query: '999' })
  const [bundle] = found.bundles
  expect([found.bundles.length, bundle.responses.length, bundle.whole.length]).toEqual([1, 1, 2])
  expect(groupSays(bundle)).toContain('1 of 2 answers to “599>” is right.')
  const markup = renderToStaticMarkup(
    createElement(BundleItem, {
      bundle,
      isOpen: false,
      drawn: 16,
      colours: { mode: 'advantages', range: undefined, layerEntropy: undefined },
      query: '',
      cursor: { place: 0, t: 0 },
      onOpen: () => {},
      onMore: () => {},
    }),
  )
  expect(markup).toContain('1 of 2 responses match, mean score 0.5')
  // Its key stays, so an open group stays open.
  expect(find(group, wanted).bundles.map(({ key }) => key)).toContain(bundle.key)
})

const asSampled: Opened = { order: 'sampled', query: '', open: undefined, openFound: undefined }

test('all groups are opened together, as many as can be drawn', () => {
  const found = find(step, wanted)
  const keys = openedTogether(found)
  expect(openBundles(found, { ...asSampled, open: keys })).toEqual(found.bundles)
  expect(openBundles(found, { ...asSampled, open: [] })).toEqual([])
  expect(openBundles(found, asSampled)).toEqual([found.bundles[0]])
  const long = (key: string) => ({
    ...found.bundles[0],
    key,
    responses: [{ ...found.responses[0], length: 4000 }],
  })
  expect(openedTogether({ ...found, bundles: [long('a'), long('b'), long('c')] })).toEqual(['a'])
})

test('what a search finds is open, and after it what was open before it', () => {
  const all = find(step, { order: 'sampled', isInformativeOnly: false, query: '' })
  const before: Opened = { ...asSampled, ...opening(asSampled, [all.bundles[1].key]) }
  const sought: Opened = { ...before, query: '4' }
  const found = find(step, { ...sought, isInformativeOnly: false })
  expect(found.bundles).toHaveLength(2)
  expect(openBundles(found, sought)).toEqual(found.bundles)
  // Closed by hand, one of them or all.
  const [first, second] = found.bundles
  expect(openBundles(found, { ...sought, ...opening(sought, [second.key]) })).toEqual([second])
  const none = { ...sought, ...opening(sought, []) }
  expect(openBundles(found, none)).toEqual([])
  expect(first.key).not.toBe(second.key)
  expect(openBundles(all, { ...none, query: '' })).toEqual([all.bundles[1]])
})

test('what was selected before or in a search is selected after it too', () => {
  const all = find(step, { order: 'sampled', isInformativeOnly: false, query: '' })
  const view = { ...asSampled, pages: 1, cursor: { place: 5, t: 1 } }
  // Its group is closed, so the first response is selected.
  const began = { ...view, ...seeking(all, view, '5') }
  expect(began.cursor).toEqual({ place: 0, t: 0 })
  const found = find(step, { order: 'sampled', isInformativeOnly: false, query: '5' })
  expect(drawnOf(all, { ...began, ...seeking(found, began, '') }).at?.place).toBe(0)
  const picked = { ...began, cursor: { place: 5, t: 1 } }
  const after = { ...picked, ...seeking(found, picked, '') }
  expect(drawnOf(all, after).at?.place).toBe(5)
  // Where every prompt has one response, it may lie on a later page.
  const many = step[0]
  const single = Array.from({ length: 20 }, (_, place) => ({
    ...many,
    place,
    prompt: `${place}+`,
    traced: many.traced && { ...many.traced, group: { rewards: [1], lengths: [2], place: 0 } },
  }))
  const sought = { ...picked, query: '18+', cursor: { place: 18, t: 0 } }
  const one = find(single, { order: 'sampled', isInformativeOnly: false, query: '18+' })
  expect(seeking(one, sought, '').pages).toBe(2)
})

test('in another order several open groups stay open, and one gives way to the first', () => {
  expect(reopened({ ...asSampled, open: ['a', 'b'] }).open).toEqual(['a', 'b'])
  expect(reopened({ ...asSampled, open: ['a'], openFound: ['a', 'b'] })).toEqual({
    open: undefined,
    openFound: ['a', 'b'],
    pages: 1,
  })
})

test('opening all groups of a search keeps the response that is selected', () => {
  const found = find(step, { order: 'sampled', isInformativeOnly: false, query: '' })
  const last = found.responses.at(-1)?.place ?? 0
  const view = { ...asSampled, pages: 1, cursor: { place: last } }
  // Its group is closed: the first response is selected, and stays it.
  expect(drawnOf(found, view).at).toBe(found.responses[0])
  const opened = { ...view, open: openedTogether(found) }
  expect(drawnOf(found, { ...opened, cursor: { place: found.responses[0].place } }).at).toBe(
    found.responses[0],
  )
  expect(drawnOf(found, opened).at?.place).toBe(last)
})

test('what is searched for is marked in texts and at tokens', () => {
  expect(matchesIn('A cat, a CAT', ' cat ')).toEqual([
    [2, 5],
    [9, 12],
  ])
  expect(matchesIn('A cat', '')).toEqual([])
  expect([...foundTokens(['He', ' went', ' ho', 'me', '.'], 'Home')]).toEqual([2, 3])
})

test('a search without a match says what was searched for', () => {
  expect(noneSays(' dragon ', false)).toBe('No response has “dragon”, nor its prompt.')
  expect(noneSays('dragon', true)).toContain('among prompts with different scores')
  expect(noneSays('', true)).toContain('No prompt has responses with different scores')
})

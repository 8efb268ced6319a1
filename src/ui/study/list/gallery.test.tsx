// The list of the lab's studies: each with its answer, a study that can be trained, and an arm that
// can.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test, vi } from 'vitest'
import { decodeLink } from '../../../document/links/link.ts'
import { baselineOf, expandStudy } from '../../../document/study/arms.ts'
import { titleParts } from '../../../document/study/report/words.ts'
import { decodeStudy } from '../../../document/study/study_link.ts'
import { initialState, labStore } from '../../../page/state/store.ts'
import gallery from '../../../page/study/gallery.json' with { type: 'json' }
import { translateWith } from '../../kit/translator.ts'
import { Gallery } from './Gallery.tsx'
import { ALONE, galleryFamilies } from './gallery_families.ts'

afterEach(() => {
  vi.restoreAllMocks()
  labStore.setState(initialState(), true)
})

test('a browser without a GPU is not told to train a study', () => {
  vi.spyOn(labStore, 'getInitialState').mockImplementation(labStore.getState)
  const says = () => renderToStaticMarkup(<Gallery families={[]} />)
  expect(says()).toContain('you can also train it here')
  const error = { name: 'GpuError', code: 'no_adapter', message: '' } as const
  labStore.setState({ status: 'failed', error })
  expect(says()).not.toContain('you can also train it here')
  expect(says()).toContain('training it needs a GPU')
})

test('each study is listed with its question and its answer', () => {
  const page = renderToStaticMarkup(<Gallery families={galleryFamilies('')} />)
  expect(page.match(/Open the study /g)).toHaveLength(gallery.length)
  expect(page.match(/Settings of the baseline “/g)).toHaveLength(gallery.length)
  for (const { id } of gallery) expect(page).toContain(`study-gallery-${id}`)
})

test('on a phone the groups are headings that open, and a search opens what it found', () => {
  const families = galleryFamilies('')
  const opens = (isFound: boolean) =>
    renderToStaticMarkup(<Gallery families={families} isFound={isFound} />).match(
      /<details class="study-family" open/g,
    )?.length
  expect(opens(false)).toBe(families.length)
  vi.stubGlobal('matchMedia', () => ({ matches: true }))
  expect(opens(false)).toBeUndefined()
  expect(opens(true)).toBe(families.length)
  vi.unstubAllGlobals()
})

test.each(gallery)(
  '$id opens, and its baseline too, by its whole name',
  ({ study, name, arm, link }) => {
    const parsed = decodeStudy(study)
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
    const expanded = expandStudy(parsed.study)
    if (!expanded.ok) throw new Error(expanded.problems.join(' '))
    // Of a search the best setting of the baseline is the one that was compared.
    const baseline = baselineOf(parsed.study, expanded.arms)
    expect(expanded.arms.find(({ name }) => name === arm)?.group).toBe(baseline.group)
    if (!parsed.study.search) expect(arm).toBe(baseline.name)
    expect(decodeLink(link).notices).toEqual([])
    expect(decodeLink(link).experiment.name).toBe(`${name}: ${arm}`.slice(0, 80))
  },
)

test('studies of one title are listed under it by what is their own, and found by their words', () => {
  const all = galleryFamilies('')
  const shown = all.flatMap(({ members }) => members)
  expect(shown).toHaveLength(gallery.length)
  // Twelve layers with brackets are asked two questions.
  for (const { members } of all)
    expect(new Set(members.map(({ name }) => name)).size).toBe(members.length)
  expect(all[0].members.length).toBeGreaterThan(3)
  expect(all.at(-1)?.title).toBe(ALONE)
  for (const { title, members } of all.slice(0, -1))
    for (const { name, entry } of members)
      if (title.endsWith('?')) {
        expect(entry.name.startsWith(title)).toBe(true)
        expect(name).not.toContain(title)
      }
  // Those that ask about one thing in words of their own are together, by their numbers.
  const pairs = all.find(({ title }) => title === 'From preferences')?.members ?? []
  expect(pairs.map(({ entry }) => entry.id)).toEqual([
    'dpo_or_ppo',
    'dpo_or_ppo_searched',
    'preferences_50',
    'preferences_200',
    'preferences_800',
    'preferences_2000',
    'preferences_noise_10',
    'preferences_noise_25',
  ])
  expect(all.at(-1)?.members.length).toBeLessThan(5)
  const found = galleryFamilies('teacher').flatMap(({ members }) => members)
  expect(found.map(({ entry }) => entry.id)).toContain('teacher')
  expect(found.length).toBeLessThan(gallery.length / 2)
  expect(galleryFamilies('no such study')).toEqual([])
})

test('studies are found by the words of the page’s language too', () => {
  translateWith({
    locale: 'zh-CN',
    text: (text) => text.replace('teacher', '教师'),
    props: (_, props) => props,
  })
  const found = galleryFamilies('教师').flatMap(({ members }) => members)
  translateWith(undefined)
  expect(found).toEqual(galleryFamilies('teacher').flatMap(({ members }) => members))
})

test('a study that is named after its question is titled with it once', () => {
  const question = `Does ${'a very '.repeat(12)}high rate help?`
  expect(titleParts({ name: question.slice(0, 80), question })).toEqual([question, ''])
  expect(titleParts({ name: 'Rates', question })).toEqual(['Rates', question])
})

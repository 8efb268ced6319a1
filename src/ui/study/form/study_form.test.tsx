// A study that is being made stays while another tab is shown, until it is made or discarded.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test } from 'vitest'
import { presetOf } from '../../../document/presets/presets.ts'
import { EMPTY_DRAFT } from '../../../document/study/draft/draft.ts'
import { translateWith } from '../../kit/translator.ts'
import { allTexts } from '../../language/testing.ts'
import { endNewStudy, newStudyStore } from './new_study_store.ts'
import { StudyForm } from './StudyForm.tsx'

afterEach(() => {
  translateWith(undefined)
  endNewStudy()
})

test('a form that is drawn again has what was typed, until it is discarded', () => {
  const experiment = presetOf('tiny-grpo')?.experiment
  if (!experiment) throw new Error('no preset')
  const draft = { ...EMPTY_DRAFT, way: 'arms' as const, question: 'Does it stay?', seeds: 7 }
  newStudyStore.setState({ typed: { draft, chosen: [{ name: 'mine', experiment }] } })
  const form = renderToStaticMarkup(<StudyForm />)
  expect(form).toContain('value="Does it stay?"')
  expect(form).toContain('value="7"')
  expect(form).toContain('value="mine"')
  endNewStudy()
  expect(renderToStaticMarkup(<StudyForm />)).not.toContain('Does it stay?')
})

test('the name of an arm stands beside its field in the language of the page', () => {
  const experiment = presetOf('tiny-grpo')?.experiment
  if (!experiment) throw new Error('no preset')
  const draft = { ...EMPTY_DRAFT, way: 'arms' as const }
  const texts = allTexts()
  translateWith({
    locale: 'zh-CN',
    text: (english) => texts.translate(english),
    props: (_, props) => props,
  })
  newStudyStore.setState({ typed: { draft, chosen: [{ name: 'whole model', experiment }] } })
  expect(renderToStaticMarkup(<StudyForm />)).toContain('“整个模型”')
})

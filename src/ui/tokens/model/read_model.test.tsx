import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { modelHash } from '../../../host/content/models/model_files.ts'
import { shippedNamed } from '../../../host/content/models/shipped.ts'
import { LensGrid } from '../lens/LensGrid.tsx'
import { learnedAnswers } from './learned_answers.ts'
import { ReadModels } from './ReadModel.tsx'

test('a reading says of which text it is, and what a model of the lab never learned', () => {
  const html = (isOwn: boolean) =>
    renderToStaticMarkup(
      <ReadModels text="Once there was a hen." isOwn={isOwn} readings={[]} facts={{}} />,
    )
  expect(html(true)).toContain('Once there was a hen.')
  expect(html(true)).toContain('never the words of a prompt')
  expect(html(false)).not.toContain('never the words of a prompt')
  const hash = modelHash(shippedNamed('story').files)
  const { experiment } = { experiment: { task: { id: 'story' }, seed: 1 } }
  expect(learnedAnswers({ hash }, undefined)).toBe(true)
  expect(learnedAnswers({ hash: 'other' }, undefined)).toBe(false)
  expect(learnedAnswers({ hash: 'other' }, { of: 'story', experiment })).toBe(true)
  // A run that began with a model of others.
  expect(learnedAnswers({ hash: 'other' }, { of: 'Qwen/Qwen3-0.6B', experiment })).toBe(false)
})

test('what the colours mean stands outside of what scrolls sideways', () => {
  const lens = { tokens: [], prompt_length: 0, raw: { entropy: [] }, normed: { entropy: [] } }
  const html = renderToStaticMarkup(
    <LensGrid
      {...{ lens: lens as never, kind: 'raw', against: undefined, max_entropy: 1 }}
      {...{ here: { layer: 0, position: 0 }, testid: 'grid', caption: 'Bright is certain.' }}
      onPlace={() => {}}
      onHover={() => {}}
    />,
  )
  expect(html.indexOf('Bright is certain.')).toBeLessThan(html.indexOf('lens-scroll'))
})

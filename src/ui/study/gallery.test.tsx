// The list of the lab's studies: each with its answer, a study that can be trained, and an arm that
// can.
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { decodeLink } from '../../document/links/link.ts'
import { expandStudy } from '../../document/study/arms.ts'
import { decodeStudy } from '../../document/study/study_link.ts'
import gallery from '../../page/study/gallery.json' with { type: 'json' }
import { Gallery } from './Gallery.tsx'

test('each study is listed with its question and its answer', () => {
  const page = renderToStaticMarkup(<Gallery />)
  expect(page.match(/Open the study/g)).toHaveLength(gallery.length)
  for (const { id, link } of gallery) {
    expect(page).toContain(`study-gallery-${id}`)
    expect(page).toContain(`href="?${link.replaceAll('&', '&amp;').replaceAll("'", '&#x27;')}"`)
  }
})

test.each(gallery)('$id opens, and its arm too', ({ study, link }) => {
  const parsed = decodeStudy(study)
  expect(parsed.ok && expandStudy(parsed.study).ok).toBe(true)
  expect(decodeLink(link).notices).toEqual([])
})

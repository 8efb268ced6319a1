// A link names a study of the lab by its id or carries any study whole; a preset's link opens both.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { COMPARED, comparedLink } from '../../document/links/compared.ts'
import { decodeLink } from '../../document/links/link.ts'
import { tabOf, viewParts } from '../../document/links/view.ts'
import { expandStudy } from '../../document/study/arms.ts'
import { decodeStudy, encodeStudy } from '../../document/study/study_link.ts'
import gallery from './gallery.json' with { type: 'json' }
import { linkedStudy } from './linked_study.ts'
import { recordedId } from './recorded.ts'

const messageOf = (part: string): string => {
  const parsed = linkedStudy(part)
  return parsed.ok ? '' : parsed.issues.map(({ message }) => message).join('; ')
}

test.each(gallery)('$id is read by its id and from its packed text', ({ id, study }) => {
  const named = linkedStudy(id)
  expect(named).toEqual(decodeStudy(study))
  expect(named.ok && recordedId(named.study)).toBe(id)
  expect(named.ok && linkedStudy(encodeStudy(named.study))).toEqual(named)
})

test('an id that the lab does not have is refused by its name, with those that it has', () => {
  for (const part of ['innner', 'INNER', '__proto__', 'tVRRa9swEP4rRk'])
    expect(messageOf(part)).toMatch(
      new RegExp(`^The link names the study ‘${part}’, which the lab does not have.* inner, `),
    )
  for (const part of ['', 'inner%20', gallery[0].study.slice(0, -9)])
    expect(messageOf(part)).toContain('cut off or changed on its way')
  fc.assert(fc.property(fc.string(), (part) => linkedStudy(part).ok === false))
})

test.each(Object.keys(COMPARED))('the link of %s opens the preset and its study', (id) => {
  const link = comparedLink(id) ?? ''
  const [query, hash] = link.split('#')
  expect(decodeLink(query)).toMatchObject({ preset_id: id, notices: [] })
  expect(tabOf(`#${hash}`)).toBe('study')
  const parsed = linkedStudy(viewParts(`#${hash}`).study ?? '')
  expect(parsed.ok && expandStudy(parsed.study).ok).toBe(true)
})

test('one link of a preset has OISD, deep supervision and BuPO as arms', () => {
  expect(comparedLink('tiny-inner')).toBe('?p=tiny-inner#tab=study&study=inner')
  expect(comparedLink('tiny')).toBeUndefined()
  const parsed = linkedStudy('inner')
  const arms = parsed.ok ? parsed.study.arms.map(({ name }) => name) : []
  expect(arms).toEqual(
    expect.arrayContaining(['OISD, by the advantage', 'deep supervision', 'BuPO']),
  )
})

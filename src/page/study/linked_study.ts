// Reads the study that the part `study` of the page’s hash names: one of the lab by its id, or any
// study that is packed in the link. Takes hostile input.
import type { ParsedStudy } from '../../document/study/study.ts'
import { decodeStudy } from '../../document/study/study_link.ts'
import gallery from './gallery.json' with { type: 'json' }

/** What can only be meant as an id: a packed study has several hundred characters. */
const ID = /^[\w-]{1,60}$/

/** The study, or what is wrong with the part. Never throws. */
export function linkedStudy(part: string): ParsedStudy {
  const listed = gallery.find(({ id }) => id === part)
  if (listed) return decodeStudy(listed.study)
  if (!ID.test(part)) return decodeStudy(part)
  const ids = gallery.map(({ id }) => id).join(', ')
  const message = `The link names the study ‘${part}’, which the lab does not have, or it was cut off. The lab has ${ids}.`
  return { ok: false, issues: [{ path: '', message }] }
}

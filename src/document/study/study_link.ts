// Writes and reads a study as the part `study` of a page's hash. Takes hostile input.
import { pack, unpack } from '../links/packed.ts'
import { type ParsedStudy, parseStudy, type Study } from './study.ts'

/** Longer texts are not read: a link of ours has a few hundred characters. */
const LIMITS = { mostText: 7000, mostBytes: 200_000 }

export const encodeStudy = (study: Study): string => pack(study)

/** The study of a link, or what is wrong with it. Never throws. */
export function decodeStudy(text: string): ParsedStudy {
  try {
    return parseStudy(unpack(text, LIMITS))
  } catch {
    const message = 'the link’s study cannot be read: it was cut off or changed on its way'
    return { ok: false, issues: [{ path: '', message }] }
  }
}

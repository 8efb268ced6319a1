// Writes and reads the code that a person hands in: answers and runs of a lesson or a course, in
// one line of text with a checksum. Takes hostile input.
import * as z from 'zod/mini'
import { hasHidden, withoutHidden } from '../../rl/fields/hidden.ts'
import { schemaIssues } from '../experiment/experiment.ts'
import { pack, unpack } from '../links/packed.ts'
import { shortHash } from './course.ts'
import { chosenSchema, runsSchema } from './progress.ts'

const PREFIX = 'understory'
const VERSION = 1
const LIMITS = { mostText: 60_000, mostBytes: 400_000 }
const SUM = 8

const plain = (most: number) =>
  z.string().check(
    z.maxLength(most),
    z.refine((text) => !hasHidden(text), 'expected no characters that cannot be seen'),
  )

const handedInSchema = z.strictObject({
  version: z.literal(VERSION),
  /** As the person wrote it. */
  by: plain(120),
  /** The lab's version. */
  understory: plain(40),
  /** The course that it is of; null for a lesson alone. */
  course: z.nullable(
    z.strictObject({ id: z.string().check(z.regex(/^[0-9a-f]{12}$/)), title: plain(120) }),
  ),
  /** In the order of the course: a lesson's id, or `course/index` for an item of its own. */
  items: z
    .array(
      z.strictObject({
        id: z.string().check(z.regex(/^[\w./-]{1,60}$/)),
        chosen: chosenSchema,
        runs: runsSchema,
      }),
    )
    .check(z.minLength(1), z.maxLength(30)),
})
export type HandedIn = z.infer<typeof handedInSchema>

const sumOf = (body: string): string => shortHash(body).slice(0, SUM)

/** `understory.<what is handed in>.<checksum>`. Characters of the name that are not seen are left
 * out. */
export function encodeHandedIn({ by, ...handed }: Omit<HandedIn, 'version'>): string {
  const name = withoutHidden(by).replaceAll(/\s+/g, ' ').trim()
  const body = pack({ version: VERSION, by: name, ...handed })
  return `${PREFIX}.${body}.${sumOf(body)}`
}

export type ReadCode =
  | { readonly ok: true; readonly handed: HandedIn }
  | { readonly ok: false; readonly why: string }

/** What a code holds, or a sentence on why it is none. Never throws. */
export function readCode(text: string): ReadCode {
  const refuse = (why: string): ReadCode => ({ ok: false, why })
  // A mail program may have broken it into lines.
  const code = text.replaceAll(/\s+/g, '')
  if (code === '') return refuse('There is no code. Paste the whole line, from “understory.” on.')
  if (code.length > LIMITS.mostText) return refuse('It is too long to be a code.')
  const [prefix, body, sum, ...more] = code.split('.')
  if (prefix !== PREFIX || body === undefined)
    return refuse('It is no code of the lab: such a code begins with “understory.”.')
  if (sum === undefined || more.length > 0 || sumOf(body) !== sum)
    return refuse(
      'The code is damaged: a part is missing, or a letter was changed. Ask for it again.',
    )
  let document: unknown
  try {
    document = unpack(body, LIMITS)
  } catch {
    return refuse('The code cannot be unpacked: nothing that the lab writes is inside.')
  }
  const version = (document as { version?: unknown } | null)?.version
  if (typeof version === 'number' && version > VERSION)
    return refuse('The code was made by a newer version of the lab. Check it there.')
  const parsed = handedInSchema.safeParse(document)
  if (parsed.success) return { ok: true, handed: parsed.data }
  const [{ path, message }] = schemaIssues(parsed.error)
  return refuse(`The code holds something that the lab does not write: ${path}: ${message}.`)
}

// Loads the runs that were recorded of the lab's own studies: files of the page, which are loaded
// when such a study is opened.
import type { RunResult } from '../../document/study/results.ts'
import type { Study } from '../../document/study/study.ts'
import { decodeStudy, encodeStudy } from '../../document/study/study_link.ts'
import gallery from './gallery.json' with { type: 'json' }
import { resultLines } from './study_file.ts'
import type { KeptStudy } from './study_storage.ts'

const FILES: Readonly<Record<string, string>> = import.meta.glob(
  '../../../docs/studies/*/results.jsonl',
  { query: '?url', import: 'default', eager: true },
)

/** The name under which the lab has recorded exactly this study; undefined for any other. */
export function recordedId(study: Study): string | undefined {
  const text = encodeStudy(study)
  // The list may spell a value as earlier versions did.
  return gallery.find((entry) => {
    const listed = decodeStudy(entry.study)
    return listed.ok && encodeStudy(listed.study) === text
  })?.id
}

const named = new Map(gallery.map(({ id, name }) => [id, /\((.+)\)$/.exec(name)?.[1] ?? name]))

/** A question as a person reads it: a study that it names by its file is called as the list calls
 * it. */
export const saidQuestion = (question: string): string =>
  question.replace(/\b\w+_\w+\b/g, (word) => (named.has(word) ? `“${named.get(word)}”` : word))

async function fetchText(address: string): Promise<string> {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`the host answered ${answer.status}`)
  return answer.text()
}

const ofLab = new WeakMap<Study, boolean>()

/** A study of the lab as it came, with recorded runs: nobody has made it or trained it here. */
export function isOfLab({ study, recorded }: Pick<KeptStudy, 'study' | 'recorded'>): boolean {
  if (!recorded || recorded.file !== undefined) return false
  const known = ofLab.get(study) ?? recordedId(study) !== undefined
  ofLab.set(study, known)
  return known
}

/** The recorded runs. Rejects with a sentence for people where they cannot be loaded. */
export async function recordedResults(
  id: string,
  read: (address: string) => Promise<string> = fetchText,
): Promise<readonly RunResult[]> {
  const address = Object.entries(FILES).find(([path]) => path.endsWith(`/${id}/results.jsonl`))?.[1]
  const refused = (why: string) =>
    new Error(
      `The recorded runs of this study could not be loaded: ${why}. Open the study again with a connection, or train its runs here.`,
    )
  if (address === undefined) throw refused(`there is no record of ${id}`)
  const text = await read(address).catch((error: unknown) => {
    throw refused(error instanceof Error ? error.message : String(error))
  })
  const { results, others, lines } = resultLines(text)
  if (others > 0) throw refused(`${others} of ${lines} lines are no runs`)
  return results
}

// Takes the logs out of a zip archive, or says what it is instead.
import { unzipSync } from 'fflate'

/** `files`: its logs, by their paths; `isBundle`: an experiment with its files; else a sentence.
 * `hasNoLog`: it can be read, and something else may be in it. */
export type ZipHolds =
  | { readonly files: readonly File[] }
  | { readonly isBundle: true }
  | { readonly seems: string; readonly hasNoLog?: true }

/** What may be a log by its name. */
const LOG = /tfevents|\.(json|jsonl|ndjson|csv|tsv|log|out|txt|err)$/i
/** JSON of a model, an experiment or a job; what a system adds to an archive; what is said of
 * it. */
const NO_LOG =
  /(?:^|\/)(?:\.|__MACOSX\/|readme\b)|(?:^|[/_])(?:config|tokenizer|index|map|experiment|understory)\.json$/i
const BUNDLE = 'experiment.json'
/** In the folder of an exported job, whose rows are no logs. */
const OF_JOB = /^[^/]+\/understory\.json$/
/** Bytes: an archive is read whole, and unpacked whole. */
const MOST_BYTES = 500_000_000
const MOST_UNPACKED = 500_000_000
const MOST_FILES = 200

/** Without the folder that everything is in. */
function withoutTop(paths: readonly string[]): (path: string) => string {
  const top = paths[0]?.includes('/') ? paths[0].slice(0, paths[0].indexOf('/') + 1) : ''
  const isShared = paths.every((path) => path.startsWith(top))
  return (path) => (isShared ? path.slice(top.length) : path)
}

const TOO_LARGE = {
  seems: 'It is a zip archive that is too large: unpack it, and import its logs.',
}

/** Each entry is unpacked no further than the bytes that it says it has. */
export async function zipHolds(file: File): Promise<ZipHolds> {
  if (file.size > MOST_BYTES) return TOO_LARGE
  const bytes = new Uint8Array(await file.arrayBuffer())
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b)
    return { seems: 'It is called a zip archive, and is none.' }
  const names: string[] = []
  let unpacked = 0
  let entries: Readonly<Record<string, Uint8Array<ArrayBuffer>>>
  try {
    entries = unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        names.push(name)
        const isLog = LOG.test(name) && !NO_LOG.test(name)
        if (isLog) unpacked += originalSize
        return isLog && unpacked <= MOST_UNPACKED
      },
    }) as typeof entries
  } catch {
    // The list of what is in it stands at its end.
    return { seems: 'It is a zip archive that is cut off or damaged: fetch or copy it again.' }
  }
  if (names.includes(BUNDLE)) return { isBundle: true }
  const paths = Object.keys(entries)
  if (unpacked > MOST_UNPACKED || paths.length > MOST_FILES) return TOO_LARGE
  if (paths.length === 0 || names.some((name) => OF_JOB.test(name)))
    return { seems: 'It is a zip archive, and none of its files is a log.', hasNoLog: true }
  const shown = withoutTop(paths)
  const [only] = paths
  const called = (path: string) =>
    paths.length === 1 ? only.slice(only.lastIndexOf('/') + 1) : shown(path)
  return { files: paths.map((path) => new File([entries[path]], called(path))) }
}

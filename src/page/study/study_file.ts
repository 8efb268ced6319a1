// Reads a study from a file: its document alone, or the .zip of its report, which holds its results
// as well. Takes hostile input.
import { type RunResult, readResult } from '../../document/study/results.ts'

/** What is in a file. */
interface StudyFile {
  /** Undefined where it is no JSON. */
  readonly document: unknown
  readonly results: readonly RunResult[]
  /** Results alone, without the study that they are of. */
  readonly isOfResults?: boolean
}

const DOCUMENT = 'study.json'
const RESULTS = 'results.jsonl'
/** Those of the lab's largest study have a hundredth. */
const MOST_BYTES = 64_000_000

/** What a text says; undefined where it is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The results of a text with one in each line, and how many lines are none. */
export function resultLines(text: string): {
  readonly results: readonly RunResult[]
  readonly others: number
  readonly lines: number
} {
  const lines = text.split('\n').filter((line) => line !== '')
  const results = lines.flatMap((line) => readResult(jsonOf(line)) ?? [])
  return { results, others: lines.length - results.length, lines: lines.length }
}

/** Never rejects for what is in it: a .zip without a study is no study. */
export async function readStudyFile(file: Blob): Promise<StudyFile> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return ofZip(bytes)
  const text = new TextDecoder().decode(bytes)
  const document = jsonOf(text)
  const isOfResults = readResult(jsonOf(text.split('\n', 1)[0])) !== undefined
  return { document, results: [], isOfResults }
}

async function ofZip(bytes: Uint8Array): Promise<StudyFile> {
  const { strFromU8, unzipSync } = await import('fflate')
  const isOurs = (name: string) => [DOCUMENT, RESULTS].includes(name.replace(/^[^/]*\//, ''))
  try {
    const entries = Object.entries(
      unzipSync(bytes, {
        filter: ({ name, originalSize }) => isOurs(name) && originalSize <= MOST_BYTES,
      }),
    )
    const textOf = (file: string) => {
      const found = entries.find(([name]) => name.replace(/^[^/]*\//, '') === file)
      return found ? strFromU8(found[1]) : ''
    }
    return { document: jsonOf(textOf(DOCUMENT)), results: resultLines(textOf(RESULTS)).results }
  } catch {
    return { document: undefined, results: [] }
  }
}

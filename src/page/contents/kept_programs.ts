// Keeps programs that a person writes or drops: their texts are files of the experiment, like its
// data.

import { contentHash } from '../../document/content/content.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { MAX_PROGRAM_BYTES } from '../../tasks/task/program.ts'
import { keepContent } from './content_files.ts'
import { contentsOf } from './here.ts'

/** How a document names a program. */
export interface NamedProgram {
  readonly code: string
  readonly name: string
}

/** Characters of the name of a file. */
const MOST_NAME = 80

/** Keeps the text of a program. Throws RangeError for one that is too long. */
export async function keepProgram(source: string, file: string): Promise<NamedProgram> {
  const bytes = new TextEncoder().encode(source)
  if (bytes.length > MAX_PROGRAM_BYTES)
    throw new RangeError(`expected a program of at most ${MAX_PROGRAM_BYTES} bytes`)
  const code = await contentHash(bytes)
  const name = file.slice(-MOST_NAME)
  await keepContent({ hash: code, name, bytes })
  return { code, name }
}

/** The text of a program of this experiment; undefined while it is not here. */
export function programText(experiment: Experiment, code: string): string | undefined {
  const file = contentsOf(experiment)?.find(({ hash }) => hash === code)
  return file && new TextDecoder().decode(file.bytes)
}

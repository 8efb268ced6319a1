// Packs all files of a tokenizer into one, so that an experiment can name them by one hash.
import type { TokenizerFiles } from './hugging_face/tokenizer_files.ts'

/** The one file: JSON of the others' texts by their names. */
export const packTokenizer = (files: TokenizerFiles): string =>
  `${JSON.stringify(files, null, 1)}\n`

/** The files that were packed; any other text is taken for a tokenizer.json alone, which its reader
 * checks. */
export function unpackTokenizer(text: string): TokenizerFiles {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return { 'tokenizer.json': text }
  }
  const isPacked =
    typeof json === 'object' &&
    json !== null &&
    Object.hasOwn(json, 'tokenizer.json') &&
    Object.values(json).every((file) => typeof file === 'string')
  return isPacked ? (json as TokenizerFiles) : { 'tokenizer.json': text }
}

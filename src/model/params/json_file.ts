// A JSON file of a model directory. Apart from errors.ts, because the page loads that first.
import { foreignFile, foreignWords, HEAD_BYTES } from '../../files/first_bytes.ts'
import { isObject, type JsonObject, ModelFileError, shown } from './errors.ts'

/** Parses the bytes of a JSON file. Throws ModelFileError when they are not UTF-8 or not one JSON object. */
export function parseJsonObject(bytes: Uint8Array, file: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    const found = foreignFile(bytes.subarray(0, HEAD_BYTES), bytes.length)
    if (found) throw new ModelFileError(file, `expected JSON, found ${foreignWords(found)}`)
    const why = error instanceof Error ? error.message : String(error)
    throw new ModelFileError(file, `expected JSON, found something else (${why.slice(0, 200)})`)
  }
  if (isObject(value)) return value
  throw new ModelFileError(file, `expected a JSON object, found ${shown(value)}`)
}

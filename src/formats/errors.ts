// Describes errors in model files that someone else wrote.

import { foreignFile, foreignWords, HEAD_BYTES } from './first_bytes.ts'
import { isObject, type JsonObject } from './json.ts'

/** A file of a model directory cannot be used. The message names the file, what was expected and
 * what was found. */
export class ModelFileError extends Error {
  override name = 'ModelFileError'
  readonly file: string
  constructor(file: string, message: string) {
    super(`${file}: ${message}`)
    this.file = file
  }
}

const LONGEST_SHOWN = 60

/** A value from a file for an error message, always short. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) {
    const parts = value
      .slice(0, 8)
      .map((part) => (Array.isArray(part) ? 'a list' : shown(part)).slice(0, LONGEST_SHOWN))
    return `[${parts.join(', ')}${value.length > 8 ? ', …' : ''}]`
  }
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value !== 'string') return String(value)
  return JSON.stringify(value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value)
}

/** Parses the bytes of a JSON file. Throws ModelFileError when they are not UTF-8 or not one JSON
 * object. */
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

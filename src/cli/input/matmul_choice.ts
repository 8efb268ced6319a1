// Reads which kernels matrix products run on, as the command line says it.

import { existsSync } from 'node:fs'
import { isObject } from '../../formats/json.ts'
import {
  MATMUL_OPS,
  type MatmulChoice,
  matmulVariant,
} from '../../kernels/matmul/matmul_variants.ts'
import { LabFailure } from '../base/command.ts'
import { readJson } from './input_file.ts'

const SHAPE_CLASS = new RegExp(`^(?:\\*|(?:${MATMUL_OPS.join('|')})_m\\d+_n\\d+_k\\d+)$`)

/** Reads a choice from a JSON file: {shape class: variant}, or the run.json of a run, whose
 * `matmul` is taken; a run without one had the default kernels, {}. Throws LabFailure naming the
 * file, the class and what was expected. */
export function readMatmulChoice(file: string): MatmulChoice {
  const choice = choiceOf(readFile(file))
  if (!isObject(choice))
    throw new LabFailure(
      `${file}: expected {"shape class": "variant", …} or the run.json of a run, got ${describe(choice)}`,
    )
  for (const [shapeClass, name] of Object.entries(choice)) checkEntry(file, shapeClass, name)
  return choice as MatmulChoice
}

function checkEntry(file: string, shapeClass: string, name: unknown): void {
  const where = `${file}: ${shapeClass}`
  if (!SHAPE_CLASS.test(shapeClass))
    throw new LabFailure(
      `${where}: no shape class; expected '*' or one like nt_m4096_n192_k64, with ${MATMUL_OPS.join(', ')} before it`,
    )
  try {
    // Anything but a string is the name of no variant either.
    matmulVariant(name as string, where)
  } catch (error) {
    throw error instanceof RangeError ? new LabFailure(error.message) : error
  }
}

function readFile(file: string): unknown {
  if (!existsSync(file)) throw new LabFailure(`${file}: no such file; --matmul takes a JSON file`)
  return readJson(file)
}

/** Of a run.json only `matmul` is meant; the versions tell it from a plain choice. */
function choiceOf(document: unknown): unknown {
  if (!isObject(document)) return document
  if ('matmul' in document) return document.matmul
  return 'versions' in document ? {} : document
}

const describe = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`

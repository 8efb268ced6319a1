// Finds what a path given to conform holds: fixtures of verl's functions, Hugging Face models and
// interventions in them, runs of PEFT, TRL and BuPO's fork, tokenizers, or names of configurations.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { LabFailure } from '../src/cli/base/command.ts'
import { readJson } from '../src/cli/input/input_file.ts'
import { isFixtureFile } from './base/fixture.ts'
import { isBupoTrace } from './bupo/bupo_trace.ts'
import { isDepthFile, isDepthFolder } from './depth/depth_cases.ts'
import { isDistillTrace } from './distill/trace_file.ts'
import { isNamesFile } from './names/names_cases.ts'
import { isPreferenceTrace } from './preference/trace.ts'

export type Source =
  /** A JSON file of cases. */
  | { readonly kind: 'fixture'; readonly file: string }
  /** A folder with a model and what Hugging Face computes with it. */
  | { readonly kind: 'model'; readonly folder: string }
  /** A tokenizer with what transformers makes of texts, ids and conversations. */
  | { readonly kind: 'tokenizer'; readonly folder: string }
  /** A model with what TRL's preference trainers made of it. */
  | { readonly kind: 'preference'; readonly folder: string }
  /** Losses at several layers of Hugging Face models that lie beside it. */
  | { readonly kind: 'depth'; readonly folder: string }
  /** A student with what it learned of the teacher beside it. */
  | { readonly kind: 'distill'; readonly folder: string }
  /** A job folder with what TRL's trainer made of it. */
  | { readonly kind: 'trl'; readonly folder: string }
  /** Steps that BuPO's fork of verl took over its switch. */
  | { readonly kind: 'bupo'; readonly file: string }
  /** The names of a configuration that jobs are written for. */
  | { readonly kind: 'names'; readonly file: string }
  /** LoRA adapters that PEFT trained. */
  | { readonly kind: 'peft'; readonly folder: string }
  /** What hooks on a model changed and read in it, with the model's own case elsewhere. */
  | { readonly kind: 'interventions'; readonly folder: string }
  /** Golden data of a known kind with nothing to compare: an adapter without its model's
   * numbers. */
  | { readonly kind: 'later'; readonly name: string }
  | { readonly kind: 'unknown'; readonly file: string; readonly problem: string }

/** Lists and descriptions of golden data, not golden data. */
const IGNORED = new Set(['index.json'])

/** Everything to check below `path`, in alphabetical order. Throws LabFailure when it does not
 * exist or holds nothing. */
export function findSources(path: string): Source[] {
  if (!existsSync(path)) throw new LabFailure(`${path}: no such file or folder`)
  const sources = statSync(path).isDirectory() ? inFolder(path) : [ofFile(path)]
  if (sources.length === 0)
    throw new LabFailure(
      `${path}: no golden data here; expected fixtures (*.json) or model folders`,
    )
  return sources
}

function inFolder(folder: string): Source[] {
  const known = ofFolder(folder)
  if (known) return known
  const entries = readdirSync(folder, { withFileTypes: true })
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (statSync(path).isDirectory()) return inFolder(path)
    return entry.name.endsWith('.json') && !IGNORED.has(entry.name) ? [ofFile(path)] : []
  })
}

/** A folder that belongs together; undefined for one that is only a collection. */
function ofFolder(folder: string): Source[] | undefined {
  const has = (name: string) => existsSync(join(folder, name))
  const name = basename(resolve(folder))
  if (has('config.json') && has('expected.safetensors')) {
    return [{ kind: 'model', folder }]
  }
  if (has('adapter_init') && has('expected.safetensors')) return [{ kind: 'peft', folder }]
  if (has('expected.safetensors') && has('second')) return [{ kind: 'interventions', folder }]
  const traces = bupoTraces(folder)
  if (traces.length > 0) return traces
  // The model that the cases beside it name.
  if (has('config.json') && has('model.safetensors')) return []
  if (isDepthFolder(folder)) return [{ kind: 'depth', folder }]
  if (isDistillTrace(folder)) return [{ kind: 'distill', folder }]
  if (has('trace.json') && isPreferenceTrace(readJson(join(folder, 'trace.json'))))
    return [{ kind: 'preference', folder }]
  if (has('trace.json') && has('model')) return [{ kind: 'trl', folder }]
  if (has('tokenizer.json') && has('expected.json')) return [{ kind: 'tokenizer', folder }]
  // What the cases of a file beside it name.
  if (has('tokenizer.json')) return []
  if (has('adapter_config.json')) {
    const owner = basename(dirname(resolve(folder)))
    return [{ kind: 'later', name: `${owner}/${name}` }]
  }
  return undefined
}

/** The traces of a folder; what lies beside them is the job that they were recorded from. */
const bupoTraces = (folder: string): Source[] =>
  readdirSync(folder)
    .filter((name) => /^trace.*\.json$/.test(name))
    .sort()
    .map((name) => join(folder, name))
    .filter((file) => isBupoTrace(readJson(file)))
    .map((file) => ({ kind: 'bupo', file }))

function ofFile(file: string): Source {
  if (/^expected\.(json|safetensors)$/.test(basename(file))) {
    const [whole] = ofFolder(dirname(file)) ?? []
    if (whole) return whole
  }
  const unknown = (problem: string): Source => ({ kind: 'unknown', file, problem })
  if (!file.endsWith('.json')) return unknown('not a file that conform knows')
  try {
    const json: unknown = readJson(file)
    if (isDepthFile(file)) return { kind: 'depth', folder: dirname(file) }
    if (isFixtureFile(json)) return { kind: 'fixture', file }
    if (isBupoTrace(json)) return { kind: 'bupo', file }
    if (isNamesFile(json)) return { kind: 'names', file }
    if (basename(file) === 'trace.json' && isDistillTrace(dirname(file)))
      return { kind: 'distill', folder: dirname(file) }
    if (isPreferenceTrace(json)) return { kind: 'preference', folder: dirname(file) }
  } catch (error) {
    return unknown(error instanceof Error ? error.message : `${error}`)
  }
  return unknown('this layout is not one that conform knows; expected {source, cases: [...]}')
}

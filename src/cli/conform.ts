// lab conform: the project's own functions and kernels on golden data, case by case.
import { basename, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Context, fixtureResults, type Handler } from '../../conformance/fixture.ts'
import { hfCase } from '../../conformance/hf_cases.ts'
import { type Check, type Result, resultLine, runCheck, summary } from '../../conformance/report.ts'
import { findSources, type Source } from '../../conformance/sources.ts'
import { VERL_CASES } from '../../conformance/verl_cases.ts'
import { Gpu } from '../kernels/device/gpu.ts'
import { hasFeatures } from '../kernels/matmul/matmul_tune.ts'
import {
  MATMUL_VARIANTS,
  type MatmulChoice,
  matmulVariant,
} from '../kernels/matmul/matmul_variants.ts'
import { type Command, NO_ADAPTER, NO_ADAPTER_TEXT, UsageError } from './command.ts'
import { openDawn } from './dawn.ts'
import { print, tell } from './terminal.ts'

export const conform: Command = {
  usage: '<fixture file or folder> [--reference-only] [--matmul VARIANT | each]',
  summary:
    'runs golden cases through the functions and kernels of the lab and prints the largest error of each; --matmul runs every product of the Hugging Face models on one variant, or on each that suits the adapter; 1 = not all agree',
  run: async (args) => {
    const { path, isReferenceOnly, matmul } = readOptions(args)
    const sources = findSources(path)
    const dawn = isReferenceOnly ? undefined : await openDawn()
    if (!dawn && !isReferenceOnly) {
      tell(`${NO_ADAPTER_TEXT}\nWithout one, --reference-only runs what needs no GPU.`)
      return NO_ADAPTER
    }
    const gpu = dawn && (await Gpu.open({ gpu: dawn }))
    print(gpu ? `gpu = ${gpu.facts.description}` : 'without a GPU')
    const results: Result[] = []
    for (const choice of matmul === 'each' ? pinned(gpu) : [matmul]) {
      if (choice) print(`matmul = ${choice['*']}`)
      for await (const result of resultsOf(sources, { gpu, matmul: choice })) {
        results.push(result)
        print(resultLine(result))
      }
    }
    print(summary(results))
    return results.some(({ status }) => status === 'FAIL') ? 1 : 0
  },
}

interface Options {
  readonly path: string
  readonly isReferenceOnly: boolean
  readonly matmul: MatmulChoice | 'each' | undefined
}

/** Every variant in turn; without those that need what the adapter has not, or would take it minutes. */
function pinned(gpu: Gpu | undefined): MatmulChoice[] {
  const { architecture = '', description = '' } = gpu?.facts ?? {}
  const isSwiftShader = /swiftshader/i.test(`${architecture} ${description}`)
  return MATMUL_VARIANTS.filter(
    (variant) => gpu && hasFeatures(gpu, variant) && (variant.suits_software || !isSwiftShader),
  ).map(({ name }) => ({ '*': name }))
}

function readOptions(args: readonly string[]): Options {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        'reference-only': { type: 'boolean', default: false },
        matmul: { type: 'string' },
      },
    })
    if (positionals.length !== 1) throw new Error('conform takes one file or folder')
    const isReferenceOnly = values['reference-only']
    if (values.matmul === undefined)
      return { path: positionals[0], isReferenceOnly, matmul: undefined }
    if (isReferenceOnly) throw new Error('--matmul: the reference has no kernels to choose from')
    if (values.matmul === 'each') return { path: positionals[0], isReferenceOnly, matmul: 'each' }
    const { name } = matmulVariant(values.matmul, '--matmul')
    return { path: positionals[0], isReferenceOnly, matmul: { '*': name } }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : `${error}`)
  }
}

/** How each kind of golden data is run; a parameter so that tests need no golden data. */
interface Runners {
  readonly verl: Readonly<Record<string, Handler>>
  readonly hf: (folder: string, context: Context) => AsyncIterable<Check>
}

/** Runs sources one after another. Never throws: what goes wrong with one is a failure, and the next one follows. */
export async function* resultsOf(
  sources: readonly Source[],
  context: Context,
  { verl, hf }: Runners = { verl: VERL_CASES, hf: hfCase },
): AsyncGenerator<Result> {
  for (const source of sources) {
    if (source.kind === 'fixture') yield* fixtureResults(source.file, verl, context)
    else if (source.kind === 'model') yield* modelResults(source.folder, hf, context)
    else if (source.kind === 'later') yield { case: source.name, status: 'later' }
    else {
      const name = relative('.', source.file) || source.file
      yield { case: name, status: 'FAIL', problem: `unknown: ${source.problem}` }
    }
  }
}

async function* modelResults(
  folder: string,
  hf: Runners['hf'],
  context: Context,
): AsyncGenerator<Result> {
  const name = basename(resolve(folder))
  let count = 0
  try {
    for await (const check of hf(folder, context)) {
      count++
      yield runCheck(check)
    }
  } catch (error) {
    count++
    const problem = error instanceof Error ? `${error.name}: ${error.message}` : `${error}`
    yield { case: name, status: 'FAIL', problem }
  }
  if (count === 0) yield { case: name, status: 'FAIL', problem: 'nothing in it was checked' }
}

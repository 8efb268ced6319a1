// lab conform: the project's own functions and kernels on golden data, case by case.
import { parseArgs } from 'node:util'
import type { Result } from '../../conformance/report.ts'
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
    // The references are of no use to the other commands.
    const { findSources } = await import('../../conformance/sources.ts')
    const { resultLine, summary } = await import('../../conformance/report.ts')
    const { resultsOf } = await import('../../conformance/results.ts')
    const sources = findSources(path)
    const dawn = isReferenceOnly ? undefined : await openDawn()
    if (!dawn && !isReferenceOnly) {
      tell(`${NO_ADAPTER_TEXT}\nWithout one, --reference-only runs what needs no GPU.`)
      return NO_ADAPTER
    }
    const gpu = dawn && (await Gpu.open({ gpu: dawn }))
    print(gpu ? `gpu = ${gpu.facts.description}` : 'without a GPU')
    const results: Result[] = []
    const choices = matmul === 'each' ? pinned(gpu) : [matmul]
    for (const choice of choices) {
      const is_repeat = choice !== choices[0]
      if (choice) print(`matmul = ${choice['*']}${is_repeat ? ', checks on the GPU alone' : ''}`)
      for await (const result of resultsOf(sources, { gpu, matmul: choice })) {
        // Where no kernel takes part, it is the result of the first choice once more.
        if (is_repeat && result.status === 'ok' && result.on !== 'gpu') continue
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

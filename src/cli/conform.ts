// lab conform: runs the project's own functions and kernels on golden data, case by case.
import type { Pinned } from '../../conformance/base/fixture.ts'
import type { Result } from '../../conformance/base/report.ts'
import { Gpu } from '../kernels/device/gpu.ts'
import { hasFeatures } from '../kernels/matmul/matmul_tune.ts'
import { MATMUL_VARIANTS, matmulVariant } from '../kernels/matmul/matmul_variants.ts'
import { type Command, NO_ADAPTER, NO_ADAPTER_TEXT, UsageError } from './base/command.ts'
import { openDawn } from './base/dawn.ts'
import { commandLine, flag, text } from './base/declare.ts'
import { print, tell } from './base/terminal.ts'
import { readArguments } from './options/read.ts'

/** In place of a variant's name: attention, vocabulary head, embedding and sampling as large models
 * have them. */
const TILED = 'tiled'
const EACH = 'each'

const LINE = commandLine({
  name: 'conform',
  takes: '<fixture file or folder>',
  summary: "runs golden cases of other systems through the lab's functions and kernels",
  notes: ['Prints the largest error of each case. Exit status 1: not all agree.'],
  groups: {
    Options: {
      'reference-only': flag('runs what needs no GPU'),
      kernels: text(
        'VARIANT',
        `every product of the models on one variant; ${TILED}: attention and vocabulary head of large models; ${EACH}: all that suit the adapter`,
      ),
      matmul: text('VARIANT', 'what --kernels was called while it pinned products alone'),
    },
  },
  examples: ['conform conformance/fixtures', 'conform conformance/fixtures/hf --kernels each'],
})

export const conform: Command = {
  line: LINE,
  run: async (args) => {
    const { path, isReferenceOnly, kernels } = readOptions(args)
    // The references are of no use to the other commands.
    const { findSources } = await import('../../conformance/sources.ts')
    const { resultLine, summary } = await import('../../conformance/base/report.ts')
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
    const choices = kernels === EACH ? suited(gpu) : [kernels]
    for (const choice of choices) {
      const isRepeat = choice !== choices[0]
      if (choice) print(`kernels = ${choice}${isRepeat ? ', checks on the GPU alone' : ''}`)
      for await (const result of resultsOf(sources, { gpu, ...pinnedBy(choice) })) {
        // Where no kernel takes part, it is the result of the first choice once more.
        if (isRepeat && result.status === 'ok' && result.on !== 'gpu') continue
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
  /** A variant of the products, TILED or EACH. */
  readonly kernels: string | undefined
}

const pinnedBy = (name: string | undefined): Pinned =>
  name === undefined ? {} : name === TILED ? { narrowKernels: false } : { matmul: { '*': name } }

/** Every choice, but for variants that the adapter cannot run, that take it minutes, or that round
 * factors to halves. */
function suited(gpu: Gpu | undefined): string[] {
  const { architecture = '', description = '' } = gpu?.facts ?? {}
  const isSwiftShader = /swiftshader/i.test(`${architecture} ${description}`)
  const variants = MATMUL_VARIANTS.filter(
    (variant) =>
      gpu &&
      hasFeatures(gpu, variant) &&
      (variant.suitsSoftware || !isSwiftShader) &&
      !variant.rounding,
  )
  return [...variants.map(({ name }) => name), TILED]
}

function readOptions(args: readonly string[]): Options {
  try {
    const { values, positionals } = readArguments(LINE, args)
    if (positionals.length !== 1) throw new Error('conform takes one file or folder')
    const isReferenceOnly = values['reference-only']
    const option = values.kernels === undefined ? '--matmul' : '--kernels'
    const kernels = values.kernels ?? values.matmul
    if (kernels !== undefined && isReferenceOnly)
      throw new Error(`${option}: the reference has no kernels to choose from`)
    if (kernels !== undefined && kernels !== EACH && kernels !== TILED)
      matmulVariant(kernels, option)
    return { path: positionals[0], isReferenceOnly, kernels }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : `${error}`)
  }
}

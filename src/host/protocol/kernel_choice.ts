// Chooses the kernels of a run's matrix products, and remembers them for the page. Takes a hostile
// cache and never throws for it.

import { SHAPE_CLASS } from '../../document/experiment/fields/pinned_kernels.ts'
import { isObject } from '../../formats/json.ts'
import type { AdapterFacts } from '../../kernels/device/adapter.ts'
import type { MatmulChoice } from '../../kernels/matmul/matmul_variants.ts'

/** What is known of the products of a run before anything is measured. */
export interface MatmulNeeds {
  readonly adapter: AdapterFacts
  /** Every shape class of the run, with its default variant. */
  readonly defaults: MatmulChoice
  /** The variant of classes whose default does not suit this adapter. */
  readonly suited: MatmulChoice
  /** The names that there are. */
  readonly variants: ReadonlySet<string>
}

export interface KernelChoice {
  /** The variant of every class of the run when it begins. */
  readonly matmul: MatmulChoice
  /** Those that are remembered; undefined where all are, or nothing is to be measured. */
  readonly settled: MatmulChoice | undefined
  /** What the page is to remember with what was measured since; where that `isOver`, with all
   * classes of the run. */
  remember(measured: MatmulChoice, isOver: boolean): string
}

/** What a run reports about its kernels. */
export type KernelEvent =
  /** Those that its matrix products begin with, where they were chosen by measuring or pinned;
   * default kernels otherwise. */
  | {
      readonly type: 'kernels'
      readonly run: number
      readonly matmul: MatmulChoice
      /** The experiment's field `kernels` that brings exactly these back. */
      readonly kernels: string
      /** To be remembered, and sent with the next `start`; absent where nothing was measured. */
      readonly cache?: string
    }
  /** Kernels are measured between steps: `done` measurements of `of`. What is found takes effect by
   * a `steered`. */
  | {
      readonly type: 'kernels_measured'
      readonly run: number
      readonly done: number
      readonly of: number
      /** No more are made in this run. */
      readonly isOver: boolean
      readonly cache?: string
    }

/** Choices by adapterKey. */
type Choices = ReadonlyMap<string, MatmulChoice>

/** Characters; the limits below stay under it. */
export const MAX_CACHE_LENGTH = 200_000
/** Of one adapter. What comes later runs on default kernels: forgetting a choice would change the
 * bits of its runs. */
export const MAX_CLASSES = 500
const MAX_ADAPTERS = 4
const MAX_KEY_LENGTH = 200

export const adapterKey = ({ vendor, architecture, description }: AdapterFacts): string =>
  [vendor, architecture, description].join('/').slice(0, MAX_KEY_LENGTH)

/** The choices of a cache that `version` wrote; none where it is another's, too long or no cache at
 * all. Entries that are not the name of a class and of one of `variants` are left out. */
export function readChoices(
  cache: string | undefined,
  version: string,
  variants: ReadonlySet<string>,
): Choices {
  const document = parse(cache)
  if (!isObject(document) || document.version !== version || !isObject(document.matmul))
    return new Map()
  const adapters = Object.entries(document.matmul).slice(0, MAX_ADAPTERS)
  return new Map(
    adapters.map(([key, choice]) => [key, isObject(choice) ? known(choice, variants) : {}]),
  )
}

function parse(cache: string | undefined): unknown {
  if (typeof cache !== 'string' || cache.length > MAX_CACHE_LENGTH) return undefined
  try {
    return JSON.parse(cache)
  } catch {
    return undefined
  }
}

function known(
  choice: Readonly<Record<string, unknown>>,
  variants: ReadonlySet<string>,
): MatmulChoice {
  const entries = Object.entries(choice).filter(
    (entry): entry is [string, string] =>
      SHAPE_CLASS.test(entry[0]) && typeof entry[1] === 'string' && variants.has(entry[1]),
  )
  return Object.fromEntries(entries.slice(0, MAX_CLASSES))
}

/** A cache that readChoices reads back, this adapter first. */
function writeChoices(version: string, key: string, choice: MatmulChoice, all: Choices): string {
  const others = [...all].filter(([other]) => other !== key).slice(0, MAX_ADAPTERS - 1)
  return JSON.stringify({ version, matmul: Object.fromEntries([[key, choice], ...others]) })
}

/** The variants that a run begins with: those remembered for this adapter and `version`, else what
 * suits the adapter, so that no step waits for a measurement. Once the rest is measured, a class
 * that was left open is settled as it is, so that the same run gets the same kernels the next time.
 * `changed`: classes that the run's document changes later. Such a run repeats another one, which
 * had not measured them when it began: nothing is measured.
 * Undefined on a software adapter, where compiling costs more than another kernel gains: default
 * kernels. */
export function chooseKernels(
  { adapter, defaults, suited, variants }: MatmulNeeds,
  version: string,
  cache: string | undefined,
  changed: MatmulChoice,
): KernelChoice | undefined {
  if (adapter.is_software) return undefined
  const all = readChoices(cache, version, variants)
  const key = adapterKey(adapter)
  const remembered = all.get(key) ?? {}
  const of = (choice: MatmulChoice): MatmulChoice =>
    Object.fromEntries(Object.entries(choice).filter(([name]) => Object.hasOwn(defaults, name)))
  const settled = of(remembered)
  const used = Object.entries(settled).filter(([name]) => !Object.hasOwn(changed, name))
  const matmul = { ...defaults, ...of(suited), ...Object.fromEntries(used) }
  const open = Object.keys(defaults).length - Object.keys(settled).length
  const hasRoom = Object.keys(remembered).length + open <= MAX_CLASSES
  const isMeasured = open > 0 && hasRoom && Object.keys(changed).length === 0
  return {
    matmul,
    settled: isMeasured ? settled : undefined,
    remember: (measured, isOver) => {
      const found = hasRoom ? { ...(isOver ? matmul : {}), ...of(measured) } : {}
      return writeChoices(version, key, { ...found, ...remembered }, all)
    },
  }
}

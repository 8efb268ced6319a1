// Which kernels the matrix products of a run use, and how the page remembers it. Takes a hostile cache and never throws for it.
import type { AdapterFacts } from '../../kernels/device/adapter.ts'
import type { MatmulChoice } from '../../kernels/matmul/matmul_variants.ts'
import { SHAPE_CLASS } from '../experiment/pinned_kernels.ts'

/** What is known of the products of a run before anything is measured. */
export interface MatmulNeeds {
  readonly adapter: AdapterFacts
  /** Every shape class of the run, with its default variant. */
  readonly defaults: MatmulChoice
  /** The names that there are. */
  readonly variants: ReadonlySet<string>
}

export interface KernelChoice {
  /** The variant of every class of the run. */
  readonly matmul: MatmulChoice
  /** What the page is to remember. */
  readonly cache: string
}

/** Choices by adapterKey. */
type Choices = ReadonlyMap<string, MatmulChoice>

/** Characters; the limits below stay under it. */
export const MAX_CACHE_LENGTH = 200_000
/** Of one adapter. What comes later runs on default kernels: forgetting a choice would change the bits of its runs. */
export const MAX_CLASSES = 500
const MAX_ADAPTERS = 4
const MAX_KEY_LENGTH = 200

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const adapterKey = ({ vendor, architecture, description }: AdapterFacts): string =>
  [vendor, architecture, description].join('/').slice(0, MAX_KEY_LENGTH)

/**
 * The choices of a cache that `version` wrote; none where it is another's, too long or no cache at all. Entries that are not
 * the name of a class and of one of `variants` are left out.
 */
export function readChoices(
  cache: string | undefined,
  version: string,
  variants: ReadonlySet<string>,
): Choices {
  const document = parse(cache)
  if (!isRecord(document) || document.version !== version || !isRecord(document.matmul))
    return new Map()
  const adapters = Object.entries(document.matmul).slice(0, MAX_ADAPTERS)
  return new Map(
    adapters.map(([key, choice]) => [key, isRecord(choice) ? known(choice, variants) : {}]),
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

/**
 * The variants for a run: those remembered for this adapter and `version`, and what `tune` finds for the other classes. A
 * class that it leaves open is settled as the default, so that the same run gets the same kernels the next time.
 * Undefined on a software adapter, where compiling costs more than another kernel gains: default kernels.
 * Throws what `tune` throws.
 */
export async function chooseKernels(
  { adapter, defaults, variants }: MatmulNeeds,
  version: string,
  cache: string | undefined,
  tune: (pinned: MatmulChoice) => Promise<MatmulChoice>,
): Promise<KernelChoice | undefined> {
  if (adapter.is_software) return undefined
  const all = readChoices(cache, version, variants)
  const key = adapterKey(adapter)
  const remembered = all.get(key) ?? {}
  const of = (choice: MatmulChoice): MatmulChoice =>
    Object.fromEntries(Object.entries(choice).filter(([name]) => Object.hasOwn(defaults, name)))
  const pinned = of(remembered)
  const open = Object.keys(defaults).length - Object.keys(pinned).length
  const has_room = Object.keys(remembered).length + open <= MAX_CLASSES
  const tuned = open > 0 && has_room ? of(await tune(pinned)) : {}
  const matmul = { ...defaults, ...tuned, ...pinned }
  const kept = has_room ? { ...remembered, ...matmul } : remembered
  return { matmul, cache: writeChoices(version, key, kept, all) }
}

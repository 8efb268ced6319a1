// Runs one file of golden fixtures of verl's functions.
import { basename, dirname } from 'node:path'
import { readJson } from '../../src/cli/input/input_file.ts'
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import type { MatmulChoice } from '../../src/kernels/matmul/matmul_variants.ts'
import { Fields } from './fields.ts'
import { type Check, type Output, type Result, runCheck } from './report.ts'

/** Kernels that models run, where they are not those that the lab chooses. */
export interface Pinned {
  /** Of the linear layers. */
  readonly matmul?: MatmulChoice | undefined
  /** As in ModelConfig. */
  readonly narrowKernels?: boolean | undefined
}

/** What a run of conform can use. */
export interface Context extends Pinned {
  /** undefined: without an adapter; checks on the GPU are left out. */
  readonly gpu: Gpu | undefined
}

/** One case of a fixture. A handler reads every field of `inputs` and `config` that it understands,
 * at once. */
export interface Fixture {
  /** What computed the file, with its version. */
  readonly source: string
  /** Where the file lies: cases name others beside it. */
  readonly folder: string
  readonly inputs: Fields
  readonly config: Fields
  /** For lengths that only the expected lists tell; the values are compared by the caller. */
  readonly expected: Fields
}

/** verl of January 2026, between 0.7.0 and 0.7.1; some formulas are others since. */
const JANUARY = 'b178a3cd'
export const isJanuary = ({ source }: Pick<Fixture, 'source'>): boolean => source.includes(JANUARY)

/** Named as in `expected`. */
export type Outputs = Readonly<Record<string, Omit<Output, 'expected'>>>

/** One place where a case is computed. */
export type Part =
  | { readonly on: 'reference' | 'driver'; readonly run: () => Outputs | Promise<Outputs> }
  | {
      readonly on: 'gpu'
      /** Of kernels that come in several: printed behind the case. */
      readonly variant?: string
      readonly run: (gpu: Gpu) => Promise<Outputs>
    }

/** Turns a case into what there is to run; throws CaseError where the case is not as it should
 * be. */
export type Handler = (fixture: Fixture) => readonly Part[]

interface FixtureFile {
  readonly source: unknown
  readonly cases: readonly unknown[]
}

/** Whether parsed JSON is a fixture file of verl's functions. */
export function isFixtureFile(json: unknown): json is FixtureFile {
  return typeof json === 'object' && json !== null && 'source' in json && 'cases' in json
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : `${error}`

const failure = (name: string, problem: string): Result => ({ case: name, status: 'FAIL', problem })

/** Runs all cases of a fixture file; its stem chooses the handler. Never throws: what is wrong is a
 * result. */
export async function* fixtureResults(
  file: string,
  handlers: Readonly<Record<string, Handler>>,
  context: Context,
): AsyncGenerator<Result> {
  const stem = basename(file, '.json')
  let cases: readonly unknown[]
  let source = ''
  try {
    const json: unknown = readJson(file)
    if (!isFixtureFile(json) || !Array.isArray(json.cases))
      throw new Error('expected {source, cases: [...]}')
    cases = json.cases
    source = `${json.source}`
  } catch (error) {
    yield failure(stem, messageOf(error))
    return
  }
  if (cases.length === 0) yield failure(stem, 'the file has no cases')
  for (const [i, one] of cases.entries()) {
    const given = (one as { name?: unknown } | null)?.name
    const name = `${stem}/${typeof given === 'string' ? given : i}`
    const from = { source, folder: dirname(file) }
    if (Object.hasOwn(handlers, stem))
      yield* caseResults(name, { one, from }, handlers[stem], context)
    else yield failure(name, `unknown: there is no code for fixtures called ${stem}`)
  }
}

async function* caseResults(
  name: string,
  { one, from }: { one: unknown; from: Pick<Fixture, 'source' | 'folder'> },
  handler: Handler,
  context: Context,
): AsyncGenerator<Result> {
  let fixture: Fixture
  let parts: readonly Part[]
  try {
    fixture = { ...from, ...readFixture(one) }
    parts = handler(fixture)
  } catch (error) {
    yield failure(name, messageOf(error))
    return
  }
  const unread = [...fixture.inputs.unused(), ...fixture.config.unused()]
  if (unread.length) {
    yield failure(name, `unknown: ${unread.join(', ')} mean nothing to the lab`)
    return
  }
  const computed = new Set<string>()
  let isComplete = true
  for (const part of parts) {
    const result = await runPart(name, part, fixture.expected, context, computed)
    isComplete &&= result?.status === 'ok'
    if (result) yield result
  }
  const { expected } = fixture
  const unknown = expected.names().filter((key) => expected.has(key) && !computed.has(key))
  if (unknown.length && isComplete)
    yield failure(name, `unknown: nothing computes expected.${unknown.join(', expected.')}`)
}

function readFixture(one: unknown): Omit<Fixture, 'source' | 'folder'> {
  const fields = new Fields(one, 'case')
  return {
    inputs: new Fields(fields.raw('inputs'), 'inputs'),
    config: new Fields(fields.raw('config') ?? {}, 'config'),
    expected: new Fields(fields.raw('expected'), 'expected'),
  }
}

/** undefined: left out, because there is no GPU. */
async function runPart(
  name: string,
  part: Part,
  expected: Fields,
  { gpu }: Context,
  computed: Set<string>,
): Promise<Result | undefined> {
  if (part.on === 'gpu' && !gpu) return undefined
  const title = part.on === 'gpu' && part.variant ? `${name} (${part.variant})` : name
  try {
    const found = part.on === 'gpu' ? await part.run(gpu as Gpu) : await part.run()
    const outputs: Check['outputs'] = Object.fromEntries(
      Object.entries(found).map(([key, output]) => [
        key,
        { ...output, expected: expected.raw(key) },
      ]),
    )
    for (const key of Object.keys(found)) computed.add(key)
    return runCheck({ case: title, on: part.on, outputs })
  } catch (error) {
    return { case: title, on: part.on, status: 'FAIL', problem: messageOf(error) }
  }
}
